//! Numbers: extreme values, the bounds of the schema, and random ones.

use serde_json::{Value, json};

use super::Generator;
use crate::constraints::{Constraints, JsonType};

/// The largest integer that every JSON parser keeps exactly: 2^53 - 1, because doubles can't represent all integers
/// beyond 2^53.
const EXACT: i64 = 9_007_199_254_740_991;

const INTEGERS: [i64; 10] = [
    0,
    1,
    -1,
    50,
    12_345,
    -32_042,
    i32::MAX as i64 + 1,
    i32::MIN as i64 - 1,
    EXACT,
    -EXACT,
];
const EXTREMES: [i64; 2] = [i64::MAX, i64::MIN];
const NUMBERS: [f64; 10] = [0.0, 1.0, 0.1, 0.5, 1.25, -3.75, 1e-7, 1e15, 2.0, -1.0];

/// The number of random candidates, in addition to the interesting ones.
const RANDOM: usize = 16;

/// The numbers that the keywords allow.
struct Range {
    low: Option<f64>,
    above: Option<f64>,
    high: Option<f64>,
    below: Option<f64>,
    steps: Vec<f64>,
}

impl Range {
    fn new(constraints: &Constraints<'_>) -> Self {
        let numbers = |keyword| constraints.each(keyword).filter_map(Value::as_f64);
        Self {
            low: numbers("minimum").max_by(f64::total_cmp),
            above: numbers("exclusiveMinimum").max_by(f64::total_cmp),
            high: numbers("maximum").min_by(f64::total_cmp),
            below: numbers("exclusiveMaximum").min_by(f64::total_cmp),
            steps: numbers("multipleOf").filter(|step| *step > 0.0).collect(),
        }
    }

    fn holds(&self, number: f64) -> bool {
        self.low.is_none_or(|low| number >= low)
            && self.above.is_none_or(|above| number > above)
            && self.high.is_none_or(|high| number <= high)
            && self.below.is_none_or(|below| number < below)
            && self
                .steps
                .iter()
                .all(|step| (number / step).fract().abs() < f64::EPSILON)
    }

    fn lowest(&self) -> Option<f64> {
        let bounds = self.low.into_iter().chain(self.above);
        bounds.max_by(f64::total_cmp)
    }

    fn highest(&self) -> Option<f64> {
        let bounds = self.high.into_iter().chain(self.below);
        bounds.min_by(f64::total_cmp)
    }

    /// Returns the range for random numbers: that of the schema, or a thousand next to its only bound, or around zero.
    fn span(&self) -> (f64, f64) {
        match (self.lowest(), self.highest()) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low + 1000.0),
            (None, Some(high)) => (high - 1000.0, high),
            (None, None) => (-1000.0, 1000.0),
        }
    }

    /// Returns the multiple of the first step that is closest to a number.
    fn stepped(&self, number: f64) -> f64 {
        self.steps.first().map_or(number, |step| (number / step).round() * step)
    }
}

impl Generator<'_> {
    pub(super) fn integer(&mut self, constraints: &Constraints<'_>) -> Option<Value> {
        let range = Range::new(constraints);
        let mut candidates: Vec<i64> = INTEGERS.to_vec();
        // If fractions are allowed, the number is decoded as a double, which can't represent the extremes.
        if !constraints.types().contains(&JsonType::Number) {
            candidates.extend(EXTREMES);
        }
        // Casts saturate, so a bound beyond `i64` becomes its closest value.
        candidates.extend(range.lowest().map(|low| low.ceil() as i64));
        candidates.extend(range.lowest().map(|low| (low.floor() as i64).saturating_add(1)));
        candidates.extend(range.highest().map(|high| (high.ceil() as i64).saturating_sub(1)));
        candidates.extend(range.highest().map(|high| high.floor() as i64));

        let (low, high) = range.span();
        let random = (0..RANDOM).map(|_| self.rng.integer(low.ceil() as i64, high.floor() as i64));
        let random = random.map(|number| range.stepped(number as f64) as i64);
        let random: Vec<i64> = random.filter(|&number| range.holds(number as f64)).take(2).collect();
        candidates.retain(|&candidate| range.holds(candidate as f64));
        candidates.extend(random);

        let &chosen = self.rng.pick(&candidates)?;
        // JSON Schema defines integers by value: `1.0` is valid too.
        let as_float = chosen.unsigned_abs() <= EXACT.unsigned_abs() && self.rng.once_in(10);
        Some(if as_float { json!(chosen as f64) } else { json!(chosen) })
    }

    pub(super) fn number(&mut self, constraints: &Constraints<'_>) -> Option<Value> {
        let range = Range::new(constraints);
        let mut candidates: Vec<f64> = NUMBERS.to_vec();
        candidates.extend(range.lowest());
        candidates.extend(range.highest());

        // Random numbers are multiples of a sixteenth of the range, because the rounding of long fractions isn't tested
        // here.
        let (low, high) = range.span();
        let sixteenth = (high - low) / 16.0;
        let random = (0..RANDOM).map(|_| low + sixteenth * self.rng.between(0, 16) as f64);
        let random = random.map(|number| range.stepped(number));
        let random: Vec<f64> = random.filter(|&number| range.holds(number)).take(2).collect();
        candidates.retain(|&candidate| range.holds(candidate));
        candidates.extend(random);

        self.rng.pick(&candidates).map(|&chosen| json!(chosen))
    }
}
