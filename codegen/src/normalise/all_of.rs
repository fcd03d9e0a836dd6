//! Intersections: merges several schemas into one.
//!
//! Only the keywords that determine a value's shape are merged; the validator uses the intersection as it was written.

use serde_json::{Map, Value, json};

use super::references::resolve;

/// The maximum number of nested references and intersections, after which an intersection is considered recursive.
const LONGEST_CHAIN: usize = 64;

/// The intersections of a document.
pub(super) struct Intersections<'s> {
    pub(super) root: &'s Value,
    /// Whether keywords next to `$ref` apply: not in draft-07.
    pub(super) siblings_apply: bool,
}

impl Intersections<'_> {
    /// Merges `schema`, its `allOf` and the target of its `$ref` into one schema without either.
    ///
    /// Returns `None` if one schema can't express it: two unions, or an intersection that contains itself.
    pub(super) fn merged(&self, schema: &Map<String, Value>) -> Option<Map<String, Value>> {
        let mut merged = Map::new();
        self.merge_into(&mut merged, schema, LONGEST_CHAIN).then_some(merged)
    }

    fn merge_into(&self, merged: &mut Map<String, Value>, part: &Map<String, Value>, budget: usize) -> bool {
        let Some(budget) = budget.checked_sub(1) else {
            return false;
        };
        if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
            let target = resolve(self.root, reference);
            if !target.is_some_and(|target| self.merge_schema(merged, target, budget)) {
                return false;
            }
            if !self.siblings_apply {
                return true;
            }
        }
        let mut all_of = part.get("allOf").and_then(Value::as_array).into_iter().flatten();
        if !all_of.all(|inner| self.merge_schema(merged, inner, budget)) {
            return false;
        }
        part.iter()
            .filter(|(keyword, _)| !matches!(keyword.as_str(), "$ref" | "allOf" | "$defs" | "definitions"))
            .all(|(keyword, value)| merge_keyword(merged, keyword, value))
    }

    fn merge_schema(&self, merged: &mut Map<String, Value>, schema: &Value, budget: usize) -> bool {
        match schema {
            Value::Object(schema) => self.merge_into(merged, schema, budget),
            other => *other == Value::Bool(true),
        }
    }
}

fn merge_keyword(merged: &mut Map<String, Value>, keyword: &str, value: &Value) -> bool {
    let Some(present) = merged.get_mut(keyword) else {
        merged.insert(keyword.to_owned(), value.clone());
        return true;
    };
    if present == value {
        return true;
    }
    match (keyword, present, value) {
        ("properties", Value::Object(present), Value::Object(added)) => merge_properties(present, added),
        ("required", Value::Array(present), Value::Array(added)) => {
            let missing: Vec<_> = added.iter().filter(|name| !present.contains(name)).cloned().collect();
            present.extend(missing);
        }
        ("type", present, other) => return intersect_types(present, other),
        ("enum", Value::Array(present), Value::Array(other)) => present.retain(|value| other.contains(value)),
        ("items" | "additionalProperties", present, value) => *present = json!({"allOf": [present.take(), value]}),
        // Two unions, or two different constants, can't be expressed in one schema.
        ("anyOf" | "oneOf" | "const", ..) => return false,
        // Bounds, patterns and annotations don't change the shape.
        _ => {}
    }
    true
}

fn merge_properties(present: &mut Map<String, Value>, added: &Map<String, Value>) {
    for (name, schema) in added {
        match present.get_mut(name) {
            None => drop(present.insert(name.clone(), schema.clone())),
            Some(other) if other == schema || accepts_everything(schema) => {}
            Some(other) if accepts_everything(other) => *other = schema.clone(),
            Some(other) => {
                // The instructions of the overlay apply to the member, wherever it is declared.
                let parts = [&*other, schema].map(Value::as_object).into_iter().flatten().flatten();
                let instructions = parts.filter(|(keyword, _)| keyword.starts_with("x-"));
                let mut both: Map<String, Value> = instructions
                    .map(|(keyword, value)| (keyword.clone(), value.clone()))
                    .collect();
                both.insert("allOf".to_owned(), json!([other.take(), schema]));
                *other = Value::Object(both);
            }
        }
    }
}

/// Whether a schema accepts everything: without keywords, or as some generators write an optional value of any type.
pub(crate) fn accepts_everything(schema: &Value) -> bool {
    let accepts = |(keyword, value): (&String, &Value)| match (keyword.as_str(), value) {
        ("anyOf", Value::Array(variants)) => variants.iter().any(accepts_everything),
        ("default", _) => true,
        _ => false,
    };
    match schema {
        Value::Object(keywords) => keywords.iter().all(accepts),
        other => *other == Value::Bool(true),
    }
}

fn intersect_types(present: &mut Value, other: &Value) -> bool {
    let list = |value: &Value| match value {
        Value::Array(types) => types.clone(),
        single => vec![single.clone()],
    };
    let (left, right) = (list(present), list(other));
    let mut both: Vec<Value> = left.iter().filter(|kind| right.contains(kind)).cloned().collect();
    // The intersection of `integer` and `number` is `integer`.
    for (one, two) in [(&left, &right), (&right, &left)] {
        if one.contains(&json!("integer")) && two.contains(&json!("number")) && !both.contains(&json!("integer")) {
            both.push(json!("integer"));
        }
    }
    match both.as_slice() {
        [] => return false,
        [single] => *present = single.clone(),
        _ => *present = Value::Array(both),
    }
    true
}
