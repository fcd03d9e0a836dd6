//! Validation of a JSON text while it is read, which takes no memory for the value. It only determines whether the text
//! is valid.

use crate::error::Decoded;
use crate::plain;
use crate::reader::{JsonType, Reader};

use super::evaluate::Validation;
use super::node::{Members, Node, NodeId, Rule, TypeSet};
use super::violations::Location;

/// The rules of a schema for an array or an object, if each part of the value can be validated separately.
#[derive(Default)]
struct PartByPart<'n> {
    types: Option<TypeSet>,
    required: &'n [String],
    members: Option<&'n Members>,
    elements: Option<NodeId>,
}

impl Validation<'_> {
    /// Reads the next value.
    ///
    /// # Errors
    /// When it is invalid, isn't JSON, or has a duplicate member in it. The error doesn't have the reason: validate the
    /// value for that.
    pub(super) fn accept(&self, mut id: NodeId, reader: &mut Reader<'_>) -> Decoded<()> {
        while let [Rule::Ref(target)] = *self.nodes[id].rules {
            id = target;
        }
        let node = &self.nodes[id];
        if node.rules.is_empty() {
            return reader.skip_distinct();
        }
        let accepted = match (reader.json_type()?, part_by_part(node)) {
            (JsonType::Object, Some(rules)) => rules.admit(JsonType::Object) && self.accept_object(&rules, reader)?,
            (JsonType::Array, Some(rules)) => {
                reader.array(|reader| self.accept_part(rules.elements, reader))?;
                rules.admit(JsonType::Array)
            }
            (found @ (JsonType::String | JsonType::Boolean | JsonType::Null), Some(rules)) => {
                reader.skip()?;
                rules.admit(found)
            }
            _ => {
                let value = plain::read(reader)?;
                // The value is a temporary one, whose address isn't stable, so it has a separate validation.
                Validation::new(self.nodes, self.budget).is_valid(id, &value, Location::Root)
            }
        };
        match accepted {
            true => Ok(()),
            false => Err(reader.syntax("a valid value")),
        }
    }

    /// Reads an object, and returns whether it has the required members.
    fn accept_object(&self, rules: &PartByPart<'_>, reader: &mut Reader<'_>) -> Decoded<bool> {
        let mut names = Vec::with_capacity(8);
        let mut first = reader.open_object()?;
        while let Some(name) = reader.next_key(&mut first)? {
            let node = rules
                .members
                .and_then(|members| members.named(&name).or(members.others));
            self.accept_part(node, reader)?;
            names.push(name);
        }
        reader.check_names(names.iter().map(|name| &**name))?;
        Ok(rules
            .required
            .iter()
            .all(|required| names.iter().any(|name| name == required)))
    }

    fn accept_part(&self, node: Option<NodeId>, reader: &mut Reader<'_>) -> Decoded<()> {
        match node {
            Some(node) => self.accept(node, reader),
            None => reader.skip_distinct(),
        }
    }
}

/// Returns the rules of a node by part. `None` if a rule needs the whole value.
fn part_by_part(node: &Node) -> Option<PartByPart<'_>> {
    let mut parts = PartByPart::default();
    for rule in &node.rules {
        match rule {
            Rule::Type(types) => parts.types = Some(*types),
            Rule::Required(names) => parts.required = names,
            Rule::Members(members) if members.patterns.is_empty() => parts.members = Some(members),
            Rule::Items(items) if items.prefix.is_empty() => parts.elements = items.rest,
            _ => return None,
        }
    }
    Some(parts)
}

impl PartByPart<'_> {
    /// Whether values of this type are valid. For numbers, this can depend on the value.
    fn admit(&self, found: JsonType) -> bool {
        self.types.is_none_or(|types| types.admits_type(found))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::validator::Validator;

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
                let is_valid = validator.validate(&pointer, &value).is_empty();
                prop_assert_eq!(validator.accepts(&pointer, &value.to_string()), is_valid, "{} of {}", name, value);
            }
        }
    }

    #[test]
    fn a_duplicate_member_is_refused_even_in_open_json() {
        let validator = Validator::new(&schema()).unwrap();
        let accepts = |json: &str| validator.accepts("#/$defs/Open", json);
        assert!(accepts(r#"{"a": {"x": 1}, "d": [{}]}"#));
        assert!(!accepts(r#"{"a": {"x": 1, "x": 1}}"#));
        assert!(!accepts(r#"{"d": [{"x": 1, "\u0078": 1}]}"#));
        assert!(!accepts(r#"{"d": 1, "d": 1}"#));
        assert!(!accepts(r#"{"a": 1} 2"#));
    }
}
