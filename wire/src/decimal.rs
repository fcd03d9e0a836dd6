//! The decimal notation of a JSON number, taken apart without rounding.

/// A JSON number's text: `-12.50e3` is the digits `12`, the fraction `50` and the exponent 3, negated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal<'a> {
    negative: bool,
    integer: &'a str,
    fraction: &'a str,
    exponent: i64,
}

/// What a JSON number is when it is asked for a 64-bit integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integral {
    /// This integer, however it was written: `1`, `1.0` and `10e-1` are one.
    Fits(i64),
    /// An integer beyond 64 bits.
    TooLarge,
    /// A number with a fraction.
    Fractional,
}

impl<'a> Decimal<'a> {
    /// Takes `text` apart; `None` if it isn't a number by JSON's grammar.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
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

    /// Whether this is an integer, and which.
    pub(crate) fn integral(self) -> Integral {
        // As nearly all integers are written.
        if self.fraction.is_empty()
            && self.exponent == 0
            && let Ok(integer) = self.integer.parse::<i64>()
        {
            return Integral::Fits(if self.negative { -integer } else { integer });
        }
        let digits = || self.integer.bytes().chain(self.fraction.bytes());
        let Some(last) = digits().rposition_nonzero() else {
            return Integral::Fits(0);
        };
        // The value is the digits up to the last that isn't zero, times ten to the power of `scale`.
        let written = self.integer.len() + self.fraction.len();
        let dropped = (written - 1 - last) as i64;
        let scale = self
            .exponent
            .saturating_sub(self.fraction.len() as i64)
            .saturating_add(dropped);
        if scale < 0 {
            return Integral::Fractional;
        }
        let mut value: i64 = 0;
        let zeros = std::iter::repeat_n(b'0', usize::try_from(scale.min(20)).unwrap_or(20));
        for digit in digits().take(last + 1).chain(zeros) {
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
}

/// An exponent's value; one too large for 64 bits is as good as the largest.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !is_digits(digits) {
        return None;
    }
    let magnitude = digits.parse::<i64>().unwrap_or(i64::MAX);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

trait LastNonzero {
    fn rposition_nonzero(self) -> Option<usize>;
}

impl<I: Iterator<Item = u8>> LastNonzero for I {
    fn rposition_nonzero(self) -> Option<usize> {
        self.enumerate()
            .filter(|(_, digit)| *digit != b'0')
            .last()
            .map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integral(text: &str) -> Integral {
        Decimal::parse(text).expect(text).integral()
    }

    #[test]
    fn an_integer_may_be_written_with_a_fraction_or_an_exponent() {
        for text in ["100", "100.0", "1e2", "1E+2", "0.1e3", "10000e-2"] {
            assert_eq!(integral(text), Integral::Fits(100), "{text}");
        }
        assert_eq!(integral("-0"), Integral::Fits(0));
        assert_eq!(integral("0.000e999999999999999999999"), Integral::Fits(0));
    }

    #[test]
    fn the_limits_of_64_bits_are_exact() {
        assert_eq!(integral("-9223372036854775808"), Integral::Fits(i64::MIN));
        assert_eq!(integral("9223372036854775807"), Integral::Fits(i64::MAX));
        assert_eq!(integral("9223372036854775808"), Integral::TooLarge);
        assert_eq!(integral("-9223372036854775809"), Integral::TooLarge);
        assert_eq!(integral("1e99999999999999999999"), Integral::TooLarge);
    }

    #[test]
    fn a_number_with_a_fraction_is_no_integer() {
        for text in ["0.5", "1.5", "1e-1", "-12.34e1", "1e-99999999999999999999"] {
            assert_eq!(integral(text), Integral::Fractional, "{text}");
        }
    }

    #[test]
    fn only_the_grammar_of_json_is_a_number() {
        for text in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "1.5.2", "0x1", "1e1.5"] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }
}
