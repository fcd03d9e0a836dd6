//! Messages that an official schema writes out where they are used, although it defines them, as some schema generators
//! do.

use mcp_wire::json_schema::{all_definitions, pointer, walk};
use serde_json::{Value, json};

use crate::load::is_within;
use crate::normalise::targets;

/// Replaces copies of the definitions of messages by references to them.
pub(super) fn refer_to_messages(root: &mut Value) {
    let definitions = all_definitions(root);
    let messages = definitions.iter().filter(|(.., schema)| is_message(schema));
    let messages: Vec<(&String, &Value)> = messages.map(|(at, _, schema)| (at, *schema)).collect();
    let (targets, mut copies) = (targets(root), Vec::new());
    walk(root, |at, schema| {
        if !is_message(schema) || messages.iter().any(|(definition, _)| *definition == at) {
            return;
        }
        let mut equal = messages.iter().filter(|(_, message)| *message == schema);
        if let (Some((definition, _)), None) = (equal.next(), equal.next()) {
            copies.push((at.to_owned(), json!({"$ref": pointer::reference(definition)})));
        }
    });
    // A reference may lead into a copy.
    copies.retain(|(at, _)| targets.iter().all(|target| !is_within(target, at)));
    for (at, reference) in copies {
        if let Some(copy) = root.pointer_mut(&at[1..]) {
            *copy = reference;
        }
    }
}

fn is_message(schema: &Value) -> bool {
    schema.pointer("/properties/method/const").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_message_becomes_a_reference_unless_two_definitions_are_equal() {
        let message = |method: &str| json!({"type": "object", "properties": {"method": {"const": method}}});
        let mut schema = json!({"$defs": {
            "Visit": message("visit"),
            "Leave": message("leave"),
            "LeaveAgain": message("leave"),
            "Asked": {"anyOf": [message("visit"), message("leave"), message("stay")]},
        }});
        refer_to_messages(&mut schema);
        assert_eq!(schema["$defs"]["Visit"], message("visit"));
        let expected = json!([{"$ref": "#/$defs/Visit"}, message("leave"), message("stay")]);
        assert_eq!(schema["$defs"]["Asked"]["anyOf"], expected);
    }
}
