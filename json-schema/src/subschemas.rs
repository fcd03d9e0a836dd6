//! The schemas inside a schema.

use std::borrow::Cow;

use serde_json::Value;

use super::pointer;

/// The form in which a keyword contains schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applicator {
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// One schema, or in draft-07 a list of them: `items`.
    OneOrList,
    /// Schemas by name.
    Map,
    /// Schemas or lists of member names, by name: `dependencies`.
    MapOrNames,
}

impl Applicator {
    /// Returns the form of a keyword of either dialect. `None` if it doesn't contain schemas.
    #[must_use]
    pub fn of(keyword: &str) -> Option<Self> {
        Some(match keyword {
            "additionalItems"
            | "additionalProperties"
            | "contains"
            | "contentSchema"
            | "else"
            | "if"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::One,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Self::List,
            "items" => Self::OneOrList,
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => Self::Map,
            "dependencies" => Self::MapOrNames,
            _ => return None,
        })
    }

    fn holds_one(self, value: &Value) -> bool {
        matches!(self, Self::One | Self::OneOrList) && (value.is_object() || value.is_boolean())
    }

    fn holds_list(self) -> bool {
        matches!(self, Self::List | Self::OneOrList)
    }

    fn holds_member(self, value: &Value) -> bool {
        self == Self::Map || self == Self::MapOrNames && !value.is_array()
    }
}

/// A schema directly inside another.
#[derive(Debug, Clone, PartialEq)]
pub struct Subschema<'v> {
    /// The keyword.
    pub keyword: &'v str,
    /// The name or index of the schema, if the keyword holds several.
    pub key: Option<Cow<'v, str>>,
    /// The schema.
    pub schema: &'v Value,
}

impl Subschema<'_> {
    /// Extends the pointer of the outer schema to the pointer of this one.
    pub fn push_to(&self, pointer: &mut String) {
        pointer::push(pointer, self.keyword);
        if let Some(key) = &self.key {
            pointer::push(pointer, key);
        }
    }
}

/// Returns the schemas directly inside a schema. A value that isn't of the form that its keyword requires is left out.
pub fn subschemas(schema: &Value) -> impl Iterator<Item = Subschema<'_>> {
    schema.as_object().into_iter().flatten().flat_map(|(keyword, value)| {
        let mut found = Vec::new();
        let mut push = |key, schema| found.push(Subschema { keyword, key, schema });
        match (Applicator::of(keyword), value) {
            (Some(applicator), value) if applicator.holds_one(value) => push(None, value),
            (Some(applicator), Value::Array(list)) if applicator.holds_list() => {
                for (index, schema) in list.iter().enumerate() {
                    push(Some(Cow::Owned(index.to_string())), schema);
                }
            }
            (Some(applicator), Value::Object(map)) => {
                for (name, schema) in map.iter().filter(|(_, schema)| applicator.holds_member(schema)) {
                    push(Some(Cow::Borrowed(name)), schema);
                }
            }
            _ => {}
        }
        found
    })
}

/// Visits every schema of a document with its pointer. An outer schema comes before its inner schemas.
pub fn walk<'v>(document: &'v Value, mut visit: impl FnMut(&str, &'v Value)) {
    let mut pointer = "#".to_owned();
    visit(&pointer, document);
    // Each has the length of the pointer to the outer schema, which is a prefix of the pointer to it.
    let mut left: Vec<(usize, Subschema<'v>)> = Vec::new();
    let add = |left: &mut Vec<_>, outer: &str, schema| {
        let first = left.len();
        left.extend(subschemas(schema).map(|inner| (outer.len(), inner)));
        left[first..].reverse();
    };
    add(&mut left, &pointer, document);
    while let Some((outer, inner)) = left.pop() {
        pointer.truncate(outer);
        inner.push_to(&mut pointer);
        visit(&pointer, inner.schema);
        add(&mut left, &pointer, inner.schema);
    }
}

/// Changes a schema and all schemas inside it. Inner schemas come first, so that inserted schemas aren't changed again.
pub fn change_schemas(schema: &mut Value, change: &mut impl FnMut(&mut Value)) {
    for (keyword, value) in schema.as_object_mut().into_iter().flatten() {
        match (Applicator::of(keyword), value) {
            (Some(applicator), value) if applicator.holds_one(value) => change_schemas(value, change),
            (Some(applicator), Value::Array(list)) if applicator.holds_list() => {
                list.iter_mut().for_each(|inner| change_schemas(inner, change));
            }
            (Some(applicator), Value::Object(map)) => {
                let schemas = map.values_mut().filter(|schema| applicator.holds_member(schema));
                schemas.for_each(|inner| change_schemas(inner, change));
            }
            _ => {}
        }
    }
    change(schema);
}

/// Returns the schema at a pointer. `None` if the value there isn't a schema, such as the value of an enumeration.
#[must_use]
pub fn schema_at<'v>(document: &'v Value, pointer: &str) -> Option<&'v Value> {
    let mut tokens = pointer::tokens(pointer)?.into_iter();
    let mut schema = document;
    while let Some(keyword) = tokens.next() {
        let value = schema.get(&keyword)?;
        let applicator = Applicator::of(&keyword)?;
        schema = match value {
            value if applicator.holds_one(value) => value,
            Value::Array(list) if applicator.holds_list() => list.get(tokens.next()?.parse::<usize>().ok()?)?,
            Value::Object(map) => map
                .get(&tokens.next()?)
                .filter(|schema| applicator.holds_member(schema))?,
            _ => return None,
        };
    }
    (schema.is_object() || schema.is_boolean()).then_some(schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({
            "allOf": [{"items": [true, {"not": {}}]}],
            "const": {"not": {}},
            "dependencies": {"a": ["b"], "c/d": {}},
            "items": {"items": false},
            "properties": {"not": {"enum": [{}]}, "x": 1},
            "x-y": {"not": {}},
        })
    }

    const POINTERS: [&str; 10] = [
        "#",
        "#/allOf/0",
        "#/allOf/0/items/0",
        "#/allOf/0/items/1",
        "#/allOf/0/items/1/not",
        "#/dependencies/c~1d",
        "#/items",
        "#/items/items",
        "#/properties/not",
        "#/properties/x",
    ];

    #[test]
    fn schemas_are_visited_in_order_and_data_is_skipped() {
        let document = document();
        let mut visited = Vec::new();
        walk(&document, |pointer, schema| {
            visited.push(pointer.to_owned());
            assert_eq!(pointer::resolve(&document, pointer), Some(schema));
        });
        assert_eq!(visited, POINTERS);
    }

    #[test]
    fn schema_at_finds_schemas_and_nothing_else() {
        let document = document();
        for pointer in POINTERS.into_iter().filter(|pointer| *pointer != "#/properties/x") {
            assert_eq!(schema_at(&document, pointer), pointer::resolve(&document, pointer));
        }
        for pointer in [
            "#/properties/x",
            "#/properties",
            "#/const/not",
            "#/dependencies/a",
            "#/allOf/1",
            "#/x-y",
            "x",
        ] {
            assert_eq!(schema_at(&document, pointer), None, "{pointer}");
        }
    }

    #[test]
    fn every_schema_is_changed_once_inner_ones_first() {
        let mut document = document();
        let mut changed = 0;
        change_schemas(&mut document, &mut |schema| {
            changed += 1;
            *schema = json!({"not": changed, "const": schema.get("not").cloned()});
        });
        assert_eq!(changed, POINTERS.len());
        assert_eq!(document["not"], changed);
    }
}
