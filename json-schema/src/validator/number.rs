//! Exact arithmetic on JSON numbers, as JSON Schema requires.

use std::cmp::Ordering;

use serde_json::Number;

use crate::{Decimal, Integral};

/// A number in the form that all equal numbers have, so that equality and hashes are those of the number: 1, 1.0 and 10e-1
/// are equal.
///
/// It is read from the number's text, which is the same for all of serde_json's representations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Exact {
    negative: bool,
    /// Empty for zero.
    digits: Vec<u8>,
    exponent: i64,
}

impl Exact {
    pub(super) fn of(number: &Number) -> Self {
        let normalized = Decimal::parse(&number.to_string()).map(Decimal::normalized);
        let (negative, digits, exponent) = normalized.unwrap_or_default();
        Self {
            negative,
            digits,
            exponent,
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let order = |number: &Self| {
            let leading = number.exponent.saturating_add(number.digits.len() as i64);
            (!number.digits.is_empty()).then_some(leading)
        };
        order(self)
            .cmp(&order(other))
            .then_with(|| self.digits.cmp(&other.digits))
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether a number is an integer, in any notation.
pub(super) fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || integral(number) != Integral::Fractional
}

/// Returns a number as a natural number, if it is one. Larger ones than the largest `i64` become the largest `u64`.
pub(super) fn as_count(number: &Number) -> Option<u64> {
    match integral(number) {
        Integral::Fits(integer) => u64::try_from(integer).ok(),
        Integral::TooLarge => number.as_f64().is_some_and(f64::is_sign_positive).then_some(u64::MAX),
        Integral::Fractional => None,
    }
}

fn integral(number: &Number) -> Integral {
    Decimal::parse(&number.to_string()).map_or(Integral::Fractional, Decimal::integral)
}

/// The divisor of `multipleOf`: `digits × 10^exponent`.
#[derive(Debug)]
pub(super) struct Divisor {
    digits: u64,
    exponent: i64,
}

impl Divisor {
    /// Creates a divisor. `None` unless `number` is positive and has at most 19 significant digits.
    pub(super) fn new(number: &Exact) -> Option<Self> {
        const DIGITS_OF_64_BITS: usize = 19;
        if number.negative || !(1..=DIGITS_OF_64_BITS).contains(&number.digits.len()) {
            return None;
        }
        let digits = number
            .digits
            .iter()
            .fold(0, |value, digit| value * 10 + u64::from(*digit));
        Some(Self {
            digits,
            exponent: number.exponent,
        })
    }

    pub(super) fn divides(&self, number: &Exact) -> bool {
        if number.digits.is_empty() {
            return true;
        }
        // A smaller exponent would need a factor of ten in digits that don't end with a zero.
        let Some(zeros) = number.exponent.checked_sub(self.exponent).filter(|zeros| *zeros >= 0) else {
            return false;
        };
        let modulus = u128::from(self.digits);
        let remainder = number
            .digits
            .iter()
            .fold(0, |remainder, digit| (remainder * 10 + u128::from(*digit)) % modulus);
        (remainder * power_of_ten(zeros, modulus)).is_multiple_of(modulus)
    }
}

/// Returns `10^exponent mod modulus`, for a modulus of 64 bits, so that no product overflows.
fn power_of_ten(exponent: i64, modulus: u128) -> u128 {
    let (mut power, mut base, mut left) = (1 % modulus, 10 % modulus, exponent);
    while left > 0 {
        if left % 2 == 1 {
            power = power * base % modulus;
        }
        base = base * base % modulus;
        left /= 2;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        Exact::of(&serde_json::from_str(text).expect(text))
    }

    #[test]
    fn equal_numbers_have_the_same_form_in_any_notation() {
        for text in ["100", "100.0", "1e2", "1E+2", "1000e-1"] {
            assert_eq!(exact(text), exact("100"), "{text}");
        }
        for text in ["-0", "0.0", "-0.0", "0e10"] {
            assert_eq!(exact(text), exact("0"), "{text}");
        }
    }

    #[test]
    fn numbers_are_ordered_beyond_the_precision_of_a_float() {
        let ascending = [
            "-1e300",
            "-9007199254740993",
            "-9007199254740992",
            "-1.5",
            "-0.001",
            "0",
            "1e-300",
            "0.5",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551615",
            "1e300",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(exact(left).cmp(&exact(right)), at.cmp(&other), "{left} {right}");
            }
        }
    }

    #[test]
    fn a_count_is_a_natural_number_in_any_notation() {
        let count = |text: &str| as_count(&serde_json::from_str(text).expect(text));
        assert_eq!(count("2.0"), Some(2));
        assert_eq!(count("1e300"), Some(u64::MAX));
        assert_eq!(count("-1"), None);
        assert_eq!(count("-1e300"), None);
        assert_eq!(count("1.5"), None);
    }

    #[test]
    fn multiples_are_determined_in_exact_decimal_arithmetic() {
        for (number, divisor, divides) in [
            ("0", "7", true),
            ("4.02", "0.01", true),
            ("19.99", "0.01", true),
            ("0.0075", "0.0001", true),
            ("0.00751", "0.0001", false),
            ("-21", "7", true),
            ("1e308", "0.5", true),
            ("1e308", "0.123456789", false),
            ("1e300", "3", false),
            ("18446744073709551615", "5", true),
            ("10", "100", false),
            ("700", "1e2", true),
        ] {
            let by = Divisor::new(&exact(divisor)).expect(divisor);
            assert_eq!(by.divides(&exact(number)), divides, "{number} / {divisor}");
        }
    }

    #[test]
    fn only_a_positive_number_is_a_divisor() {
        assert!(Divisor::new(&exact("0")).is_none());
        assert!(Divisor::new(&exact("-2")).is_none());
    }
}
