//! JSON numbers of any size.

use std::fmt;

use mcp_json_schema::{Decimal, Integral};
use serde_core::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;

use crate::encode::{Encode, JsonWriter};

/// A JSON number of any size and any number of digits, without rounding.
///
/// A number that fits a 64-bit integer or floating point number is written in its shortest form: `1.0` as `1`, and
/// `1.50` as `1.5`. Every other number, and `-0`, is written with the digits that were read. Two numbers are equal if
/// their values are.
///
/// ```
/// use mcp_wire::Number;
///
/// assert_eq!(Number::from(0.8_f32), Number::from(0.8_f64));
/// assert_eq!(serde_json::to_string(&Number::from(50.0))?, "50");
///
/// let precise: Number = mcp_wire::from_str("0.12345678901234567890")?;
/// assert_eq!(precise.to_string(), "0.12345678901234567890");
/// assert_eq!(precise.as_f64(), 0.123_456_789_012_345_68);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Number(Repr);

#[derive(Clone)]
enum Repr {
    Integer(i64),
    Float(f64),
    /// The text of a number that neither type can represent exactly.
    Text(Box<str>),
}

impl Number {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let decimal = Decimal::parse(text)?;
        Some(Self(match decimal.integral() {
            // An integer has no negative zero.
            Integral::Fits(0) if text.starts_with('-') => Repr::Text(text.into()),
            Integral::Fits(integer) => Repr::Integer(integer),
            Integral::TooLarge => Repr::Text(text.into()),
            Integral::Fractional => match text.parse::<f64>() {
                Ok(float) if decimal.is_value_of(float) => Repr::Float(float),
                _ => Repr::Text(text.into()),
            },
        }))
    }

    /// Returns the nearest 64-bit floating point number: infinite if the number is too large, and zero if it is too
    /// small.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Repr::Integer(integer) => *integer as f64,
            Repr::Float(float) => *float,
            Repr::Text(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// Returns the number as a 64-bit integer, if it is one.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Integer(integer) => Some(*integer),
            Repr::Float(float) => (*float == 0.0).then_some(0),
            Repr::Text(text) => match Decimal::parse(text)?.integral() {
                Integral::Fits(integer) => Some(integer),
                _ => None,
            },
        }
    }
}

/// Compares values: `1e400` and `10e399` are equal.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Integer(one), Repr::Integer(other)) => one == other,
            (Repr::Float(one), Repr::Float(other)) => one == other,
            _ => {
                let (one, other) = (self.to_string(), other.to_string());
                match (Decimal::parse(&one), Decimal::parse(&other)) {
                    (Some(one), Some(other)) => one.has_same_value(other),
                    _ => false,
                }
            }
        }
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Self {
        Self(Repr::Integer(integer))
    }
}

impl From<i32> for Number {
    fn from(integer: i32) -> Self {
        Self::from(i64::from(integer))
    }
}

impl From<u32> for Number {
    fn from(integer: u32) -> Self {
        Self::from(i64::from(integer))
    }
}

impl From<f64> for Number {
    /// Accepts infinity and NaN, which JSON doesn't have. Serializing such a number is an error.
    fn from(float: f64) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let is_negative_zero = float == 0.0 && float.is_sign_negative();
        Self(if float.fract() == 0.0 && float.abs() <= EXACT && !is_negative_zero {
            Repr::Integer(float as i64)
        } else {
            Repr::Float(float)
        })
    }
}

impl From<f32> for Number {
    /// Takes the shortest decimal that represents the number: 0.8 stays 0.8, and doesn't become 0.800000011920929.
    fn from(float: f32) -> Self {
        Self::from(float.to_string().parse::<f64>().unwrap_or_else(|_| f64::from(float)))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Integer(integer) => integer.fmt(f),
            Repr::Float(float) => float.fmt(f),
            Repr::Text(text) => f.write_str(text),
        }
    }
}

impl Encode for Number {
    fn encode(&self, json: &mut JsonWriter) {
        match &self.0 {
            Repr::Integer(integer) => json.integer(*integer),
            Repr::Float(float) => json.float(*float),
            Repr::Text(text) => json.raw(text),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Integer(integer) => serializer.serialize_i64(*integer),
            Repr::Float(float) if float.is_finite() => serializer.serialize_f64(*float),
            Repr::Float(float) => Err(S::Error::custom(format_args!("JSON has no {float}"))),
            Repr::Text(text) => RawValue::from_string(text.to_string())
                .map_err(S::Error::custom)?
                .serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn a_negative_zero_keeps_its_sign_and_equals_zero() {
        for (text, written) in [
            ("-0", "-0"),
            ("-0.0", "-0.0"),
            ("-0e3", "-0e3"),
            ("0", "0"),
            ("0.0", "0"),
        ] {
            let number: Number = crate::from_str(text).unwrap();
            assert_eq!(crate::to_string(&number).unwrap(), written);
            assert_eq!((&number, number.as_i64()), (&Number::from(0), Some(0)));
        }
        assert_eq!(crate::to_string(&Number::from(-0.0)).unwrap(), "-0.0");
    }
}
