//! JSON texts as trees of serde_json, read in one pass with a check for duplicate members, which serde_json doesn't
//! have.
//!
//! Unlike a [`plain`](crate::plain) value, it owns its strings, and has no number beyond the range of a double.

use mcp_json_schema::JsonType;
use serde_json::{Map, Value};

use crate::error::Decoded;
use crate::reader::Reader;

/// Parses a JSON text. A member that occurs twice is an error.
pub(crate) fn tree(json: &str) -> Decoded<Value> {
    Reader::new(json).whole(read)
}

fn read(reader: &mut Reader<'_>) -> Decoded<Value> {
    Ok(match reader.json_type()? {
        JsonType::Null => {
            reader.null()?;
            Value::Null
        }
        JsonType::Boolean => Value::Bool(reader.boolean()?),
        JsonType::String => Value::String(reader.string()?.into_owned()),
        JsonType::Number => {
            let number = serde_json::from_str(reader.raw()?);
            Value::Number(number.map_err(|_| reader.syntax("a number of a double"))?)
        }
        JsonType::Array => {
            let mut elements = Vec::new();
            reader.array(|reader| {
                elements.push(read(reader)?);
                Ok(())
            })?;
            Value::Array(elements)
        }
        JsonType::Object => {
            let mut members = Map::new();
            reader.members(|reader, name| {
                let value = read(reader)?;
                match members.insert(name.clone().into_owned(), value) {
                    None => Ok(()),
                    Some(_) => Err(reader.duplicate(&name)),
                }
            })?;
            Value::Object(members)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_the_same_as_those_of_serde_json() {
        for text in [
            "null",
            " [true, false, -0.5, 1.0, 1, -1, 18446744073709551615, 18446744073709551616, 1e30, -0, 0.1e-7] ",
            r#"{"b": {}, "a": [[], ""], "é\n": "\u00e9\ud83d\ude00 \" long long long long long long long long long long long long"}"#,
        ] {
            assert_eq!(
                tree(text).unwrap(),
                serde_json::from_str::<Value>(text).unwrap(),
                "{text}"
            );
        }
    }

    #[test]
    fn duplicate_members_and_invalid_json_are_refused() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for text in [
            r#"{"a": 1, "\u0061": 1}"#,
            "1e400",
            r#""\ud800""#,
            "[1,]",
            "[1] 1",
            "",
            &deep,
        ] {
            assert!(tree(text).is_err(), "{text}");
        }
    }
}
