//! Reading a JSON text while it is validated.

use std::borrow::Cow;

use mcp_json_schema::{Json, JsonType, Source};

use super::Reader;
use crate::error::{DecodeError, Decoded};
use crate::plain;

impl<'a> Source<'a> for Reader<'a> {
    type Error = DecodeError;

    fn json_type(&mut self) -> Decoded<JsonType> {
        Reader::json_type(self)
    }

    fn skip(&mut self) -> Decoded<()> {
        self.skip_distinct()
    }

    fn value(&mut self) -> Decoded<Json<'a>> {
        plain::read(self)
    }

    fn array(&mut self, element: impl FnMut(&mut Self) -> Decoded<()>) -> Decoded<()> {
        Reader::array(self, element)
    }

    fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Decoded<()>) -> Decoded<Vec<Cow<'a, str>>> {
        let mut names = Vec::with_capacity(8);
        let mut first = self.open_object()?;
        while let Some(name) = self.next_key(&mut first)? {
            member(self, &name)?;
            names.push(name);
        }
        self.check_names(names.iter().map(|name| &**name))?;
        Ok(names)
    }

    fn refuse(&self) -> DecodeError {
        self.syntax("a valid value")
    }
}

#[cfg(test)]
mod tests {
    use mcp_json_schema::Validator;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::validate::is_valid;

    fn schema() -> Value {
        json!({"$defs": {
            "Parts": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/Scalar"}, "b": {"type": ["string", "null"]}, "c": {"const": 1}},
                "required": ["a"],
                "additionalProperties": {"$ref": "#/$defs/List"}
            },
            "List": {"type": ["array", "boolean"], "items": {"$ref": "#/$defs/Any"}},
            "Any": {"anyOf": [{"$ref": "#/$defs/Parts"}, {"$ref": "#/$defs/List"}, {"$ref": "#/$defs/Scalar"}]},
            "Scalar": {"type": ["integer", "string"], "minimum": 0, "maxLength": 1},
            "Few": {"type": "object", "maxProperties": 1},
            "Open": {"type": "object", "properties": {"a": {}, "b": true, "c": false}}
        }})
    }

    fn value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            Just(json!(1)),
            Just(json!(-0.5)),
            Just(json!("a")),
            Just(json!("ab"))
        ];
        scalar.prop_recursive(3, 24, 3, |inner| {
            let name = prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(String::from);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map(name, inner, 0..4).prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_text_is_accepted_if_and_only_if_the_value_has_no_violations(value in value()) {
            let validator = Validator::new(&schema()).unwrap();
            for name in ["Parts", "List", "Any", "Scalar", "Few", "Open"] {
                let pointer = format!("#/$defs/{name}");
                let has_no_violations = validator.validate(&pointer, &value).is_empty();
                prop_assert_eq!(is_valid(&value.to_string(), &pointer, &validator), has_no_violations, "{} of {}", name, value);
            }
        }
    }

    #[test]
    fn a_duplicate_member_is_refused_even_in_open_json() {
        let validator = Validator::new(&schema()).unwrap();
        let accepts = |json: &str| is_valid(json, "#/$defs/Open", &validator);
        assert!(accepts(r#"{"a": {"x": 1}, "d": [{}]}"#));
        assert!(!accepts(r#"{"a": {"x": 1, "x": 1}}"#));
        assert!(!accepts(r#"{"d": [{"x": 1, "\u0078": 1}]}"#));
        assert!(!accepts(r#"{"d": 1, "d": 1}"#));
        assert!(!accepts(r#"{"a": 1} 2"#));
    }
}
