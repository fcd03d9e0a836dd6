//! Finds the requirements of the schema that the types don't express. Conversions need them to determine which values
//! the other revision refuses.

use std::collections::BTreeMap;

use mcp_json_schema::pointer;
use serde_json::{Value, json};

use super::assertions;
use super::declarations::{declarations, places_of};
use super::type_schema::{Assertions, MemberSchema, OpenSchema, TypeSchema};
use super::types::{Model, TypeKind};
use crate::normalise::follow;

/// Adds the requirements of the schema that the types don't express to a model.
pub(super) fn describe_types(model: &mut Model, schema: &Value) {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (pointer, name) in &model.places {
        places.entry(name).or_default().push(pointer);
    }
    let described = model.types.iter().map(|(name, ty)| {
        let mut described = of_type(model, schema, &ty.pointer, &ty.kind);
        let others = places.get(name.as_str()).into_iter().flatten();
        for place in others.filter(|place| **place != ty.pointer) {
            let there = of_type(model, schema, place, &ty.kind);
            described.assertions.loosen(Some(&there.assertions));
            for (name, member) in &mut described.members {
                let there = there.members.get(name);
                member.assertions.loosen(there.map(|there| &there.assertions));
            }
        }
        described
    });
    let described: Vec<TypeSchema> = described.collect();
    for (ty, schema) in model.types.values_mut().zip(described) {
        ty.schema = schema;
    }
}

fn of_type(model: &Model, root: &Value, at: &str, kind: &TypeKind) -> TypeSchema {
    let schema = pointer::resolve(root, at).and_then(|schema| follow(root, schema));
    let schema = schema.unwrap_or(&Value::Null);
    let has = |keyword| schema.get(keyword).is_some();
    let mut assertions = assertions::of_type(model, root, at);
    let mut members = BTreeMap::new();
    if let TypeKind::Struct(object) = kind {
        let declarations = declarations(root, at);
        for member in &object.members {
            let places: Vec<String> = places_of(&declarations, &member.name).map(str::to_owned).collect();
            if !places.is_empty() {
                let is_open = model.is_open(&member.ty);
                members.insert(member.name.clone(), of_member(model, root, places, is_open));
            }
        }
        // Another part of an intersection can contradict a constant. In that case no value is valid.
        for constant in &object.constants {
            for place in places_of(&declarations, &constant.name) {
                let around = format!("properties/{}/", constant.name);
                assertions.extend(&around, assertions::of_member(model, root, place, false));
            }
        }
    }
    TypeSchema {
        assertions,
        closed: matches!(kind, TypeKind::Struct(_)) && schema.get("additionalProperties") == Some(&Value::Bool(false)),
        enumeration: match kind {
            TypeKind::Struct(_) => false,
            TypeKind::Strings(strings) => !strings.open,
            _ => ["enum", "const", "anyOf", "oneOf"].into_iter().any(has),
        },
        members,
    }
}

fn of_member(model: &Model, root: &Value, pointers: Vec<String>, is_open: bool) -> MemberSchema {
    let mut found = Assertions::default();
    for place in &pointers {
        found.extend("", assertions::of_member(model, root, place, is_open));
    }
    MemberSchema {
        assertions: found,
        open: is_open.then(|| open_schema(model, root, &pointers)),
        pointers,
    }
}

/// Returns all requirements of the schemas at these pointers, as if the type of their value were open JSON.
pub(crate) fn open_schema(model: &Model, root: &Value, pointers: &[String]) -> OpenSchema {
    let mut described = OpenSchema::default();
    for place in pointers {
        let asserted = assertions::of_open_json(model, root, place, "");
        described.assertions.extend("", asserted);
    }
    for (name, pointer) in pointers.iter().flat_map(|place| declarations(root, place)) {
        let asserted = assertions::of_open_json(model, root, &pointer, "properties/");
        let member = described.declared.entry(name.to_owned()).or_default();
        member.required = described.assertions.has("required", &json!(name));
        member.assertions.extend("", asserted);
        member.pointers.push(pointer);
    }
    described
}
