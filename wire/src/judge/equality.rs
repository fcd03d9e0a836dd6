//! When two JSON values are the same: numbers by their value, objects whatever their order.

use std::collections::HashSet;

use serde_json::{Number, Value};

use super::number::Exact;

pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => equal_numbers(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, l)| right.get(name).is_some_and(|r| equal(l, r)))
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

/// The indices of the first two elements that are the same, in time proportional to the size of the array.
pub(super) fn first_repetition(elements: &[Value]) -> Option<(usize, usize)> {
    let mut seen = HashSet::with_capacity(elements.len());
    let again = elements
        .iter()
        .position(|element| !seen.insert(Canonical::of(element)))?;
    let first = elements.iter().position(|element| equal(element, &elements[again]))?;
    Some((first, again))
}

/// A value in the one form that all its equals have.
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
    fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(Exact::of(number)),
            Value::String(text) => Self::String(text),
            Value::Array(elements) => Self::Array(elements.iter().map(Self::of).collect()),
            Value::Object(members) => {
                let mut members: Vec<_> = members
                    .iter()
                    .map(|(name, member)| (name.as_str(), Self::of(member)))
                    .collect();
                members.sort_unstable_by_key(|(name, _)| *name);
                Self::Object(members)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    fn the_first_repetition_names_both_elements() {
        let elements = [
            json!(1),
            json!({"a": 1, "b": 2}),
            json!(true),
            json!({"b": 2.0, "a": 1}),
        ];
        assert_eq!(first_repetition(&elements), Some((1, 3)));
        assert_eq!(first_repetition(&elements[..3]), None);
    }
}
