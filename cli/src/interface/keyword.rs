//! Comparison of schema keywords: whether one allows more or fewer values than before.

use serde_json::Value;

/// The change in the set of values that a schema allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    More,
    Fewer,
    /// Some values are no longer allowed, and others are new.
    Others,
}

impl Values {
    fn between(allows_more: bool, allows_fewer: bool) -> Option<Self> {
        match (allows_more, allows_fewer) {
            (true, true) => Some(Self::Others),
            (true, false) => Some(Self::More),
            (false, true) => Some(Self::Fewer),
            (false, false) => None,
        }
    }
}

/// The types that JSON Schema distinguishes. An integer is also a number.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// The effect of a change of `type`.
pub fn types(before: Option<&Value>, after: Option<&Value>) -> Option<Values> {
    let allowed = |kinds: Option<&Value>, kind: &str| kinds.is_none_or(|kinds| allows(kinds, kind));
    let is_new = |kind: &&str| !allowed(before, kind) && allowed(after, kind);
    let is_gone = |kind: &&str| allowed(before, kind) && !allowed(after, kind);
    Values::between(TYPES.iter().any(is_new), TYPES.iter().any(is_gone))
}

/// The type of a value.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether a value has one of the types in `type`.
pub fn is_of_types(kinds: &Value, value: &Value) -> bool {
    allows(kinds, kind_of(value))
}

fn allows(kinds: &Value, kind: &str) -> bool {
    let is_it = |allowed: &Value| allowed == kind || (kind == "integer" && allowed == "number");
    match kinds {
        Value::Array(kinds) => kinds.iter().any(is_it),
        only => is_it(only),
    }
}

/// The effect of a change of any other keyword: each keyword excludes values, and a tighter bound excludes more. For
/// some keywords, `false` excludes all.
pub fn bounds(keyword: &str, before: Option<&Value>, after: Option<&Value>) -> Option<Values> {
    let (Some(before), Some(after)) = (before, after) else {
        return Values::between(before.is_some(), after.is_some());
    };
    if same(before, after) {
        return None;
    }
    if ["additionalProperties", "items"].contains(&keyword) && (*before == false || *after == false) {
        return Values::between(*before == false, *after == false);
    }
    let rises = before
        .as_f64()
        .zip(after.as_f64())
        .map(|(before, after)| before < after);
    match (rises, is_minimum(keyword), is_maximum(keyword)) {
        (Some(rises), true, _) => Values::between(!rises, rises),
        (Some(rises), _, true) => Values::between(rises, !rises),
        _ => Some(Values::Others),
    }
}

fn is_minimum(keyword: &str) -> bool {
    ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"].contains(&keyword)
}

fn is_maximum(keyword: &str) -> bool {
    ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"].contains(&keyword)
}

/// Whether two values are equal, regardless of how their numbers are written.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |(name, value): (&String, &Value)| other.get(name).is_some_and(|it| same(value, it));
            one.len() == other.len() && one.iter().all(is_there)
        }
        _ => one == other,
    }
}
