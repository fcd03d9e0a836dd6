//! Arrays: tuples, lists, and lists with `contains`.

use serde_json::{Value, json};

use super::Generator;
use crate::constraints::Constraints;

/// The maximum number of items of a list beyond its minimum.
const EXTRA: usize = 3;

/// The number of attempts to make an item that differs from all others.
const REPEATS: usize = 16;

impl<'a> Generator<'a> {
    pub(super) fn array(&mut self, constraints: &Constraints<'a>, depth: usize) -> Option<Value> {
        let contained: Vec<&Value> = constraints.each("contains").collect();
        let containing = match constraints.at_least("minContains") {
            0 if constraints.each("minContains").next().is_some() => 0,
            least => least.max(1) * usize::from(!contained.is_empty()),
        };
        let low = constraints.at_least("minItems").max(containing);
        let high = constraints.at_most("maxItems").unwrap_or(usize::MAX);
        if low > high {
            return None;
        }
        let length = if self.must_end(depth) {
            low
        } else {
            self.length(constraints, low, high)
        };
        let unique = constraints
            .each("uniqueItems")
            .any(|unique| unique == &Value::Bool(true));

        let mut items: Vec<Value> = Vec::new();
        for index in 0..length {
            let mut schemas = constraints.item(index);
            if index < containing {
                schemas.extend(&contained);
            }
            if schemas.is_empty() {
                schemas.push(&Value::Bool(true));
            }
            let tries = if unique { REPEATS } else { 1 };
            let item = (0..tries)
                .filter_map(|_| self.value(&schemas, depth + 1))
                .find(|item| !unique || !items.contains(item));
            match item {
                Some(item) => items.push(item),
                None if items.len() >= low => break,
                None => return None,
            }
        }
        Some(json!(items))
    }

    fn length(&mut self, constraints: &Constraints<'a>, low: usize, high: usize) -> usize {
        let tuples = constraints
            .each("prefixItems")
            .chain(constraints.each("items"))
            .filter_map(Value::as_array);
        let tuple = tuples.map(Vec::len).max().unwrap_or(0);
        let bound = high.min(low.saturating_add(EXTRA).max(tuple));
        // The bounds themselves are the most likely to reveal mistakes.
        let sizes = [low, bound, self.rng.between(low, bound)];
        self.rng.pick(&sizes).copied().unwrap_or(low)
    }
}
