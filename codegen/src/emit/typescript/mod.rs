//! A revision in TypeScript: the type of each definition, and the message and results of each method.

mod expression;
mod names;
mod types;

use std::cell::Cell;

use mcp_json_schema::{all_definitions, pointer};
use serde_json::{Map, Value, json};

use super::EmitInput;
use super::scaffold::header;
use crate::error::EmitError;
use crate::messages::DIRECTIONS;
use crate::model::MessageKind::{self, Notification, Request};
use crate::model::{Method, TypeRef};
use crate::overlay::Deprecation;
use crate::templates::render;
use expression::Expression;
use names::{key, type_names};
use types::{TypeWriter, comment, indented};

/// The constant with the name of the revision.
const VERSION: &str = "PROTOCOL_VERSION";

pub(crate) fn definitions(input: &EmitInput<'_>) -> Result<String, EmitError> {
    let model = input.model();
    let codes = model.error_codes.iter().map(|code| code.name.clone());
    let tables = DIRECTIONS.iter().map(|(union, ..)| format!("{union}s"));
    let taken: Vec<String> = codes.chain(tables).chain([VERSION.to_owned()]).collect();
    let writer = TypeWriter {
        input,
        names: type_names(model.definitions.keys(), &taken),
        parts: Cell::default(),
    };
    let codes = model.error_codes.iter().map(|code| {
        let docs = comment(&code.why, Some(&code.link), None);
        json!({"docs": docs, "name": code.name, "code": code.code})
    });
    let definitions = all_definitions(input.schema()).into_iter();
    let definitions = definitions.filter_map(|(at, name, schema)| {
        let envelope = model.definitions.get(name)?.envelope;
        writer.definition((name, &at), schema, envelope, &input.link(name))
    });
    let tables = DIRECTIONS.iter().filter_map(|(union, kind, direction)| {
        let methods = model.methods.iter();
        let methods = methods.filter(|method| method.kind == *kind && method.direction.includes(*direction));
        let methods: Vec<Value> = methods.map(|method| writer.method(method)).collect();
        let sender = if direction.from_client() { "client" } else { "server" };
        let table = json!({"name": format!("{union}s"), "kind": kind, "sender": sender, "methods": methods});
        (!methods.is_empty()).then_some(table)
    });
    let values = json!({
        "header": header("//", input),
        "version": VERSION,
        "revision": json!(model.revision).to_string(),
        "error_codes": Vec::from_iter(codes),
        "definitions": Vec::from_iter(definitions),
        "tables": Vec::from_iter(tables),
    });
    render("parts/typescript.ts", values)
}

impl TypeWriter<'_> {
    fn definition(
        &self,
        (name, at): (&str, &str),
        schema: &Value,
        envelope: Option<MessageKind>,
        link: &str,
    ) -> Option<Value> {
        let text = self.input.docs.entry(name, None).map_or("", |(_, text)| text);
        let deprecation = self.input.model().deprecation(at).map(Deprecation::note);
        let own = self.names.get(name)?;
        let declared = match schema.as_object().filter(|schema| is_interface(schema)) {
            Some(schema) => {
                let members = self.members(schema, Some((name, envelope_members(envelope))), at);
                format!("interface {own} {members}")
            }
            None => format!("type {own} = {};", self.ty(schema, at)),
        };
        let docs = comment(text, Some(link), deprecation.as_deref());
        Some(json!({"docs": docs, "declared": declared}))
    }

    /// Returns the entry of a method in its table.
    fn method(&self, method: &Method) -> Value {
        let message = self.of_model(&TypeRef::Named(method.ty.clone()));
        let deprecation = self.input.model().deprecation_of_method(method).map(Deprecation::note);
        let docs = indented(&comment("", None, deprecation.as_deref()));
        let value = match method.kind {
            Notification => message,
            Request => {
                let results = method.results.iter().map(|result| self.of_model(result));
                let results = results.collect::<Vec<_>>().join(" | ");
                format!("{{ request: {message}; result: {results} }}")
            }
        };
        json!({"docs": docs, "key": key(&method.name), "value": value})
    }

    fn named(&self, ty: &str) -> Option<Expression> {
        let at = &self.input.model().types.get(ty)?.pointer;
        let name = self.definition_at(at).map(Expression::single);
        name.or_else(|| Some(self.ty(pointer::resolve(self.input.schema(), at)?, at)))
    }

    /// Returns the type of a message or a result, which is named or open JSON.
    fn of_model(&self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::Named(name) => self.named(name).unwrap_or_else(Expression::unknown).to_string(),
            TypeRef::RawObject => "{ [key: string]: unknown }".to_owned(),
            _ => "unknown".to_owned(),
        }
    }
}

/// Returns the members of the JSON-RPC envelope around a method.
fn envelope_members(envelope: Option<MessageKind>) -> &'static str {
    match envelope {
        None => "",
        Some(Notification) => "jsonrpc: \"2.0\";\n",
        Some(Request) => "jsonrpc: \"2.0\";\nid: string | number;\n",
    }
}

/// Whether a schema only declares members, so that an interface can express it.
fn is_interface(schema: &Map<String, Value>) -> bool {
    let others = ["$ref", "allOf", "anyOf", "oneOf", "const", "enum"];
    schema.get("type").is_some_and(|ty| ty == "object") && !others.iter().any(|keyword| schema.contains_key(*keyword))
}
