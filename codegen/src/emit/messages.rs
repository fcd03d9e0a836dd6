//! Methods: the traits of requests and notifications, the unions by direction, whole messages, and the tables.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Emitter;
use super::docs::comment;
use super::names::{identifier, library_name, link_to_type};
use super::scaffold::WIRE;
use super::unions::unknown_variant;
use crate::error::EmitError;
use crate::model::names::{UNKNOWN, unique, variant_names};
use crate::model::{MessageKind, Method, Model, Type, TypeKind, TypeRef, result_variants};
use crate::templates::render;
use mcp_json_schema::JsonType;

impl Emitter<'_> {
    /// Emits the table of a struct that is a request or a notification.
    pub(super) fn method_table(&self, name: &str) -> Option<String> {
        let model = self.input.model();
        let method = model.methods.iter().find(|method| method.ty == name)?;
        let params = match model.params(method) {
            Some(member) if member.required => self.ty(&member.ty),
            Some(member) => self.optional(&self.ty(&member.ty)),
            None => self.wire("Null"),
        };
        let (macro_name, result) = match method.kind {
            MessageKind::Request => {
                let result = method.result_union.as_ref().or(method.results.first());
                let result = self.ty(result.unwrap_or(&TypeRef::RawObject));
                ("request!", format!(" => {result}"))
            }
            MessageKind::Notification => ("notification!", String::new()),
        };
        let (macro_name, direction) = (self.table(macro_name), method.direction);
        Some(format!(
            "{macro_name} {{ {name}: {:?} {direction:?}, {params}{result} }}",
            method.name
        ))
    }

    /// Emits a union of requests or notifications, and its table.
    pub(super) fn method_union(
        &self,
        name: &str,
        ty: &Type,
        variants: &[(String, String)],
    ) -> Result<String, EmitError> {
        let (names, unknown) = method_variants(variants);
        let declared = variants.iter().zip(&names).map(|((method, held), name)| {
            let docs = comment("    ", &format!("`{method}`"));
            json!({"docs": docs, "declared": format!("{name}({})", self.named(held))})
        });
        let rows = variants.iter().zip(&names);
        let rows = rows.map(|((method, held), name)| format!("{method:?} => {name}({held})"));
        let values = json!({
            "docs": self.docs(ty),
            "name": name,
            "derived": "",
            "variants": Vec::from_iter(declared),
            "about": "A method",
            "unknown": format!("{unknown}({})", self.wire("UnknownMethod")),
            "table": self.table("methods!"),
            "head": format!("{name}: {}", self.schema()),
            "rows": Vec::from_iter(rows.chain([format!("_ => {unknown}")])),
            "code": [],
        });
        render("parts/enum.rs", values)
    }

    /// Emits the union of the results of a side's requests, by method, and its table.
    pub(super) fn result_union(
        &self,
        name: &str,
        ty: &Type,
        methods: &[(String, Vec<TypeRef>)],
    ) -> Result<String, EmitError> {
        let model = self.input.model();
        let variants = result_variants(methods);
        let declared = variants.iter().map(|(ty, variant)| {
            let docs = ty.named().map_or_else(
                || "Any result.".to_owned(),
                |name| format!("See {}.", link_to_type(name)),
            );
            let declared = format!("{variant}({})", self.ty(ty));
            json!({"docs": comment("    ", &docs), "declared": declared})
        });
        let unknown = model.unknown_result(methods);
        let otherwise = unknown.as_ref().map(|unknown| format!(" else {unknown}"));
        let otherwise = otherwise.unwrap_or_default();
        let names: Vec<&str> = variants.iter().map(|(_, variant)| variant.as_str()).collect();
        let rows = methods.iter();
        let rows = rows.map(|(method, results)| self.result_row((method, results), &variants, &otherwise));
        let (schema, at) = (self.schema(), &ty.pointer);
        let values = json!({
            "docs": self.docs(ty),
            "name": name,
            "derived": "",
            "variants": Vec::from_iter(declared),
            "about": "A result of a kind",
            "unknown": unknown.map(|unknown| format!("{unknown}({})", self.wire("RawJson"))),
            "table": self.table("results!"),
            "head": format!("{name}: {schema}[{at:?}] {}{otherwise};", names.join(", ")),
            "rows": Vec::from_iter(rows),
            "code": [],
        });
        Ok(render("parts/enum.rs", values)? + &self.method_results_tables(name, methods)?)
    }

    /// Returns the row of a method: its results, and the tag or the members that distinguish them.
    fn result_row(
        &self,
        (method, results): (&str, &[TypeRef]),
        variants: &[(TypeRef, String)],
        otherwise: &str,
    ) -> String {
        let model = self.input.model();
        let variant_of = |ty: &TypeRef| Some(&variants.iter().find(|(other, _)| other == ty)?.1);
        if let Some((tag, values)) = model.result_tags(method, results) {
            let tagged = results.iter().zip(values);
            let tagged = tagged.filter_map(|(ty, value)| Some(format!("{} = {value:?}", variant_of(ty)?)));
            let tagged = Vec::from_iter(tagged).join(" or ");
            return format!("{method:?} by {tag:?} => {tagged}{otherwise}");
        }
        let forms = model.result_forms(results).into_iter().filter_map(|(ty, member)| {
            let member = member.map(|member| format!("({member:?})"));
            Some(variant_of(ty)?.clone() + &member.unwrap_or_default())
        });
        format!("{method:?} => {}", Vec::from_iter(forms).join(" or "))
    }

    /// Emits the tables of the unions of a single method's results, whose variants are also in a union of all results.
    fn method_results_tables(&self, all: &str, methods: &[(String, Vec<TypeRef>)]) -> Result<String, EmitError> {
        let model = self.input.model();
        let answered = methods.iter().filter_map(|(name, _)| model.method(name));
        let unions: BTreeMap<_, _> = answered
            .filter_map(|method| method_results(model, method, methods))
            .collect();
        let tables = unions.into_iter().map(|(name, variants)| {
            let rows = variants.iter().map(|(variant, held)| format!("{variant} => {held}"));
            let values = json!({
                "table": self.table("method_results!"),
                "head": format!("{} in {all}", self.named(name)),
                "rows": Vec::from_iter(rows),
                "code": [],
            });
            Ok(format!("\n{}", render("parts/table.rs", values)?))
        });
        tables.collect()
    }

    /// Emits a type for each side that covers all its messages.
    pub(super) fn message_aliases(&self) -> String {
        let model = self.input.model();
        let union = |name: String| match model.kind(&name) {
            Some(TypeKind::Methods(_)) => self.named(&name).to_owned(),
            _ => self.wire("UnknownMethod"),
        };
        let aliases = ["Client", "Server"].map(|side| {
            let (requests, notifications) = (union(format!("{side}Request")), union(format!("{side}Notification")));
            let mut message = format!("{}<{requests}, {notifications}>", self.wire("Message"));
            let mut what = "a whole JSON-RPC message";
            if model.batches {
                message = format!("{}<{message}>", self.wire("Batch"));
                what = "a JSON-RPC message, or several in an array";
            }
            let who = side.to_lowercase();
            let name = unique(&format!("{side}Message"), |name| model.types.contains_key(name));
            format!("/// A message from a {who}: {what}.\npub type {name} = {message};\n")
        });
        aliases.join("\n")
    }

    /// Returns the template's values for the file of the table of methods.
    pub(super) fn methods(&self) -> Value {
        let model = self.input.model();
        let methods = model.methods.iter().map(|method| {
            json!({
                "name": method.name,
                "is_request": method.kind == MessageKind::Request,
                "direction": format!("{:?}", method.direction),
                "at": model.pointer_of(method),
                "results": model.result_pointers(method),
                "needs": method.capability,
            })
        });
        let whose = self.input.extension().map_or("revision's", |_| "extension's");
        json!({"whose": whose, "methods": methods.collect::<Vec<_>>()})
    }

    /// Returns the template's values for the file of the constants of error codes.
    pub(super) fn error_codes(&self) -> Value {
        let inherited = library_name(self.input.core_crate().as_deref().unwrap_or(WIRE));
        let codes = self.input.model().error_codes.iter().map(|code| {
            let meaning = comment("", &format!("{}\n\n[Specification]({})", code.why, code.link));
            json!({"meaning": meaning, "name": identifier(&code.name), "code": code.code})
        });
        json!({"inherited": inherited, "codes": codes.collect::<Vec<_>>()})
    }

    /// Returns the template's values for the file of the definitions by name.
    pub(super) fn definitions(&self) -> Value {
        let model = self.input.model();
        let definitions = model.definitions.iter().map(|(name, definition)| {
            self.schema();
            let held = match model.kind_of(&definition.ty) {
                // The type of a result depends on the request, which isn't known here.
                Some(TypeKind::Results(_)) => self.wire("RawJson"),
                _ => self.ty(&definition.ty),
            };
            let around = definition.envelope.map(|kind| match kind {
                MessageKind::Request => self.wire("Call"),
                MessageKind::Notification => self.wire("Notice"),
            });
            let held = around.map_or_else(|| held.clone(), |around| format!("{around}<{held}>"));
            json!({"held": held, "name": name, "pointer": definition.pointer})
        });
        let definitions: Vec<Value> = definitions.collect();
        let definition = self.wire("Definition");
        let (imports, _) = self.take_imports(|_| false);
        let whose = self.input.extension().map_or("revision's", |_| "extension's own");
        json!({"imports": imports, "whose": whose, "definition": definition, "definitions": definitions})
    }
}

