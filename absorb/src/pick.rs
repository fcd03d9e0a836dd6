//! Random targets of edits: places, members, definitions, and new names.

use std::cell::OnceCell;
use std::ops::Deref;

use fastrand::Rng;
use mcp_json_schema::walk;
use serde_json::Value;

use crate::edit::definitions;

/// The members of messages, which no revision changes.
pub(crate) const ENVELOPE: [&str; 6] = ["id", "jsonrpc", "method", "params", "result", "error"];

/// The members of errors, which no revision changes either.
const ERROR: [&str; 3] = ["code", "message", "data"];

/// A schema to edit. What most edits choose from is found at most once.
pub(crate) struct Root<'r> {
    schema: &'r Value,
    objects: OnceCell<Vec<String>>,
    unions: OnceCell<Vec<String>>,
}

impl<'r> Root<'r> {
    pub(crate) fn new(schema: &'r Value) -> Self {
        Self {
            schema,
            objects: OnceCell::new(),
            unions: OnceCell::new(),
        }
    }
}

impl Deref for Root<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.schema
    }
}

pub(crate) fn any<T: Clone>(found: &[T], rng: &mut Rng) -> Option<T> {
    (!found.is_empty()).then(|| found[rng.usize(..found.len())].clone())
}

/// Returns the pointers of schemas that meet a condition, except those in the definitions that all messages share.
pub(crate) fn places(root: &Value, is_one: impl Fn(&Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    walk(root, |at, schema| {
        if !is_one(schema) {
            return;
        }
        let place = at.trim_start_matches('#');
        // Unions of messages repeat their members. Edits skip them, because official schemas generate both from one
        // source.
        let definition = place.split('/').nth(2).unwrap_or_default();
        let is_shared = definition.starts_with("JSONRPC") || definition == "RequestId" || is_direction(definition);
        let is_shared = is_shared || place.matches('/').count() < 2;
        if !is_shared {
            found.push(place.to_owned());
        }
    });
    found.sort_unstable();
    found
}

pub(crate) fn any_object(root: &Root<'_>, rng: &mut Rng) -> Option<String> {
    let is_object = |schema: &Value| schema["properties"].is_object();
    any(root.objects.get_or_init(|| places(root, is_object)), rng)
}

/// Returns a member that JSON-RPC doesn't define: its object, its name, and its schema.
pub(crate) fn any_member(root: &Root<'_>, rng: &mut Rng) -> Option<(String, String, Value)> {
    let object = any_object(root, rng)?;
    let members = root.pointer(&object)?.get("properties")?.as_object()?;
    let fixed: &[&str] = if members.contains_key("code") {
        &ERROR
    } else {
        &ENVELOPE
    };
    let members: Vec<_> = members
        .iter()
        .filter(|(name, _)| !fixed.contains(&name.as_str()))
        .collect();
    let (name, schema) = any(&members, rng)?;
    Some((object, name.clone(), schema.clone()))
}

/// Returns the pointer of a member without a constant value.
pub(crate) fn any_value(root: &Root<'_>, rng: &mut Rng) -> Option<String> {
    let (object, name, schema) = any_member(root, rng)?;
    let at = mcp_json_schema::pointer::child(&format!("{object}/properties"), &name);
    schema.get("const").is_none().then_some(at)
}

pub(crate) fn any_definition(root: &Value, rng: &mut Rng) -> Option<String> {
    let (_, all) = definitions(root);
    let names = all?.keys().filter(|name| !name.starts_with("JSONRPC"));
    any(&names.cloned().collect::<Vec<_>>(), rng)
}

pub(crate) fn is_direction(name: &str) -> bool {
    ["Client", "Server"].iter().any(|side| name.starts_with(side))
        && ["Request", "Notification", "Result"]
            .iter()
            .any(|kind| name.ends_with(kind))
}

pub(crate) fn any_union(root: &Root<'_>, rng: &mut Rng) -> Option<(String, Vec<Value>)> {
    let is_union = |schema: &Value| schema["anyOf"].as_array().is_some_and(|variants| variants.len() > 1);
    let unions = root.unions.get_or_init(|| places(root, is_union));
    let union = any(unions, rng).filter(|at| !is_direction(at.rsplit('/').next().unwrap_or_default()))?;
    let variants = root.pointer(&union)?.get("anyOf")?.as_array()?.clone();
    Some((union, variants))
}

/// Returns a random name.
pub(crate) fn new_name(word: &str, rng: &mut Rng) -> String {
    const WORDS: [&str; 8] = ["Amber", "Basalt", "Cedar", "Dune", "Ember", "Fjord", "Garnet", "Heath"];
    format!("{word}{}{}", WORDS[rng.usize(..WORDS.len())], rng.u8(..))
}

pub(crate) fn new_member(rng: &mut Rng) -> String {
    // Names that aren't identifiers in Rust or TypeScript, or are reserved there.
    const ODD: [&str; 12] = [
        "type",
        "self",
        "async",
        "a b",
        "a/b",
        "a~b",
        "$ref",
        "x-été",
        "2nd",
        "Kind",
        "kind",
        "__proto__",
    ];
    if rng.u8(..8) == 0 {
        return ODD[rng.usize(..ODD.len())].to_owned();
    }
    let name = new_name("", rng);
    name[..1].to_lowercase() + &name[1..]
}

/// Returns the definitions of messages of a kind, and their methods.
pub(crate) fn messages(root: &Value, kind: &str) -> Vec<(String, String)> {
    let (_, all) = definitions(root);
    let all = all.into_iter().flatten();
    let found = all
        .filter(|(name, _)| name.ends_with(kind))
        .filter_map(|(name, schema)| {
            let method = schema.pointer("/properties/method/const")?.as_str()?;
            Some((name.clone(), method.to_owned()))
        });
    found.collect()
}
