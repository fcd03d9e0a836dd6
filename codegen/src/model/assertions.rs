//! Collects assertions: keywords that restrict a value more than its Rust type does.

use std::collections::BTreeSet;

use mcp_json_schema::pointer;
use serde_json::{Map, Value, json};

use super::declarations::declarations;
use super::type_ref::TypeRef;
use super::type_schema::{Assertion, Assertions};
use super::types::{Model, TypeKind};
use crate::normalise::{accepts_everything, follow, is_annotation, only_requires};

/// Keywords whose assertions the types express, and the one that is followed. All others are assertions, even if no schema
/// uses them yet, except annotations.
const SAID_BY_TYPES: [&str; 4] = ["$ref", "properties", "required", "type"];

/// The maximum number of references, intersections and containers on the way to an assertion.
const MAX_DEPTH: usize = 16;

/// The maximum depth of nested unions that are searched for strings.
const DEEPEST_UNION: usize = 4;

/// Returns the assertions of a type's schema at `at`, which is one of the type's places.
pub(super) fn of_type(model: &Model, root: &Value, at: &str) -> Assertions {
    collect(model, root, |collector| collector.schema(at, "", 0, Some(at)))
}

/// Returns the assertions of a member's schema, without those of the types that it refers to. Those of open JSON are also
/// described separately.
pub(super) fn of_member(model: &Model, root: &Value, at: &str, is_open: bool) -> Assertions {
    collect(model, root, |collector| {
        (collector.is_member, collector.is_open) = (true, is_open);
        collector.schema(at, "", 0, None);
    })
}

/// Returns all assertions of the schema of open JSON, since its type expresses none: those of the whole, or with
/// `around`, of a member.
pub(super) fn of_open_json(model: &Model, root: &Value, at: &str, around: &str) -> Assertions {
    collect(model, root, |collector| collector.open_json(at, around, 0))
}

fn collect(model: &Model, root: &Value, walk: impl FnOnce(&mut Collector<'_>)) -> Assertions {
    let mut collector = Collector::new(model, root);
    walk(&mut collector);
    Assertions::new(collector.found, collector.definitions)
}

struct Collector<'m> {
    model: &'m Model,
    root: &'m Value,
    found: BTreeSet<Assertion>,
    /// The definitions that the assertions refer to.
    definitions: BTreeSet<String>,
    /// The addresses of these definitions: it takes long to write each again that a large schema refers to often.
    written: BTreeSet<*const Value>,
    /// The visited schemas, with the keywords around them: an intersection can contain a schema several times.
    seen: BTreeSet<(String, String, bool)>,
    /// Whether the schema is that of a member, so that the type expresses its constant.
    is_member: bool,
    /// Whether the type is open JSON.
    is_open: bool,
}

impl<'m> Collector<'m> {
    fn new(model: &'m Model, root: &'m Value) -> Self {
        Self {
            model,
            root,
            found: BTreeSet::new(),
            definitions: BTreeSet::new(),
            written: BTreeSet::new(),
            seen: BTreeSet::new(),
            is_member: false,
            is_open: false,
        }
    }

    /// Collects the assertions of the schema at a pointer, to which the keywords `around` lead. A reference to an
    /// object or a union is followed only if the target is a part of the type, as in `allOf`: otherwise the assertions
    /// belong to the referenced type.
    fn schema(&mut self, at: &str, around: &str, depth: usize, whole: Option<&str>) {
        let (is_part, whole) = (whole.is_some(), whole.unwrap_or(at));
        let schema = pointer::resolve(self.root, at).and_then(Value::as_object);
        let Some(schema) = schema.filter(|_| depth < MAX_DEPTH) else {
            return;
        };
        if !self.seen.insert((at.to_owned(), around.to_owned(), is_part)) {
            return;
        }
        let target = schema.get("$ref").and_then(Value::as_str).and_then(pointer::canonical);
        if let Some(target) = target.filter(|target| is_part || !self.is_own_type(target)) {
            self.schema(&target, around, depth + 1, is_part.then_some(whole));
        }
        if !is_part {
            self.members(at, around, depth);
        }
        for (keyword, value) in schema {
            let inner = || format!("{around}{keyword}/");
            let child = || pointer::child(at, keyword);
            match (keyword.as_str(), value) {
                ("allOf", Value::Array(parts)) => {
                    for index in 0..parts.len() {
                        self.schema(&format!("{}/{index}", child()), around, depth + 1, Some(whole));
                    }
                }
                ("anyOf" | "oneOf", Value::Array(variants)) if !variants.iter().all(only_requires) => {
                    let is_enumeration = !schema.contains_key("enum") && self.are_strings(variants);
                    self.variants(&child(), &inner(), depth + 1, (variants, is_enumeration));
                    // Types don't express that a value is valid for only one variant, which depends on the definitions
                    // of all variants.
                    if keyword == "oneOf" {
                        let count = variants.len().to_string();
                        self.found.insert((format!("{around}{keyword}"), count));
                        self.definitions.insert(value.to_string());
                        self.add_definitions(value);
                    }
                }
                ("additionalProperties" | "items", value) if accepts_everything(value) => {}
                ("items", Value::Object(_)) => self.schema(&child(), &inner(), depth + 1, None),
                ("additionalProperties", Value::Object(_)) if is_map(schema) => {
                    self.schema(&child(), &inner(), depth + 1, None);
                }
                // Whether a type is closed is determined by the schema at its first place, not by a part of it.
                ("additionalProperties", Value::Bool(false))
                    if (depth == 0 || !is_part) && !is_map(schema) && self.other_place(at).is_none() => {}
                ("const", value) if self.is_expressed(std::slice::from_ref(value), around) => {}
                // A part of an intersection can have other values than the type.
                ("enum", Value::Array(values)) if (depth == 0 || !is_part) && self.is_expressed(values, around) => {}
                // A map declares no members, so its type can't require any.
                ("required", Value::Array(names)) if !self.is_open && declarations(self.root, whole).is_empty() => {
                    names.iter().for_each(|name| self.add(around, keyword, name));
                }
                (keyword, _) if is_annotation(keyword) || SAID_BY_TYPES.contains(&keyword) => {}
                _ => self.add(around, keyword, value),
            }
        }
    }

