//! Methods: the traits of requests and notifications, the unions by direction, whole messages, and the tables.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use serde_json::{Value, json};

use super::emitter::Emitter;
use super::names::{ident, library_name};
use super::scaffold::WIRE;
use super::source::Table;
use super::tokens::text;
use super::unions::unknown_variant;
use crate::error::EmitError;
use crate::model::names::{UNKNOWN, unique, variant_names};
use crate::model::{self, MessageKind, Method, Model, Type, TypeKind, TypeRef};
use mcp_wire::JsonType;

impl Emitter<'_> {
    /// Emits the table of a struct that is a request or a notification.
    pub(super) fn method_table(&self, name: &str) -> Option<String> {
        let model = self.input.model();
        let method = model.methods.iter().find(|method| method.ty == name)?;
        let params = match model.params(method) {
            Some(member) if member.required => self.scope.ty(&member.ty),
            Some(member) => self.scope.optional(&self.scope.ty(&member.ty)),
            None => self.scope.wire("Null"),
        };
        let (macro_name, result) = match method.kind {
            MessageKind::Request => {
                let result = method.result_union.as_ref().or(method.results.first());
                let result = self.scope.ty(result.unwrap_or(&TypeRef::RawObject));
                ("request!", format!(" => {}", text(&result)))
            }
            MessageKind::Notification => ("notification!", String::new()),
        };
        Some(format!(
            "{} {{ {}: {:?} {:?}, {}{result} }}\n",
            self.scope.table(macro_name),
            ident(name),
            method.name,
            method.direction,
            text(&params)
        ))
    }

    /// Emits a union of requests or notifications, and its table.
    pub(super) fn method_union(
        &self,
        name: &str,
        ty: &Type,
        variants: &[(String, String)],
    ) -> Result<String, EmitError> {
        let rust = ident(name);
        let (names, unknown) = method_variants(variants);
        let held: Vec<TokenStream> = variants.iter().map(|(_, ty)| self.scope.named(ty)).collect();
        let declared = variants.iter().zip(names.iter().zip(&held));
        let declared = declared.map(|((method, _), (name, held))| {
            let docs = super::docs::lines(&format!("`{method}`"));
            quote!(#docs #name(#held))
        });
        let unknown_method = self.scope.wire("UnknownMethod");
        let definition = self.enumeration(
            (name, ty),
            &TokenStream::new(),
            declared,
            Some((&unknown, "A method", unknown_method)),
        )?;
        let macro_name = self.scope.table("methods!");
        let mut table = Table::new(&macro_name, &format!("{rust}: {}", self.scope.schema()));
        for ((method, _), (name, held)) in variants.iter().zip(names.iter().zip(&held)) {
            table.row(&format!("{method:?} => {name}({held})"));
        }
        table.row(&format!("_ => {unknown}"));
        Ok(format!("{definition}\n{}", table.finish()))
    }

    /// Emits the union of the results of a side's requests, by method, and its table.
    pub(super) fn result_union(
        &self,
        name: &str,
        ty: &Type,
        methods: &[(String, Vec<TypeRef>)],
    ) -> Result<String, EmitError> {
        let (rust, model) = (ident(name), self.input.model());
        let variants = result_variants(methods);
        let declared = variants.iter().map(|(ty, variant)| {
            let docs = super::docs::lines(&match ty.named() {
                Some(name) => format!("See [`{name}`]."),
                None => "Any result.".to_owned(),
            });
            let held = self.scope.ty(ty);
            quote!(#docs #variant(#held))
        });
        let unknown = model.unknown_result(methods).map(|name| ident(&name));
        let raw = || self.scope.wire("RawJson");
        let unknown_variant = unknown.as_ref().map(|unknown| (unknown, "A result of a kind", raw()));
        let definition = self.enumeration((name, ty), &TokenStream::new(), declared, unknown_variant)?;
        let variant_of = |ty: &TypeRef| {
            let (_, variant) = variants.iter().find(|(other, _)| other == ty)?;
            Some(variant.to_string())
        };
        let names = variants.iter().map(|(_, variant)| variant.to_string());
        let names = Vec::from_iter(names).join(", ");
        let otherwise = unknown.as_ref().map(|unknown| format!(" else {unknown}"));
        let otherwise = otherwise.unwrap_or_default();
        let (macro_name, schema) = (self.scope.table("results!"), self.scope.schema());
        let head = format!("{rust}: {schema}[{:?}] {names}{otherwise};", ty.pointer);
        let mut table = Table::new(&macro_name, &head);
        for (method, results) in methods {
            if let Some((tag, values)) = model.result_tags(method, results) {
                let tagged = results.iter().zip(values);
                let tagged = tagged.filter_map(|(ty, value)| Some(format!("{} = {value:?}", variant_of(ty)?)));
                let tagged = Vec::from_iter(tagged).join(" or ");
                table.row(&format!("{method:?} by {tag:?} => {tagged}{otherwise}"));
                continue;
            }
            let forms = model.result_forms(results).into_iter().filter_map(|(ty, member)| {
                let member = member.map(|member| format!("({member:?})"));
                Some(variant_of(ty)? + &member.unwrap_or_default())
            });
            let forms = Vec::from_iter(forms).join(" or ");
            table.row(&format!("{method:?} => {forms}"));
        }
        let unions = self.method_results_tables(name, methods);
        Ok(format!("{definition}\n{}{unions}", table.finish()))
    }

    /// Emits the tables of the unions of a single method's results, whose variants are also in a union of all results.
    fn method_results_tables(&self, all: &str, methods: &[(String, Vec<TypeRef>)]) -> String {
        let model = self.input.model();
        let answered = methods.iter().filter_map(|(name, _)| model.method(name));
        let tables: BTreeMap<&str, String> = answered
            .filter_map(|method| {
                let (name, variants) = method_results(model, method, methods)?;
                let head = format!("{} in {}", text(&self.scope.named(name)), ident(all));
                let mut table = Table::new(&self.scope.table("method_results!"), &head);
                for (variant, held) in variants {
                    table.row(&format!("{variant} => {held}"));
                }
                Some((name, format!("\n{}", table.finish())))
            })
            .collect();
        tables.into_values().collect()
    }

    /// Emits a type for each side that covers all its messages.
    pub(super) fn message_aliases(&self) -> String {
        let model = self.input.model();
        let union = |name: String| match model.kind(&name) {
            Some(TypeKind::Methods(_)) => self.scope.named(&name),
            _ => self.scope.wire("UnknownMethod"),
        };
        let aliases = ["Client", "Server"].map(|side| {
            let (requests, notifications) = (union(format!("{side}Request")), union(format!("{side}Notification")));
            let message = self.scope.wire("Message");
            let mut message = format!("{message}<{}, {}>", text(&requests), text(&notifications));
            let mut what = "a whole JSON-RPC message";
            if model.batches {
                message = format!("{}<{message}>", self.scope.wire("Batch"));
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
            let (name, direction, at) = (&method.name, method.direction, model.pointer_of(method));
            let call = match method.kind {
                MessageKind::Request => {
                    let results = model.result_pointers(method);
                    format!("request({name:?}, Direction::{direction:?}, {at:?}, &{results:?})")
                }
                MessageKind::Notification => format!("notification({name:?}, Direction::{direction:?}, {at:?})"),
            };
            let needs = method.capability.as_ref().map(|capability| format!("{capability:?}"));
            json!({"call": call, "needs": needs})
        });
        let whose = self.input.extension().map_or("revision's", |_| "extension's");
        json!({"whose": whose, "methods": methods.collect::<Vec<_>>()})
    }

    /// Returns the template's values for the file of the constants of error codes.
    pub(super) fn error_codes(&self) -> Value {
        let inherited = library_name(self.input.core_crate().as_deref().unwrap_or(WIRE));
        let codes = self.input.model().error_codes.iter().map(|code| {
            let meaning = super::docs::comment(&format!("{}\n\n[Specification]({})", code.why, code.link));
            json!({"meaning": meaning, "name": ident(&code.name).to_string(), "code": code.code})
        });
        json!({"inherited": inherited, "codes": codes.collect::<Vec<_>>()})
    }

    /// Returns the template's values for the file of the definitions by name.
    pub(super) fn definitions(&self) -> Value {
        let model = self.input.model();
        let definitions = model.definitions.iter().map(|(name, definition)| {
            self.scope.schema();
            let held = match model.kind_of(&definition.ty) {
                // The type of a result depends on the request, which isn't known here.
                Some(TypeKind::Results(_)) => self.scope.wire("RawObject"),
                _ => self.scope.ty(&definition.ty),
            };
            let around = definition.envelope.map(|kind| match kind {
                MessageKind::Request => self.scope.wire("Call"),
                MessageKind::Notification => self.scope.wire("Notice"),
            });
            let held = around.map_or_else(|| held.clone(), |around| quote!(#around<#held>));
            let (name, pointer) = (format!("{name:?}"), format!("{:?}", definition.pointer));
            json!({"held": text(&held), "name": name, "pointer": pointer})
        });
        let definitions: Vec<Value> = definitions.collect();
        let definition = text(&self.scope.wire("Definition"));
        let imports = self.scope.take_imports(|_| false);
        let whose = self.input.extension().map_or("revision's", |_| "extension's own");
        json!({"imports": imports, "whose": whose, "definition": definition, "definitions": definitions})
    }
}

/// Returns the variants of a union of methods, and the one for an unknown method.
pub(super) fn method_variants(methods: &[(String, String)]) -> (Vec<Ident>, Ident) {
    let types: Vec<TypeRef> = methods.iter().map(|(_, ty)| TypeRef::Named(ty.clone())).collect();
    let names = variant_names(&types, &vec![JsonType::Object; types.len()], None);
    let unknown = ident(&unique(UNKNOWN, |name| names.iter().any(|other| other == name)));
    (names.iter().map(|name| ident(name)).collect(), unknown)
}

/// Returns the types of a union of results, each with its variant.
pub(super) fn result_variants(methods: &[(String, Vec<TypeRef>)]) -> Vec<(TypeRef, Ident)> {
    let variants = model::result_variants(methods).into_iter();
    variants.map(|(ty, name)| (ty, ident(&name))).collect()
}

/// Returns the variants of a union of results, each with its type; the one for undeclared results has none.
pub(super) fn variants_of_results(model: &Model, union: &str) -> Option<Vec<(Option<TypeRef>, String)>> {
    let (declared, unknown): (Vec<(TypeRef, Ident)>, _) = match model.kind(union)? {
        TypeKind::Results(methods) => {
            let unknown = model.unknown_result(methods).map(|name| ident(&name));
            (result_variants(methods), unknown)
        }
        TypeKind::Union(union) => {
            let variants = union.variants.iter();
            let variants = variants.map(|variant| (variant.ty.clone(), ident(&variant.name)));
            (variants.collect(), unknown_variant(union))
        }
        _ => return None,
    };
    let declared = declared.into_iter().map(|(ty, name)| (Some(ty), name.to_string()));
    let unknown = unknown.map(|name| (None, name.to_string()));
    Some(declared.chain(unknown).collect())
}

/// Returns the union of a method's results, and each of its variants with its counterpart in a union of all results;
/// `None` if a variant has no counterpart.
pub(super) fn method_results<'m>(
    model: &'m Model,
    method: &'m Method,
    all: &[(String, Vec<TypeRef>)],
) -> Option<(&'m str, Vec<(Ident, Ident)>)> {
    let name = model.resolve(method.result_union.as_ref()?).named()?;
    let union = model.union_of(method.result_union.as_ref()?)?;
    let held = result_variants(all);
    let declared = union.variants.iter().map(|variant| {
        let (_, held) = held.iter().find(|(ty, _)| *ty == variant.ty)?;
        Some((ident(&variant.name), held.clone()))
    });
    let unknown = unknown_variant(union).map(|unknown| Some((unknown, ident(&model.unknown_result(all)?))));
    let variants: Option<Vec<_>> = declared.chain(unknown).collect();
    Some((name, variants?))
}
