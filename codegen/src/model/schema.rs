//! Finds what the schema says beyond the types: conversions need it to tell which values the other revision refuses.

use std::collections::{BTreeMap, BTreeSet};

use mcp_wire::json_schema::pointer;
use serde_json::Value;

use super::assertions;
use super::type_ref::TypeRef;
use super::type_schema::{MemberSchema, TypeSchema};
use super::types::{Model, TypeKind};
use crate::normalise::follow;

/// How many references and intersections lead to a member.
const MAX_DEPTH: usize = 16;

/// Puts what the schema says beyond the types into a model.
pub(super) fn describe_types(model: &mut Model, schema: &Value) {
    let schema = Schema { root: schema };
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (pointer, name) in &model.places {
        places.entry(name).or_default().push(pointer);
    }
    let described = model.types.iter().map(|(name, ty)| {
        let mut described = schema.of_type(model, &ty.pointer, &ty.kind);
        let others = places.get(name.as_str()).into_iter().flatten();
        for place in others.filter(|place| **place != ty.pointer) {
            let there = schema.of_type(model, place, &ty.kind);
            described.assertions.loosen(Some(&there.assertions));
            for (name, member) in &mut described.members {
                member
                    .assertions
                    .loosen(there.members.get(name).map(|there| &there.assertions));
            }
        }
        (name.clone(), described)
    });
    let described: BTreeMap<String, TypeSchema> = described.collect();
    for (name, ty) in &mut model.types {
        ty.schema = described.get(name).cloned().unwrap_or_default();
    }
}

struct Schema<'s> {
    root: &'s Value,
}

impl Schema<'_> {
    fn of_type(&self, model: &Model, at: &str, kind: &TypeKind) -> TypeSchema {
        let schema = self.follow(at).unwrap_or(&Value::Null);
        let has = |keyword| schema.get(keyword).is_some();
        let mut assertions = assertions::of_type(model, self.root, at);
        let mut members = BTreeMap::new();
        if let TypeKind::Struct(object) = kind {
            for member in &object.members {
                let mut places = self.properties_of(at, &member.name).into_iter();
                if let Some(pointer) = places.next() {
                    let mut described = self.of_member(model, pointer, &member.ty);
                    described.others = places.collect();
                    for other in &described.others {
                        described
                            .assertions
                            .extend("", assertions::of_member(model, self.root, other));
                    }
                    members.insert(member.name.clone(), described);
                }
            }
            // What another part of an intersection asserts of a constant may be wrong of it. Then no value is valid.
            for constant in &object.constants {
                for place in self.properties_of(at, &constant.name) {
                    let around = format!("properties/{}/", constant.name);
                    assertions.extend(&around, assertions::of_member(model, self.root, &place));
                }
            }
        }
        TypeSchema {
            assertions,
            closed: matches!(kind, TypeKind::Struct(_))
                && schema.get("additionalProperties") == Some(&Value::Bool(false)),
            enumeration: ["enum", "const", "anyOf", "oneOf"].into_iter().any(has),
            members,
        }
    }

    fn of_member(&self, model: &Model, pointer: String, ty: &TypeRef) -> MemberSchema {
        let schema = self.follow(&pointer).unwrap_or(&Value::Null);
        let (mut optional, mut required, mut declared) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        if *model.resolve(ty) == TypeRef::RawObject {
            self.declared(&pointer, 0, &mut declared);
            let must = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let must: BTreeSet<&str> = must.filter_map(Value::as_str).collect();
            let properties = schema.get("properties").and_then(Value::as_object);
            let names = properties.into_iter().flatten().map(|(name, _)| name);
            optional = names
                .filter(|name| !must.contains(name.as_str()))
                .filter_map(|name| Some((name.clone(), self.property(&pointer, name)?)))
                .collect();
            let said = |name: &str| self.follow(&self.property(&pointer, name)?);
            required = must
                .into_iter()
                .map(|name| (name.to_owned(), said(name).cloned().unwrap_or(Value::Bool(true))))
                .collect();
        }
        MemberSchema {
            assertions: assertions::of_member(model, self.root, &pointer),
            pointer,
            others: Vec::new(),
            optional,
            required,
            declared,
        }
    }

    /// Where the schema at a pointer declares a member first, through references and `allOf`.
    fn property(&self, at: &str, member: &str) -> Option<String> {
        self.properties_of(at, member).into_iter().next()
    }

    /// All places where the schema at a pointer declares a member.
    fn properties_of(&self, at: &str, member: &str) -> Vec<String> {
        let mut found = Vec::new();
        self.properties(at, member, 0, &mut found);
        found
    }

    /// Collects all places where the schema at a pointer declares a member, through references and `allOf`.
    fn properties(&self, at: &str, member: &str, depth: usize, found: &mut Vec<String>) {
        let Some(schema) = self.at(at, depth) else {
            return;
        };
        let properties = schema.get("properties");
        if properties.and_then(|members| members.get(member)).is_some() {
            found.push(pointer::child(&pointer::child(at, "properties"), member));
        }
        for part in self.parts(at, schema) {
            self.properties(&part, member, depth + 1, found);
        }
    }

    /// Collects the members that the schema at a pointer declares, through references and `allOf`.
    fn declared(&self, at: &str, depth: usize, found: &mut BTreeSet<String>) {
        let Some(schema) = self.at(at, depth) else {
            return;
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        found.extend(properties.into_iter().flatten().map(|(name, _)| name.clone()));
        for part in self.parts(at, schema) {
            self.declared(&part, depth + 1, found);
        }
    }

    fn at(&self, at: &str, depth: usize) -> Option<&Value> {
        pointer::resolve(self.root, at).filter(|_| depth <= MAX_DEPTH)
    }

    /// The schema that a schema refers to, or else those that it is an intersection of.
    fn parts(&self, at: &str, schema: &Value) -> Vec<String> {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return pointer::canonical(target).into_iter().collect();
        }
        let count = schema.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
        (0..count).map(|index| format!("{at}/allOf/{index}")).collect()
    }

    /// The schema at a pointer, or that which it refers to.
    fn follow(&self, at: &str) -> Option<&Value> {
        follow(self.root, pointer::resolve(self.root, at)?)
    }
}
