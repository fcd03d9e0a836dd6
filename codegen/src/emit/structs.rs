//! Objects: the struct, and the table of its members.

use quote::quote;
use serde_json::{Value, json};

use super::Emitter;
use super::docs::comment;
use super::identifiers::EXTRA;
use super::members::{Field, SECTIONS};
use crate::error::EmitError;
use crate::model::{Member, Struct, Type};
use crate::normalise::Scalar;
use crate::templates::render;

impl Emitter<'_> {
    /// Emits a struct and its table, and the table of a struct that is a request or a notification.
    pub(super) fn structure(&self, name: &str, ty: &Type, object: &Struct) -> Result<String, EmitError> {
        let Some(fields) = self.identifiers.fields(self.input.model(), name, object) else {
            return Ok(String::new());
        };
        let sections = SECTIONS.iter().enumerate().map(|(section, name)| {
            let fields = fields.iter().filter(|field| field.section() == section);
            let rows: Vec<String> = fields.map(|field| self.row(ty, field)).collect();
            json!({"name": name, "rows": rows})
        });
        let values = json!({
            "docs": self.docs(ty),
            "name": name,
            "pointer": ty.pointer,
            "is_default": object.members.iter().all(|member| !member.required),
            "fields": Vec::from_iter(fields.iter().filter_map(|field| self.declaration(ty, field))),
            "extra": EXTRA,
            "extra_type": self.wire("Extra"),
            "table": self.table("object!"),
            "schema": self.schema(),
            "sections": Vec::from_iter(sections),
            "method": self.method_table(name),
        });
        render("parts/struct.rs", values)
    }

    /// Returns the documentation and the declaration of a field, if the struct has one.
    fn declaration(&self, ty: &Type, field: &Field<'_>) -> Option<Value> {
        let (docs, declared) = match field {
            Field::Constant(constant, _) if constant.required => return None,
            Field::Constant(constant, field) => {
                let docs = comment("    ", &format!("Whether `{}` is written.", constant.name));
                (docs, format!("{field}: bool"))
            }
            Field::Member(member, field) => {
                let docs = self.docs_of_member(ty, &member.name, member.description.as_deref());
                (docs, format!("pub {field}: {}", self.field(member)))
            }
        };
        Some(json!({"docs": docs, "declared": declared}))
    }

    /// Returns the row of a field in the table.
    fn row(&self, ty: &Type, field: &Field<'_>) -> String {
        match field {
            Field::Constant(constant, field) => {
                let (stem, value) = (stem(field), scalar(&constant.value));
                let accessors = match constant.required {
                    true => String::new(),
                    false => format!(", has_{stem}, with_{stem}"),
                };
                format!("{:?} => {field}{accessors}: {value}", constant.name)
            }
            Field::Member(member, field) => {
                let deprecated = self.input.model().deprecation_of_member(ty, &member.name);
                let deprecated = deprecated.map(|entry| format!("#[deprecated = {:?}]\n        ", entry.note()));
                let deprecated = deprecated.unwrap_or_default();
                let with = (!member.is_argument()).then(|| format!(", with_{}", stem(field)));
                let with = with.unwrap_or_default();
                let argument = self.argument(member);
                let preset = self.preset(member).map(|preset| format!(" = {preset}"));
                let preset = preset.unwrap_or_default();
                format!("{deprecated}{:?} => {field}{with}: {argument}{preset}", member.name)
            }
        }
    }

    /// Returns the expression of a member's preset.
    fn preset(&self, member: &Member) -> Option<String> {
        Some(match member.preset.as_ref()? {
            Value::String(text) => format!("{text:?}"),
            Value::Bool(boolean) => boolean.to_string(),
            Value::Object(_) | Value::Array(_) => {
                let ty = self.ty(&member.ty);
                // A path with arguments is in brackets.
                match ty.contains('<') {
                    true => format!("<{ty}>::default()"),
                    false => format!("{ty}::default()"),
                }
            }
            other => format!("{}i64", other.as_i64()?),
        })
    }
}

/// Returns the name of a field as a part of the name of a function.
fn stem(field: &str) -> &str {
    field.trim_start_matches("r#").trim_end_matches('_')
}

/// Returns a constant as a literal.
fn scalar(value: &Scalar) -> String {
    let literal = match value {
        Scalar::String(text) => quote!(#text),
        Scalar::Integer(integer) => quote!(#integer),
        Scalar::Boolean(boolean) => quote!(#boolean),
    };
    literal.to_string()
}
