//! Equality of JSON values. Numbers are compared by value, objects regardless of the order of their members.

use std::collections::HashSet;

use serde_json::Number;

use super::number::Exact;
use crate::json::Json;

pub(super) fn equal(left: &Json<'_>, right: &Json<'_>) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => equal_numbers(left, right),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(l, r)| equal(l, r))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|((name, l), (other, r))| name == other && equal(l, r))
        }
        _ => left == right,
    }
}

fn equal_numbers(left: &Number, right: &Number) -> bool {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left == right,
        _ => Exact::of(left) == Exact::of(right),
    }
}

/// Returns the indices of the first two equal elements, in time proportional to the size of the array.
pub(super) fn first_repetition(elements: &[Json<'_>]) -> Option<(usize, usize)> {
    let mut seen = HashSet::with_capacity(elements.len());
    let mut numbered = elements.iter().enumerate();
    let (again, repeated) = numbered.find(|(_, element)| !seen.insert(Canonical::of(element)))?;
    let first = elements.iter().position(|element| equal(element, repeated))?;
    Some((first, again))
}

/// A canonical form: equal values have the same form.
#[derive(PartialEq, Eq, Hash)]
enum Canonical<'a> {
    Null,
    Bool(bool),
    Number(Exact),
    String(&'a str),
    Array(Vec<Canonical<'a>>),
    /// Sorted by name.
    Object(Vec<(&'a str, Canonical<'a>)>),
}

impl<'a> Canonical<'a> {
    fn of(value: &'a Json<'_>) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => Self::Number(Exact::of(number)),
            Json::String(text) => Self::String(text),
            Json::Array(elements) => Self::Array(elements.iter().map(Self::of).collect()),
            Json::Object(members) => {
                let members = members.iter().map(|(name, member)| (name, Self::of(member)));
                Self::Object(members.collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(left: &Value, right: &Value) -> bool {
        super::equal(&Json::borrowed(left), &Json::borrowed(right))
    }
    use serde_json::{Value, json};

    #[test]
    fn numbers_are_equal_by_value_at_any_depth() {
        assert!(equal(&json!({"a": [1, 2.0]}), &json!({"a": [1.0, 2], }),));
        assert!(!equal(&json!(1), &json!(true)));
        assert!(!equal(&json!(0), &json!(false)));
        assert!(!equal(
            &json!(9_007_199_254_740_993_i64),
            &json!(9_007_199_254_740_992.0)
        ));
    }

    #[test]
    fn the_first_repetition_is_found_with_both_indices() {
        let elements = json!([
            1,
            {"a": 1, "b": 2},
            true,
            {"b": 2.0, "a": 1},
        ]);
        let Json::Array(elements) = Json::borrowed(&elements) else {
            panic!("an array")
        };
        assert_eq!(first_repetition(&elements), Some((1, 3)));
        assert_eq!(first_repetition(&elements[..3]), None);
    }
}
