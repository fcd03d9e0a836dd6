//! A revision on one side of a conversion, and what its schema says beyond its types.

use std::collections::BTreeMap;

use mcp_wire::json_schema::pointer;
use serde_json::Value;

use crate::model::{Model, TypeRef};

/// Keywords that say more about a value than its Rust type does.
const ASSERTIONS: [&str; 14] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "propertyNames",
];

/// How many references are followed to a schema.
const MAX_REFERENCES: usize = 16;

/// A revision on one side of a conversion.
#[derive(Clone, Copy)]
pub struct Side<'m> {
    /// Its model.
    pub model: &'m Model,
    /// The schema that its validator keeps.
    pub schema: &'m Value,
}

impl Side<'_> {
    /// Where the schema says what a member of a type must be, through references and `allOf`.
    pub(super) fn member_pointer(&self, ty: &str, member: &str) -> Option<String> {
        let pointer = &self.model.types.get(ty)?.pointer;
        self.property_pointer(pointer, member)
    }

    /// Where the schema at a pointer declares a member.
    pub(super) fn property_pointer(&self, pointer: &str, member: &str) -> Option<String> {
        self.property(pointer, member, 0)
    }

    /// The members that the schema at a pointer declares and doesn't require.
    pub(super) fn optional_properties(&self, pointer: &str) -> Vec<&str> {
        let list = |keyword| self.follow(pointer).and_then(|schema| schema.get(keyword));
        let required = list("required")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let declared = list("properties").and_then(Value::as_object).into_iter().flatten();
        let names = declared.map(|(name, _)| name.as_str());
        names
            .filter(|name| !required.iter().any(|other| other == name))
            .collect()
    }

    fn property(&self, pointer: &str, member: &str, depth: usize) -> Option<String> {
        if depth > MAX_REFERENCES {
            return None;
        }
        let schema = self.schema.pointer(pointer.strip_prefix('#')?)?;
        if schema
            .get("properties")
            .and_then(|members| members.get(member))
            .is_some()
        {
            let at = pointer::child(pointer, "properties");
            return Some(pointer::child(&at, member));
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return self.property(target, member, depth + 1);
        }
        let parts = schema.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
        (0..parts).find_map(|index| self.property(&format!("{pointer}/allOf/{index}"), member, depth + 1))
    }

    /// What a schema asserts beyond the type, through references.
    pub(super) fn assertions(&self, pointer: &str) -> BTreeMap<&'static str, &Value> {
        let Some(schema) = self.follow(pointer) else {
            return BTreeMap::new();
        };
        ASSERTIONS
            .iter()
            .filter_map(|keyword| Some((*keyword, schema.get(*keyword)?)))
            .collect()
    }

    pub(super) fn is_closed(&self, pointer: &str) -> bool {
        let schema = self.follow(pointer);
        schema.and_then(|schema| schema.get("additionalProperties")) == Some(&Value::Bool(false))
    }

    /// Whether the schema enumerates a type's values, so that no other is valid.
    pub(super) fn is_enumeration(&self, ty: &TypeRef) -> bool {
        let TypeRef::Named(name) = self.model.resolve(ty) else {
            return false;
        };
        let schema = self.model.types.get(name).and_then(|ty| self.follow(&ty.pointer));
        schema.is_some_and(|schema| {
            schema.get("enum").is_some()
                || schema.get("const").is_some()
                || schema.get("anyOf").is_some()
                || schema.get("oneOf").is_some()
        })
    }

    fn follow(&self, pointer: &str) -> Option<&Value> {
        let mut schema = self.schema.pointer(pointer.strip_prefix('#')?)?;
        for _ in 0..MAX_REFERENCES {
            match schema
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|target| target.strip_prefix('#'))
            {
                Some(target) => schema = self.schema.pointer(target)?,
                None => break,
            }
        }
        Some(schema)
    }
}
