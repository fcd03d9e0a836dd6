//! Objects: the struct, and the table of its members.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::Value;

use super::docs::lines;
use super::emitter::Emitter;
use super::identifiers::EXTRA;
use super::members::Field;
use super::names::ident;
use super::source::{Table, items};
use super::tokens::text;
use crate::error::EmitError;
use crate::model::{Member, Struct, Type};
use crate::normalise::Scalar;

impl Emitter<'_> {
    pub(super) fn structure(&self, name: &str, ty: &Type, object: &Struct) -> Result<String, EmitError> {
        let Some(fields) = self.identifiers.fields(self.input.model(), name, object) else {
            return Ok(String::new());
        };
        let definition = items(name, self.struct_definition(name, ty, object, &fields))?;
        let table = self.object_table(name, ty, &fields);
        let method = self.method_table(name).unwrap_or_default();
        Ok(format!("{definition}\n{table}\n{method}"))
    }

    fn struct_definition(&self, name: &str, ty: &Type, object: &Struct, fields: &[Field<'_>]) -> TokenStream {
        let fields = fields.iter().filter_map(|field| match field {
            Field::Constant { .. } => None,
            Field::Implied { constant, field } => {
                let docs = lines(&format!("Whether `{}` is written.", constant.name));
                Some(quote!(#docs #field: bool))
            }
            Field::Member { member, field } => {
                let docs = self.documenter.member(ty, &member.name, member.description.as_deref());
                let ty = self.scope.field(member);
                Some(quote!(#docs pub #field: #ty))
            }
        });
        let (extra, extra_type) = (ident(EXTRA), self.scope.wire("Extra"));
        let defaults = object.members.iter().all(|member| !member.required);
        let default = defaults.then(|| quote!(, Default));
        let (docs, name) = (self.documenter.ty(ty), ident(name));
        quote! {
            #docs
            #[derive(Debug, Clone, PartialEq #default)]
            pub struct #name {
                #(#fields,)*
                /// Members that the schema doesn't declare, as they came.
                pub #extra: #extra_type,
            }
        }
    }

    fn object_table(&self, name: &str, ty: &Type, fields: &[Field<'_>]) -> String {
        let (macro_name, schema) = (self.scope.table("object!"), self.scope.schema());
        let head = format!("{}: {schema}[{:?}]", ident(name), ty.pointer);
        let mut table = Table::new(&macro_name, &head);
        table.section(
            "constant",
            fields.iter().filter_map(|field| match field {
                Field::Constant { constant, local } => {
                    Some(format!("{:?} => {local}: {}", constant.name, scalar(&constant.value)))
                }
                _ => None,
            }),
        );
        table.section(
            "implied",
            fields.iter().filter_map(|field| match field {
                Field::Implied { constant, field } => {
                    let (has, with) = (prefixed("has", field), prefixed("with", field));
                    let value = scalar(&constant.value);
                    Some(format!("{:?} => {field}, {has}, {with}: {value}", constant.name))
                }
                _ => None,
            }),
        );
        let rows = |section: fn(&Member) -> bool| {
            fields.iter().filter_map(move |field| match field {
                Field::Member { member, field } if section(member) => {
                    let argument = text(&self.scope.argument(self.input.model(), member));
                    let with = (!member.is_argument()).then(|| format!(", {}", prefixed("with", field)));
                    let with = with.unwrap_or_default();
                    let preset = self.preset(member).map(|preset| format!(" = {preset}"));
                    let preset = preset.unwrap_or_default();
                    let deprecated = self.input.model().deprecation_of_member(ty, &member.name);
                    let deprecated = deprecated.map(|entry| format!("#[deprecated = {:?}]\n        ", entry.note()));
                    let deprecated = deprecated.unwrap_or_default();
                    Some(format!(
                        "{deprecated}{:?} => {field}{with}: {argument}{preset}",
                        member.name
                    ))
                }
                _ => None,
            })
        };
        table.section("required", rows(Member::is_argument));
        table.section("preset", rows(|member| member.preset.is_some()));
        table.section("optional", rows(|member| !member.required));
        table.finish()
    }

    /// Returns the expression of a member's preset.
    fn preset(&self, member: &Member) -> Option<String> {
        Some(match member.preset.as_ref()? {
            Value::String(text) => format!("{text:?}"),
            Value::Bool(boolean) => boolean.to_string(),
            Value::Object(_) | Value::Array(_) => {
                let ty = text(&self.scope.ty(&member.ty));
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

fn prefixed(prefix: &str, field: &proc_macro2::Ident) -> proc_macro2::Ident {
    let field = field.to_string();
    format_ident!("{prefix}_{}", field.trim_start_matches("r#").trim_end_matches('_'))
}

/// Returns a constant as a literal.
pub(super) fn scalar(value: &Scalar) -> TokenStream {
    match value {
        Scalar::String(text) => quote!(#text),
        Scalar::Integer(integer) => {
            let literal = proc_macro2::Literal::i64_suffixed(*integer);
            quote!(#literal)
        }
        Scalar::Boolean(boolean) => quote!(#boolean),
    }
}
