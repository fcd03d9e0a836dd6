//! Rewrites the definitions in the unions of sent messages: each message that remains has one method.

use std::collections::BTreeSet;

use heck::ToUpperCamelCase as _;
use mcp_wire::json_schema::{DEFINITIONS, all_definitions, pointer};
use serde_json::{Map, Value, json};

use super::references::follow;
use super::shape_builder::METHOD as IS_METHOD;
use crate::messages::{DIRECTIONS, MessageKind};

const UNIONS: [&str; 2] = ["anyOf", "oneOf"];

/// Removes the members that the overlay declares not to be messages, since their schemas would accept other messages.
/// A definition whose `method` lists several values becomes a union of as many definitions, nested in it.
pub(super) fn separate_methods(schema: &mut Value) {
    for (union, kind, _) in DIRECTIONS {
        for place in places(schema, union) {
            remove_others(schema, &place);
            if let Some(separated) = separated(schema, &place, kind)
                && let Some(definition) = schema.pointer_mut(&place[1..])
            {
                *definition = separated;
            }
        }
    }
}

/// Returns the pointers of a union of messages, of its inner unions, and of the definitions in them.
fn places(schema: &Value, union: &str) -> BTreeSet<String> {
    let definitions = all_definitions(schema).into_iter();
    let mut waiting: Vec<String> = definitions
        .filter(|(_, name, _)| *name == union)
        .map(|(pointer, ..)| pointer)
        .collect();
    let mut places = BTreeSet::new();
    while let Some(place) = waiting.pop() {
        let Some(found) = pointer::resolve(schema, &place).filter(|_| !places.contains(&place)) else {
            continue;
        };
        let target = found.get("$ref").and_then(Value::as_str);
        waiting.extend(target.and_then(pointer::canonical));
        for keyword in UNIONS {
            let variants = found.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
            waiting.extend((0..variants).map(|index| format!("{place}/{keyword}/{index}")));
        }
        places.insert(place);
    }
    places
}

fn remove_others(schema: &mut Value, union: &str) {
    for keyword in UNIONS {
        let at = pointer::child(union, keyword);
        let Some(Value::Array(variants)) = pointer::resolve(schema, &at) else {
            continue;
        };
        let is_other = |variant: &Value| {
            let is_declared = |schema: &Value| schema.get(IS_METHOD) == Some(&Value::Bool(false));
            is_declared(variant) || follow(schema, variant).is_some_and(is_declared)
        };
        let messages: Vec<Value> = variants.iter().filter(|variant| !is_other(variant)).cloned().collect();
        // A union has at least one variant.
        if let (false, Some(variants)) = (messages.is_empty(), schema.pointer_mut(&at[1..])) {
            *variants = Value::Array(messages);
        }
    }
}

/// Returns the union that replaces the definition of several messages.
fn separated(schema: &Value, place: &str, kind: MessageKind) -> Option<Value> {
    let definitions = all_definitions(schema);
    let (.., definition) = definitions.iter().find(|(pointer, ..)| pointer == place)?;
    let definition = definition.as_object()?;
    let methods = methods(schema, definition)?;
    let mut taken: BTreeSet<String> = definitions.iter().map(|(_, name, _)| (*name).to_owned()).collect();
    let is_of_message = |keyword: &str| !DEFINITIONS.contains(&keyword) && !keyword.starts_with("x-");
    let message = definition.iter().filter(|(keyword, _)| is_of_message(keyword));
    let message: Map<String, Value> = message.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut union = definition.clone();
    union.retain(|keyword, _| !is_of_message(keyword) || keyword == "description");
    let mut variants = Vec::new();
    let mut nested = definition
        .get("$defs")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for method in methods {
        let mut message = message.clone();
        let member = message.get_mut("properties")?.get_mut("method")?;
        *member = json!({"type": "string", "const": method});
        let name = name_of(method, kind, &taken);
        variants.push(json!({"$ref": pointer::reference(&pointer::child(&format!("{place}/$defs"), &name))}));
        nested.insert(name.clone(), Value::Object(message));
        taken.insert(name);
    }
    union.insert("$defs".to_owned(), Value::Object(nested));
    union.insert("anyOf".to_owned(), Value::Array(variants));
    Some(Value::Object(union))
}

/// Returns the methods of a definition that has several.
fn methods<'s>(root: &'s Value, definition: &'s Map<String, Value>) -> Option<BTreeSet<&'s str>> {
    let method = follow(root, definition.get("properties")?.get("method")?)?;
    let values = method.get("enum")?.as_array()?;
    let methods: Option<BTreeSet<&str>> = values.iter().map(Value::as_str).collect();
    methods.filter(|methods| methods.len() > 1)
}

/// Returns the name of the definition of a method, such as `ToolsListRequest`.
fn name_of(method: &str, kind: MessageKind, taken: &BTreeSet<String>) -> String {
    let (words, suffix) = match kind {
        MessageKind::Request => (method, "Request"),
        MessageKind::Notification => (method.strip_prefix("notifications/").unwrap_or(method), "Notification"),
    };
    let words = words.to_upper_camel_case();
    let numbers = std::iter::once(String::new()).chain((2..).map(|number: usize| number.to_string()));
    let mut names = numbers.map(|number| format!("{words}{number}{suffix}"));
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}
