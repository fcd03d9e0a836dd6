//! JSON texts as values that can be validated and compared.
//!
//! serde_json's own deserializer isn't used. It replaces an object whose only key is its internal mark for raw values
//! by the value in it, so that a peer could make validation see another value than the handler. It also refuses numbers
//! beyond the range of a double.

use mcp_json_schema::{Decimal, Integral, Json, JsonType, Members};
use serde_json::Number;

use crate::error::Decoded;
use crate::reader::Reader;

/// Parses a JSON text. A member that occurs twice is an error. A number that is too large for a double becomes the
/// largest double, and one that is too small becomes the smallest.
pub(crate) fn plain_value(json: &str) -> Decoded<Json<'_>> {
    Reader::new(json).whole(read)
}

/// Reads the next value.
pub(crate) fn read<'a>(reader: &mut Reader<'a>) -> Decoded<Json<'a>> {
    Ok(match reader.json_type()? {
        JsonType::Null => {
            reader.null()?;
            Json::Null
        }
        JsonType::Boolean => Json::Bool(reader.boolean()?),
        JsonType::String => Json::String(reader.string()?),
        JsonType::Number => Json::Number(number(reader.raw()?)),
        JsonType::Array => {
            let mut elements = Vec::new();
            reader.array(|reader| {
                elements.push(read(reader)?);
                Ok(())
            })?;
            Json::Array(elements.into_boxed_slice())
        }
        JsonType::Object => {
            let mut first = reader.open_object()?;
            let mut members = Vec::new();
            while let Some(key) = reader.next_key(&mut first)? {
                let value = read(reader).map_err(|error| error.in_member(&key))?;
                members.push((key, value));
            }
            let members = Members::sorted(members);
            if let Some(member) = members.duplicate() {
                return Err(reader.duplicate(member));
            }
            Json::Object(members)
        }
    })
}

fn number(text: &str) -> Number {
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    // Both magnitudes are finite, so `from_f64` doesn't fail.
    let signed = |magnitude: f64| Number::from_f64(sign * magnitude).unwrap_or_else(|| 0.into());
    let is_zero = || Decimal::parse(text).is_some_and(|number| number.integral() == Integral::Fits(0));
    match serde_json::from_str::<Number>(text) {
        Ok(number) if number.as_f64() == Some(0.0) && !is_zero() => signed(f64::MIN_POSITIVE),
        Ok(number) => number,
        Err(_) => signed(f64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::DecodeErrorKind;
    use serde_json::{Value, json};

    #[test]
    fn values_are_the_same_as_those_of_serde_json() {
        for text in [
            "null",
            "[true, -0.5, 1.0, 1, 18446744073709551615, 1e30, -0]",
            r#"{"a": {}, "b": [[]], "é\n": "\u00e9"}"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(plain_value(text).unwrap(), Json::borrowed(&value));
        }
    }

    #[test]
    fn a_member_that_occurs_twice_is_an_error() {
        let error = plain_value(r#"{"a": [{"b": 1, "\u0062": 1}]}"#).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::DuplicateMember);
        assert_eq!(error.path().to_string(), "a[0].b");
    }

    #[test]
    fn the_internal_key_of_serde_json_for_raw_values_is_not_special() {
        let marked = json!({ "$serde_json::private::RawValue": "1" });
        let value = plain_value(r#"{"$serde_json::private::RawValue":"1"}"#).unwrap();
        assert_eq!(value, Json::borrowed(&marked));
    }

    #[test]
    fn a_number_too_large_for_a_double_becomes_the_largest_double() {
        let greatest = json!([f64::MAX, f64::MIN]);
        assert_eq!(plain_value("[1e400, -1e400]").unwrap(), Json::borrowed(&greatest));
    }

    #[test]
    fn a_number_that_a_double_rounds_to_zero_becomes_the_smallest_double() {
        let least = json!([f64::MIN_POSITIVE, -f64::MIN_POSITIVE, 0.0, 0.0]);
        let values = plain_value("[1e-999, -1e-999, 0.0, 0e9]").unwrap();
        assert_eq!(values, Json::borrowed(&least));
    }
}
