//! Finds what the schema says beyond the types: conversions need it to tell which values the other revision refuses.

use std::collections::{BTreeMap, BTreeSet};

use mcp_wire::json_schema::pointer;
use serde_json::Value;

use super::assertions;
use super::declarations::{declarations, places_of};
use super::type_ref::TypeRef;
use super::type_schema::{MemberSchema, TypeSchema};
use super::types::{Model, TypeKind};
use crate::normalise::follow;

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
            let declarations = declarations(self.root, at);
            for member in &object.members {
                let mut places = places_of(&declarations, &member.name);
                let Some(pointer) = places.next() else { continue };
                let mut described = self.of_member(model, pointer.to_owned(), &member.ty);
                for other in places {
                    let asserted = assertions::of_member(model, self.root, other);
                    described.assertions.extend("", asserted);
                    described.others.push(other.to_owned());
                }
                members.insert(member.name.clone(), described);
            }
            // What another part of an intersection asserts of a constant may be wrong of it. Then no value is valid.
            for constant in &object.constants {
                for place in places_of(&declarations, &constant.name) {
                    let around = format!("properties/{}/", constant.name);
                    assertions.extend(&around, assertions::of_member(model, self.root, place));
                }
            }
        }
        TypeSchema {
            assertions,
            closed: matches!(kind, TypeKind::Struct(_))
                && schema.get("additionalProperties") == Some(&Value::Bool(false)),
            enumeration: !matches!(kind, TypeKind::Struct(_))
                && ["enum", "const", "anyOf", "oneOf"].into_iter().any(has),
            members,
        }
    }

    fn of_member(&self, model: &Model, pointer: String, ty: &TypeRef) -> MemberSchema {
        let schema = self.follow(&pointer).unwrap_or(&Value::Null);
        let (mut optional, mut required, mut declared) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        if *model.resolve(ty) == TypeRef::RawObject {
            let declarations = declarations(self.root, &pointer);
            declared = declarations.iter().map(|(name, _)| (*name).to_owned()).collect();
            let first_place = |name: &str| declarations.iter().find(|(other, _)| *other == name);
            let must = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let must: BTreeSet<&str> = must.filter_map(Value::as_str).collect();
            let properties = schema.get("properties").and_then(Value::as_object);
            let names = properties.into_iter().flatten().map(|(name, _)| name);
            optional = names
                .filter(|name| !must.contains(name.as_str()))
                .filter_map(|name| Some((name.clone(), first_place(name)?.1.clone())))
                .collect();
            let said = |name: &str| self.follow(&first_place(name)?.1);
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

    /// The schema at a pointer, or that which it refers to.
    fn follow(&self, at: &str) -> Option<&Value> {
        follow(self.root, pointer::resolve(self.root, at)?)
    }
}
