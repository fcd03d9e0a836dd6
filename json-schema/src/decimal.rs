//! Parses the decimal notation of JSON numbers without rounding.

/// The parts of a JSON number, without rounding: `-12.50e3` has the digits `12`, the fraction `50` and the exponent 3, and
/// is negative. An exponent beyond 61 bits is treated as the nearest one that fits.
///
/// ```
/// use mcp_json_schema::{Decimal, Integral};
///
/// let number = Decimal::parse("10.0e-1").expect("a number");
/// assert_eq!(number.integral(), Integral::Fits(1));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Decimal<'a> {
    negative: bool,
    integer: &'a str,
    fraction: &'a str,
    exponent: i64,
}

/// A JSON number as a 64-bit integer; see [`Decimal::integral`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integral {
    /// An integer in any notation: `1`, `1.0` and `10e-1` are the same.
    Fits(i64),
    /// An integer beyond 64 bits.
    TooLarge,
    /// A number with a fraction.
    Fractional,
}

impl<'a> Decimal<'a> {
    /// Parses `text`; `None` if it isn't a number by JSON's grammar.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (rest, None),
        };
        let (integer, fraction) = match mantissa.split_once('.') {
            Some((integer, fraction)) if is_digits(fraction) => (integer, fraction),
            Some(_) => return None,
            None => (mantissa, ""),
        };
        let leading_zero = integer.len() > 1 && integer.starts_with('0');
        if !is_digits(integer) || leading_zero {
            return None;
        }
        let exponent = match exponent {
            None => 0,
            Some(text) => parse_exponent(text)?,
        };
        Some(Self {
            negative,
            integer,
            fraction,
            exponent,
        })
    }

    /// Returns the number as a 64-bit integer, if it is one.
    #[must_use]
    pub fn integral(self) -> Integral {
        // The usual notation of integers.
        if self.fraction.is_empty()
            && self.exponent == 0
            && let Ok(integer) = self.integer.parse::<i64>()
        {
            return Integral::Fits(if self.negative { -integer } else { integer });
        }
        let Some(significant) = self.significant() else {
            return Integral::Fits(0);
        };
        if significant.scale < 0 {
            return Integral::Fractional;
        }
        let mut value: i64 = 0;
        let zeros = std::iter::repeat_n(b'0', usize::try_from(significant.scale.min(20)).unwrap_or(20));
        for digit in self.digits(significant).chain(zeros) {
            let digit = i64::from(digit - b'0');
            // Counting downwards, because the lowest i64 has no positive counterpart.
            let next = value.checked_mul(10).and_then(|value| value.checked_sub(digit));
            match next {
                Some(next) => value = next,
                None => return Integral::TooLarge,
            }
        }
        if self.negative {
            return Integral::Fits(value);
        }
        value.checked_neg().map_or(Integral::TooLarge, Integral::Fits)
    }

    /// Whether the two numbers are equal.
    #[must_use]
    pub fn has_same_value(self, other: Self) -> bool {
        match (self.significant(), other.significant()) {
            (None, None) => true,
            (Some(one), Some(two)) => {
                self.negative == other.negative && one.scale == two.scale && self.digits(one).eq(other.digits(two))
            }
            _ => false,
        }
    }

    /// Whether this is the shortest decimal, in any notation, that represents `float`.
    #[must_use]
    pub fn is_value_of(self, float: f64) -> bool {
        // A double keeps this many digits of any number that isn't near the ends of its range.
        const KEPT: usize = 15;
        const NEAR_THE_ENDS: u64 = 290;
        let kept = self.significant().is_none_or(|significant| {
            significant.length <= KEPT && significant.scale.unsigned_abs() < NEAR_THE_ENDS - KEPT as u64
        });
        kept || Decimal::parse(&format!("{float:e}")).is_some_and(|named| named.has_same_value(self))
    }

    /// Returns the form that all equal numbers have: whether the number is negative, its digits from the first to the last
    /// that isn't zero, and the power of ten that they are multiplied by.
    pub(crate) fn normalized(self) -> (bool, Vec<u8>, i64) {
        let zero = (false, Vec::new(), 0);
        self.significant().map_or(zero, |significant| {
            let digits = self.digits(significant).map(|digit| digit - b'0');
            (self.negative, digits.collect(), significant.scale)
        })
    }

    /// Returns the significant digits. `None` for zero.
    fn significant(self) -> Option<Significant> {
        let mut digits = self.written();
        let first = digits.position(|digit| digit != b'0')?;
        let trailing_zeros = digits.rev().take_while(|digit| *digit == b'0').count();
        let scale = self
            .exponent
            .saturating_sub(self.fraction.len() as i64)
            .saturating_add(trailing_zeros as i64);
        Some(Significant {
            first,
            length: self.integer.len() + self.fraction.len() - first - trailing_zeros,
            scale,
        })
    }

    fn digits(self, of: Significant) -> impl Iterator<Item = u8> + use<'a> {
        self.written().skip(of.first).take(of.length)
    }

    /// Returns the digits as they are written, with zeros around them.
    fn written(self) -> impl DoubleEndedIterator<Item = u8> + use<'a> {
        self.integer.bytes().chain(self.fraction.bytes())
    }
}