/// Returns the variants of a union of methods, and the one for an unknown method.
pub(super) fn method_variants(methods: &[(String, String)]) -> (Vec<String>, String) {
    let types: Vec<TypeRef> = methods.iter().map(|(_, ty)| TypeRef::Named(ty.clone())).collect();
    let names = variant_names(&types, &vec![JsonType::Object; types.len()], None);
    let unknown = unique(UNKNOWN, |name| names.iter().any(|other| other == name));
    (names, unknown)
}

/// Returns the variants of a union of results, each with its type; the one for undeclared results has none.
pub(super) fn variants_of_results(model: &Model, union: &str) -> Option<Vec<(Option<TypeRef>, String)>> {
    let (declared, unknown) = match model.kind(union)? {
        TypeKind::Results(methods) => (result_variants(methods), model.unknown_result(methods)),
        TypeKind::Union(union) => {
            let variants = union.variants.iter();
            let variants = variants.map(|variant| (variant.ty.clone(), variant.name.clone()));
            (variants.collect(), unknown_variant(union))
        }
        _ => return None,
    };
    let declared = declared.into_iter().map(|(ty, name)| (Some(ty), name));
    Some(declared.chain(unknown.map(|name| (None, name))).collect())
}

/// Returns the union of a method's results, and each of its variants with its counterpart in a union of all results;
/// `None` if a variant has no counterpart.
pub(super) fn method_results<'m>(
    model: &'m Model,
    method: &'m Method,
    all: &[(String, Vec<TypeRef>)],
) -> Option<(&'m str, Vec<(String, String)>)> {
    let name = model.resolve(method.result_union.as_ref()?).named()?;
    let union = model.union_of(method.result_union.as_ref()?)?;
    let held = result_variants(all);
    let declared = union.variants.iter().map(|variant| {
        let (_, held) = held.iter().find(|(ty, _)| *ty == variant.ty)?;
        Some((variant.name.clone(), held.clone()))
    });
    let unknown = unknown_variant(union).map(|unknown| Some((unknown, model.unknown_result(all)?)));
    let variants: Option<Vec<_>> = declared.chain(unknown).collect();
    Some((name, variants?))
}
