//! Intersections: one schema that says what several say together.
//!
//! Only what decides a value's shape is merged; the judge keeps the intersection as it was written.

use serde_json::{Map, Value, json};

use super::references::resolve;

/// How many references may be followed within one intersection before it is taken for endless.
const LONGEST_CHAIN: usize = 64;

/// Merges `schema`, its `allOf` and what its `$ref` points at into one schema without either.
///
/// `None` where that can't be said in one schema: two unions, or an intersection that contains itself.
pub fn merge_intersection(root: &Value, schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut merged = Map::new();
    merge_into(root, &mut merged, schema, LONGEST_CHAIN).then_some(merged)
}

fn merge_into(root: &Value, merged: &mut Map<String, Value>, part: &Map<String, Value>, budget: usize) -> bool {
    let Some(budget) = budget.checked_sub(1) else {
        return false;
    };
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        match resolve(root, reference) {
            Some(Value::Object(target)) => {
                if !merge_into(root, merged, target, budget) {
                    return false;
                }
            }
            Some(Value::Bool(true)) => {}
            _ => return false,
        }
    }
    for inner in part.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        match inner {
            Value::Object(inner) => {
                if !merge_into(root, merged, inner, budget) {
                    return false;
                }
            }
            Value::Bool(true) => {}
            _ => return false,
        }
    }
    part.iter()
        .filter(|(keyword, _)| !matches!(keyword.as_str(), "$ref" | "allOf" | "$defs" | "definitions"))
        .all(|(keyword, value)| merge_keyword(merged, keyword, value))
}

fn merge_keyword(merged: &mut Map<String, Value>, keyword: &str, value: &Value) -> bool {
    let Some(present) = merged.get_mut(keyword) else {
        merged.insert(keyword.to_owned(), value.clone());
        return true;
    };
    if present == value {
        return true;
    }
    match keyword {
        "properties" => merge_properties(present, value),
        "required" => {
            if let (Value::Array(present), Value::Array(added)) = (present, value) {
                let missing: Vec<_> = added.iter().filter(|name| !present.contains(name)).cloned().collect();
                present.extend(missing);
            }
            true
        }
        "type" => intersect_types(present, value),
        "enum" => {
            if let (Value::Array(present), Value::Array(other)) = (present, value) {
                present.retain(|value| other.contains(value));
            }
            true
        }
        "items" | "additionalProperties" => {
            *present = json!({"allOf": [present.take(), value]});
            true
        }
        // Two unions, or two different constants: no single schema says both.
        "anyOf" | "oneOf" | "const" => false,
        // Bounds, patterns and annotations don't change the shape.
        _ => true,
    }
}

fn merge_properties(present: &mut Value, added: &Value) -> bool {
    if let (Value::Object(present), Value::Object(added)) = (present, added) {
        for (name, schema) in added {
            match present.get_mut(name) {
                None => {
                    present.insert(name.clone(), schema.clone());
                }
                Some(other) if other == schema => {}
                Some(other) => *other = json!({"allOf": [other.take(), schema]}),
            }
        }
    }
    true
}

fn intersect_types(present: &mut Value, other: &Value) -> bool {
    let list = |value: &Value| match value {
        Value::Array(types) => types.clone(),
        single => vec![single.clone()],
    };
    let (left, right) = (list(present), list(other));
    let mut both: Vec<Value> = left.iter().filter(|kind| right.contains(kind)).cloned().collect();
    // An integer is a number.
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
