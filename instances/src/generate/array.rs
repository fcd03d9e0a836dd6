//! Arrays: tuples, lists, and lists that must hold something in particular.

use serde_json::{Value, json};

use super::Generator;
use crate::demand::Demand;

/// How many items a list gets beyond those that it needs.
const EXTRA: usize = 3;

/// How often an item is made anew because the list already has its equal.
const REPEATS: usize = 16;

impl<'a> Generator<'a> {
    pub(super) fn array(&mut self, demand: &Demand<'a>, depth: usize) -> Option<Value> {
        let contained: Vec<&Value> = demand.each("contains").collect();
        let containing = match demand.at_least("minContains") {
            0 if demand.each("minContains").next().is_some() => 0,
            least => least.max(1) * usize::from(!contained.is_empty()),
        };
        let low = demand.at_least("minItems").max(containing);
        let high = demand.at_most("maxItems").unwrap_or(usize::MAX);
        if low > high {
            return None;
        }
        let length = if self.must_end(depth) {
            low
        } else {
            self.length(demand, low, high)
        };
        let unique = demand.each("uniqueItems").any(|unique| unique == &Value::Bool(true));

        let mut items: Vec<Value> = Vec::new();
        for index in 0..length {
            let mut schemas = demand.item(index);
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

    fn length(&mut self, demand: &Demand<'a>, low: usize, high: usize) -> usize {
        let tuples = demand
            .each("prefixItems")
            .chain(demand.each("items"))
            .filter_map(Value::as_array);
        let tuple = tuples.map(Vec::len).max().unwrap_or(0);
        let bound = high.min(low.saturating_add(EXTRA).max(tuple));
        // The bounds themselves are where mistakes show.
        let sizes = [low, bound, self.chance.between(low, bound)];
        self.chance.pick(&sizes).copied().unwrap_or(low)
    }
}
