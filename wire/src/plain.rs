//! A JSON text as a `serde_json::Value`.
//!
//! serde_json's own way there takes an object whose only key is the one that it marks raw values with for the value in
//! it, so that a peer could have one value judged and another one handled. It also refuses numbers beyond a double.

use serde_json::Value;
use serde_json::map::Entry;

use crate::decimal::{Decimal, Integral};
use crate::decode::{Decode, from_str};
use crate::error::Decoded;
use crate::reader::{Kind, Reader};

/// The value of a JSON text. A member that occurs twice is an error. A number beyond a double is the greatest, and one that
/// a double can't tell from zero is the least.
pub(crate) fn plain_value(json: &str) -> Decoded<Value> {
    from_str::<Plain>(json).map(|Plain(value)| value)
}

struct Plain(Value);

impl Decode for Plain {
    const HOLDS_NULL: bool = true;

    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        Ok(Self(match reader.kind()? {
            Kind::Null => {
                reader.null()?;
                Value::Null
            }
            Kind::Boolean => reader.boolean()?.into(),
            Kind::String => reader.string()?.into(),
            Kind::Number => number(reader.raw()?.get()),
            Kind::Array => {
                let mut elements = Vec::new();
                reader.array(|reader| {
                    elements.push(Self::decode(reader)?.0);
                    Ok(())
                })?;
                Value::Array(elements)
            }
            Kind::Object => {
                reader.open_object()?;
                let mut members = serde_json::Map::new();
                let mut first = true;
                while let Some(key) = reader.next_key(&mut first)? {
                    let value = Self::decode(reader).map_err(|error| error.in_member(&key))?;
                    match members.entry(key) {
                        Entry::Vacant(place) => place.insert(value.0),
                        Entry::Occupied(place) => return Err(reader.duplicate(place.key())),
                    };
                }
                Value::Object(members)
            }
        }))
    }
}

fn number(text: &str) -> Value {
    let signed = |magnitude: f64| {
        magnitude
            .copysign(if text.starts_with('-') { -1.0 } else { 1.0 })
            .into()
    };
    let is_zero = || Decimal::parse(text).is_some_and(|number| number.integral() == Integral::Fits(0));
    match serde_json::from_str::<serde_json::Number>(text) {
        Ok(number) if number.as_f64() == Some(0.0) && !is_zero() => signed(f64::MIN_POSITIVE),
        Ok(number) => Value::Number(number),
        Err(_) => signed(f64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::DecodeErrorKind;
    use serde_json::json;

    #[test]
    fn a_value_is_what_serde_json_makes_of_it() {
        for text in [
            "null",
            "[true, -0.5, 1.0, 1, 18446744073709551615, 1e30, -0]",
            r#"{"a": {}, "b": [[]], "é\n": "\u00e9"}"#,
        ] {
            assert_eq!(plain_value(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        }
    }

    #[test]
    fn a_member_that_occurs_twice_is_an_error() {
        let error = plain_value(r#"{"a": [{"b": 1, "\u0062": 1}]}"#).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::DuplicateMember);
        assert_eq!(error.path().to_string(), "a[0].b");
    }

    #[test]
    fn the_mark_of_raw_values_is_a_key_like_any_other() {
        let marked = json!({ "$serde_json::private::RawValue": "1" });
        assert_eq!(
            plain_value(r#"{"$serde_json::private::RawValue":"1"}"#).unwrap(),
            marked
        );
    }

    #[test]
    fn a_number_beyond_a_double_is_the_greatest() {
        assert_eq!(plain_value("[1e400, -1e400]").unwrap(), json!([f64::MAX, f64::MIN]));
    }

    #[test]
    fn a_number_that_a_double_rounds_to_zero_is_no_zero() {
        let values = plain_value("[1e-999, -1e-999, 0.0, 0e9]").unwrap();
        assert_eq!(values, json!([f64::MIN_POSITIVE, -f64::MIN_POSITIVE, 0.0, 0.0]));
    }
}
