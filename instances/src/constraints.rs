//! The constraints of one value: all schemas that apply to it, with one branch chosen for each union, and references
//! followed.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use crate::document::{Document, list};

/// A type of JSON value, with integers distinguished from other numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    pub(crate) const ALL: [Self; 7] = [
        Self::Null,
        Self::Boolean,
        Self::Integer,
        Self::Number,
        Self::String,
        Self::Array,
        Self::Object,
    ];

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    fn is_named(self, name: &str) -> bool {
        match self {
            Self::Null => name == "null",
            Self::Boolean => name == "boolean",
            Self::Integer => name == "integer" || name == "number",
            Self::Number => name == "number",
            Self::String => name == "string",
            Self::Array => name == "array",
            Self::Object => name == "object",
        }
    }

    /// Whether a keyword applies only to values of this type.
    fn is_constrained_by(self, keyword: &str) -> bool {
        match keyword {
            "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "unevaluatedProperties" => self == Self::Object,
            "items" | "prefixItems" | "additionalItems" | "contains" | "minItems" | "maxItems" | "uniqueItems"
            | "unevaluatedItems" => self == Self::Array,
            "pattern" | "minLength" | "maxLength" | "format" => self == Self::String,
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                matches!(self, Self::Integer | Self::Number)
            }
            _ => false,
        }
    }
}

/// A conjunction of schemas. The unions and references in each are ignored, since the schemas they lead to are part of
/// the conjunction.
#[derive(Default)]
pub(crate) struct Constraints<'a> {
    /// The schemas.
    pub(crate) schemas: Vec<&'a Map<String, Value>>,
    /// Members that are required because of an earlier choice.
    pub(crate) present: BTreeSet<&'a str>,
    /// Members that are forbidden because of an earlier choice.
    pub(crate) absent: BTreeSet<&'a str>,
    /// The addresses of the visited schemas, which end cycles of references.
    pub(crate) visited: HashSet<usize>,
}

impl<'a> Constraints<'a> {
    /// Returns the value of a keyword in each schema.
    pub(crate) fn each(&self, keyword: &str) -> impl Iterator<Item = &'a Value> {
        self.schemas.iter().filter_map(move |schema| schema.get(keyword))
    }

    /// Returns the largest value of a keyword such as `minItems`, or zero.
    pub(crate) fn at_least(&self, keyword: &str) -> usize {
        self.each(keyword).filter_map(count).max().unwrap_or(0)
    }

    /// Returns the smallest value of a keyword such as `maxItems`, if there is one.
    pub(crate) fn at_most(&self, keyword: &str) -> Option<usize> {
        self.each(keyword).filter_map(count).min()
    }

    /// Returns the types that every schema allows.
    pub(crate) fn types(&self) -> Vec<JsonType> {
        let allows = |types: &Value, json_type: JsonType| match types {
            Value::Array(names) => names
                .iter()
                .filter_map(Value::as_str)
                .any(|name| json_type.is_named(name)),
            types => types.as_str().is_some_and(|name| json_type.is_named(name)),
        };
        let allowed = |json_type: &JsonType| self.each("type").all(|types| allows(types, *json_type));
        JsonType::ALL.into_iter().filter(allowed).collect()
    }

    /// Returns the types to which at least one keyword applies.
    pub(crate) fn hinted_types(&self) -> Vec<JsonType> {
        let keywords = || self.schemas.iter().flat_map(|schema| schema.keys());
        JsonType::ALL
            .into_iter()
            .filter(|json_type| keywords().any(|keyword| json_type.is_constrained_by(keyword)))
            .collect()
    }

    /// Returns the values that `const` and `enum` allow, with the location that lists them; `None` without these
    /// keywords.
    pub(crate) fn listed(&self) -> Option<(&'a Value, Vec<&'a Value>)> {
        let lists = self.schemas.iter().flat_map(|schema| {
            let constant = schema.get("const").map(|value| (value, std::slice::from_ref(value)));
            let listed = schema.get("enum").map(|values| (values, list(schema, "enum")));
            constant.into_iter().chain(listed)
        });
        let lists: Vec<(&Value, &[Value])> = lists.collect();
        let (location, first) = lists.iter().min_by_key(|(_, values)| values.len())?;
        let types = self.types();
        let everywhere = |value: &&Value| {
            let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
            let fits = types.contains(&JsonType::of(value)) || (whole && types.contains(&JsonType::Integer));
            fits && lists.iter().all(|(_, values)| values.contains(value))
        };
        Some((location, first.iter().filter(everywhere).collect()))
    }

    /// Returns the schemas that apply to the member with this name.
    pub(crate) fn member(&self, name: &str, document: &Document) -> Vec<&'a Value> {
        let mut found = Vec::new();
        for schema in &self.schemas {
            let before = found.len();
            found.extend(declared(schema, name));
            found.extend(patterned(schema, name, document));
            if found.len() == before {
                found.extend(schema.get("additionalProperties"));
            }
        }
        if found.is_empty() {
            found.extend(self.each("unevaluatedProperties"));
        }
        found
    }

    /// Returns the schemas that apply to the item at this index.
    pub(crate) fn item(&self, index: usize) -> Vec<&'a Value> {
        let mut found = Vec::new();
        for schema in &self.schemas {
            let items = schema.get("items");
            // A tuple is `prefixItems` followed by `items`, or in older dialects, an array of `items` followed by
            // `additionalItems`.
            let (tuple, rest) = match items.and_then(Value::as_array) {
                Some(tuple) => (tuple.as_slice(), schema.get("additionalItems")),
                None => (list(schema, "prefixItems"), items),
            };
            found.extend(tuple.get(index).or(rest));
        }
        if found.is_empty() {
            found.extend(self.each("unevaluatedItems"));
        }
        found
    }

    /// Returns the names of the declared members, in the order of their first declaration.
    pub(crate) fn declared_names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        let declared = self
            .each("properties")
            .filter_map(Value::as_object)
            .flat_map(Map::keys)
            .map(String::as_str);
        for name in declared.chain(self.required_names()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the names of the required members.
    pub(crate) fn required_names(&self) -> impl Iterator<Item = &'a str> {
        let required = self
            .each("required")
            .filter_map(Value::as_array)
            .flatten()
            .filter_map(Value::as_str);
        required.chain(self.present.iter().copied())
    }

    /// Returns the names of the members that are required if the named one is present.
    pub(crate) fn dependents(&self, name: &str) -> Vec<&'a str> {
        let dependencies = self.each("dependentRequired").chain(self.each("dependencies"));
        let names = dependencies.filter_map(|dependencies| dependencies.get(name)?.as_array());
        names.flatten().filter_map(Value::as_str).collect()
    }
}

fn declared<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn patterned<'a>(schema: &'a Map<String, Value>, name: &str, document: &Document) -> impl Iterator<Item = &'a Value> {
    let patterns = schema
        .get("patternProperties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    patterns
        .filter(move |(pattern, _)| document.matches(pattern, name))
        .map(|(_, schema)| schema)
}

/// Reads a count, which can also be written as `3.0`.
fn count(value: &Value) -> Option<usize> {
    let whole = value
        .as_u64()
        .or_else(|| value.as_f64().filter(|count| *count >= 0.0).map(|count| count as u64))?;
    usize::try_from(whole).ok()
}
