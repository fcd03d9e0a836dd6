//! Rewrites the definitions in the unions of sent messages: each message that remains has one method.

use std::collections::BTreeSet;

use heck::ToUpperCamelCase as _;
use mcp_json_schema::{DEFINITIONS, all_definitions, pointer};
use serde_json::{Map, Value, json};

use super::envelope::{declared, inlined};
use super::references::follow;
use super::shape_builder::METHOD as IS_METHOD;
use crate::messages::{DIRECTIONS, MessageKind, message_unions};

const UNIONS: [&str; 2] = ["anyOf", "oneOf"];

/// Removes the members that the overlay declares not to be messages, since their schemas would accept other messages.
/// A message whose `method` lists several values becomes a union of as many definitions, nested in it; one that has no
/// definition becomes one, nested in that of the union.
pub(super) fn separate_methods(schema: &mut Value) {
    for (union, kind, _) in DIRECTIONS {
        for place in places(schema, union) {
            remove_others(schema, &place);
            let Some((union, outer, messages)) = separated(schema, &place, kind) else {
                continue;
            };
            if let Some(message) = schema.pointer_mut(&place[1..]) {
                *message = union;
            }
            if let Some(Value::Object(outer)) = schema.pointer_mut(&outer[1..])
                && let Value::Object(nested) = outer.entry("$defs").or_insert_with(|| json!({}))
            {
                nested.extend(messages);
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

/// Returns the methods of the messages in a union.
pub(crate) fn methods_in_union(schema: &Value, union: &str) -> BTreeSet<String> {
    let places = places(schema, union).into_iter();
    let members = places.filter_map(|place| methods_of(schema, pointer::resolve(schema, &place)?));
    members.flatten().collect()
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

/// Returns the union that replaces a message, and the definitions to nest in the one at a pointer.
fn separated(schema: &Value, place: &str, kind: MessageKind) -> Option<(Value, String, Map<String, Value>)> {
    let whole = pointer::resolve(schema, place)?;
    let methods = methods_of(schema, whole)?;
    let outer = definition_around(place)?;
    let is_definition = outer == place;
    if is_definition && methods.len() == 1 {
        return None;
    }
    let is_of_message = |keyword: &str| !DEFINITIONS.contains(&keyword) && !keyword.starts_with("x-");
    let mut message = inlined(schema, whole, 0);
    message.as_object_mut()?.retain(|keyword, _| is_of_message(keyword));
    let definitions = all_definitions(schema).into_iter();
    let mut taken: BTreeSet<String> = definitions.map(|(_, name, _)| name.to_owned()).collect();
    let (mut variants, mut messages) = (Vec::new(), Map::new());
    for method in methods {
        let mut message = message.clone();
        for declared in declared_methods(&mut message) {
            if values(schema, declared).is_some() {
                *declared = json!({"type": "string", "const": method});
            }
        }
        // A message that is written in the union counts as the definition of its method.
        if !is_definition && is_defined(schema, &method) {
            variants.push(message);
            continue;
        }
        let name = name_of(&method, kind, &taken);
        variants.push(json!({"$ref": pointer::reference(&pointer::child(&format!("{outer}/$defs"), &name))}));
        messages.insert(name.clone(), message);
        taken.insert(name);
    }
    let mut union = whole.as_object()?.clone();
    union.retain(|keyword, _| !is_of_message(keyword) || keyword == "description");
    union.insert("anyOf".to_owned(), Value::Array(variants));
    Some((Value::Object(union), outer, messages))
}

/// Returns the pointer of the innermost definition that contains the schema at a pointer.
fn definition_around(place: &str) -> Option<String> {
    let steps: Vec<&str> = place.split('/').collect();
    let names = steps[1..].chunks_exact(2);
    let definitions = names.take_while(|step| DEFINITIONS.contains(&step[0])).count();
    (definitions > 0).then(|| steps[..=2 * definitions].join("/"))
}

/// Whether a definition that isn't a union of messages is a message of a method.
fn is_defined(schema: &Value, method: &str) -> bool {
    let definitions = all_definitions(schema).into_iter();
    let mut definitions = definitions.filter(|(_, name, _)| message_unions().all(|union| union != *name));
    definitions.any(|(.., definition)| methods_of(schema, definition).is_some_and(|methods| methods.contains(method)))
}

/// Returns the methods that a message lists as constants, itself or in its `allOf`.
pub(crate) fn methods_of(root: &Value, message: &Value) -> Option<BTreeSet<String>> {
    let declared = declared(root, message, "method", 0).into_iter();
    declared
        .filter_map(|method| values(root, method))
        .min_by_key(BTreeSet::len)
}

/// Returns the schemas of `method` that a message declares, itself or in its `allOf`.
fn declared_methods(message: &mut Value) -> Vec<&mut Value> {
    let keywords = message.as_object_mut().into_iter().flatten();
    let found = keywords.flat_map(|(keyword, value)| match (keyword.as_str(), value) {
        ("properties", Value::Object(members)) => members.get_mut("method").into_iter().collect(),
        ("allOf", Value::Array(parts)) => parts.iter_mut().flat_map(declared_methods).collect(),
        _ => Vec::new(),
    });
    found.collect()
}

/// Returns the strings that a schema lists as constants.
fn values(root: &Value, schema: &Value) -> Option<BTreeSet<String>> {
    let schema = follow(root, schema)?;
    if let Some(constant) = schema.get("const") {
        return Some([constant.as_str()?.to_owned()].into());
    }
    if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
        return listed.iter().map(|value| value.as_str().map(str::to_owned)).collect();
    }
    let variants = UNIONS.iter().find_map(|keyword| schema.get(keyword)?.as_array())?;
    let listed: Option<Vec<_>> = variants.iter().map(|variant| values(root, variant)).collect();
    Some(listed?.into_iter().flatten().collect())
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