/// The digits of a number from the first to the last that isn't zero. The value is these times ten to the power of
/// `scale`.
#[derive(Debug, Clone, Copy)]
struct Significant {
    first: usize,
    length: usize,
    scale: i64,
}

/// Parses an exponent.
fn parse_exponent(text: &str) -> Option<i64> {
    // The margin prevents the sums with the numbers of digits from saturating at different values.
    const LIMIT: i64 = i64::MAX / 4;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !is_digits(digits) {
        return None;
    }
    let magnitude = digits.parse().map_or(LIMIT, |magnitude: i64| magnitude.min(LIMIT));
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integral(text: &str) -> Integral {
        Decimal::parse(text).expect(text).integral()
    }

    #[test]
    fn an_integer_can_be_written_with_a_fraction_or_an_exponent() {
        for text in ["100", "100.0", "1e2", "1E+2", "0.1e3", "10000e-2"] {
            assert_eq!(integral(text), Integral::Fits(100), "{text}");
        }
        assert_eq!(integral("-0"), Integral::Fits(0));
        assert_eq!(integral("0.000e999999999999999999999"), Integral::Fits(0));
    }

    #[test]
    fn only_integers_of_64_bits_fit() {
        assert_eq!(integral("-9223372036854775808"), Integral::Fits(i64::MIN));
        assert_eq!(integral("9223372036854775807"), Integral::Fits(i64::MAX));
        assert_eq!(integral("9223372036854775808"), Integral::TooLarge);
        assert_eq!(integral("-9223372036854775809"), Integral::TooLarge);
        assert_eq!(integral("1e99999999999999999999"), Integral::TooLarge);
    }

    #[test]
    fn a_number_with_a_fraction_is_not_an_integer() {
        for text in ["0.5", "1.5", "1e-1", "-12.34e1", "1e-99999999999999999999"] {
            assert_eq!(integral(text), Integral::Fractional, "{text}");
        }
    }

    #[test]
    fn numbers_must_follow_the_json_grammar() {
        for text in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "1.5.2", "0x1", "1e1.5"] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_by_value_not_by_notation() {
        let same = |one, other| {
            Decimal::parse(one)
                .unwrap()
                .has_same_value(Decimal::parse(other).unwrap())
        };
        for (one, other) in [
            ("1e400", "10e399"),
            ("0.10", "1e-1"),
            ("-0", "0.0e5"),
            ("12300e-2", "123"),
        ] {
            assert!(same(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("1e400", "1e401"),
            ("1", "-1"),
            ("0", "1e-999"),
            ("1.01", "1.1"),
            ("1", "11"),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn only_a_decimal_that_a_double_represents_is_its_value() {
        let is_value = |text: &str| Decimal::parse(text).unwrap().is_value_of(text.parse().unwrap());
        for text in [
            "0.1",
            "1.50",
            "-2.5e-300",
            "1e300",
            "0.1234567890123456",
            "5e-324",
            "1.7976931348623157e308",
        ] {
            assert!(is_value(text), "{text}");
        }
        for text in [
            "1e-999",
            "1e999",
            "0.12345678901234567890",
            "4e-324",
            "0.1000000000000000055511151231257827",
        ] {
            assert!(!is_value(text), "{text}");
        }
    }
}