    /// Collects the assertions of the variants at a pointer. Those that list strings have none if all strings are one type.
    /// The variants of an inner union are variants of the outer one.
    fn variants(&mut self, at: &str, around: &str, depth: usize, (variants, is_enumeration): (&[Value], bool)) {
        let variants = variants.iter().enumerate();
        for (index, _) in variants.filter(|(_, variant)| !is_enumeration || !listed_strings(variant)) {
            let variant = format!("{at}/{index}");
            match self.is_open(&variant, 0) {
                true => self.open_json(&variant, around, depth),
                false => self.schema(&variant, around, depth, self.is_union(&variant).then_some(&variant)),
            }
        }
    }

    /// Collects all assertions of the schema at a pointer.
    fn open_json(&mut self, at: &str, around: &str, depth: usize) {
        let Some(schema) = pointer::resolve(self.root, at).filter(|schema| !accepts_everything(schema)) else {
            return;
        };
        let Some(keywords) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
            return self.add(around, "", schema);
        };
        for (keyword, value) in keywords {
            let child = |name: &str| pointer::child(&pointer::child(at, keyword), name);
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => self.reference(reference, around, depth),
                // The members of the whole are described separately.
                ("properties", Value::Object(_)) if around.is_empty() => {}
                ("properties", Value::Object(members)) => {
                    for name in members.keys() {
                        let around = format!("{}/", pointer::child(around, name));
                        self.open_json(&child(name), &around, depth + 1);
                    }
                }
                ("required", Value::Array(names)) => names.iter().for_each(|name| self.add(around, keyword, name)),
                ("additionalProperties" | "items", value)
                    if follow(self.root, value).is_some_and(accepts_everything) => {}
                ("additionalProperties" | "items", _) => {
                    // The keyword doesn't apply to members that the schema declares.
                    let named = ["properties", "patternProperties"].map(|keyword| schema.get(keyword)?.as_object());
                    let named: Vec<&String> = named.into_iter().flatten().flat_map(Map::keys).collect();
                    self.found
                        .insert((format!("{around}{keyword}"), json!(named).to_string()));
                    self.open_json(&pointer::child(at, keyword), &format!("{around}{keyword}/"), depth + 1);
                }
                ("allOf", Value::Array(parts)) => {
                    for index in 0..parts.len() {
                        self.open_json(&child(&index.to_string()), around, depth + 1);
                    }
                }
                (keyword, _) if is_annotation(keyword) => {}
                _ => self.add(around, keyword, value),
            }
        }
    }

    /// Collects the assertions of a definition that open JSON refers to. If it was visited before, as in a recursion,
    /// it is compared as a whole.
    fn reference(&mut self, reference: &str, around: &str, depth: usize) {
        let Some(target) = pointer::canonical(reference) else {
            return;
        };
        if self.seen.insert((target.clone(), String::new(), true)) {
            self.open_json(&target, around, depth + 1);
        } else if let Some(definition) = pointer::resolve(self.root, &target) {
            self.add(around, "$ref", definition);
        }
    }

    fn add(&mut self, around: &str, keyword: &str, value: &'m Value) {
        self.found.insert((format!("{around}{keyword}"), value.to_string()));
        self.add_definitions(value);
    }

    /// Adds the definitions that a value refers to, directly or indirectly.
    fn add_definitions(&mut self, value: &'m Value) {
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Array(elements) => waiting.extend(elements),
                Value::Object(members) => waiting.extend(members.values()),
                Value::String(reference) => {
                    let definition = pointer::canonical(reference).and_then(|at| pointer::resolve(self.root, &at));
                    let is_new = |definition: &&'m Value| {
                        self.written.insert(std::ptr::from_ref(*definition))
                            && self.definitions.insert(definition.to_string())
                    };
                    waiting.extend(definition.filter(is_new));
                }
                _ => {}
            }
        }
    }

    /// Collects the assertions about the type's members at this place that its first place doesn't have.
    fn members(&mut self, at: &str, around: &str, depth: usize) {
        let Some(first) = self.other_place(at) else { return };
        let [here, there] = [at, first].map(|at| {
            let mut collector = Collector::new(self.model, self.root);
            for (name, place) in declarations(self.root, at) {
                let around = format!("{around}properties/{name}/");
                collector.schema(&place, &around, depth + 1, None);
            }
            collector
        });
        self.found.extend(here.found.difference(&there.found).cloned());
        self.definitions.extend(here.definitions);
    }

    /// Returns the first place of the type whose schema is at a pointer, if that is another place.
    fn other_place(&self, at: &str) -> Option<&'m str> {
        let name = self.model.places.get(at).or_else(|| self.type_of_copy(at))?;
        Some(self.model.types.get(name)?.pointer.as_str()).filter(|first| *first != at)
    }

    /// Returns the type of a schema in an intersection. Its place is that of a copy, which the definition got for the
    /// merged intersection.
    fn type_of_copy(&self, at: &str) -> Option<&'m String> {
        let schema = pointer::resolve(self.root, at).filter(|_| at.contains("/allOf/"))?;
        let owner: Vec<&str> = at.splitn(4, '/').take(3).collect();
        let added = owner.join("/") + "/$defs/";
        let copies = self.model.places.range(added.clone()..);
        let mut copies = copies.take_while(|(place, _)| place.starts_with(&added));
        let copy = copies.find(|(place, _)| pointer::resolve(self.root, place) == Some(schema));
        copy.map(|(_, name)| name)
    }

    /// Whether the schema at a pointer is a definition of open JSON, or of lists or maps of it.
    fn is_open(&self, at: &str, depth: usize) -> bool {
        let Some(schema) = pointer::resolve(self.root, at).filter(|_| depth < MAX_DEPTH) else {
            return false;
        };
        let target = schema.get("$ref").and_then(Value::as_str).and_then(pointer::canonical);
        let name = target.and_then(|target| self.model.places.get(&target));
        let mut inner = ["additionalProperties", "items"].into_iter();
        name.is_some_and(|name| self.model.is_open(&TypeRef::Named(name.clone())))
            || inner
                .any(|keyword| schema.get(keyword).is_some() && self.is_open(&pointer::child(at, keyword), depth + 1))
    }

    /// Whether the type of a value expresses that it is one of these.
    fn is_expressed(&self, values: &[Value], around: &str) -> bool {
        match values {
            [Value::Null] => true,
            [single] => self.is_member && around.is_empty() && is_constant(single),
            _ => values.iter().all(|value| value.is_string() || value.is_null()),
        }
    }

    /// Whether several of these variants are strings, so that one type has the values of all of them.
    fn are_strings(&self, variants: &[Value]) -> bool {
        let strings = variants.iter().filter(|variant| self.is_string(variant, DEEPEST_UNION));
        strings.count() > 1
    }

    /// Whether a schema is that of strings, or a union with a variant that is.
    fn is_string(&self, schema: &Value, depth: usize) -> bool {
        let (Some(schema), Some(depth)) = (follow(self.root, schema), depth.checked_sub(1)) else {
            return false;
        };
        let variants = ["anyOf", "oneOf"].map(|keyword| schema.get(keyword).and_then(Value::as_array));
        let mut variants = variants.into_iter().flatten().flatten();
        listed_strings(schema)
            || schema.get("type") == Some(&json!("string"))
            || variants.any(|variant| self.is_string(variant, depth))
    }

    /// Whether the schema at a pointer refers to a union.
    fn is_union(&self, at: &str) -> bool {
        let target = pointer::resolve(self.root, at).and_then(|schema| schema.get("$ref")?.as_str());
        let name = target
            .and_then(pointer::canonical)
            .and_then(|target| self.model.places.get(&target));
        name.is_some_and(|name| matches!(self.model.kind(name), Some(TypeKind::Union(_))))
    }

    fn is_own_type(&self, at: &str) -> bool {
        let kind = self.model.places.get(at).and_then(|name| self.model.kind(name));
        kind.is_some_and(|kind| !matches!(kind, TypeKind::Alias(_) | TypeKind::Strings(_)))
    }
}

/// Whether an object is a map: it declares no members.
fn is_map(schema: &Map<String, Value>) -> bool {
    let declared = ["properties", "patternProperties"].map(|keyword| schema.get(keyword));
    declared.into_iter().flatten().all(|members| *members == json!({}))
}

/// Whether a type can express the value of `const`.
fn is_constant(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_)) && (!value.is_number() || value.is_i64())
}

/// Whether a schema lists the strings that it accepts.
fn listed_strings(schema: &Value) -> bool {
    let listed = schema.get("enum").and_then(Value::as_array);
    schema.get("const").is_some_and(Value::is_string)
        || listed.is_some_and(|values| values.iter().all(Value::is_string))
}
