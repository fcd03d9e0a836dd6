//! Simpler forms of what official schemas write as an `allOf` or as conditions, or write out although they define it, as some
//! schema generators do.

use mcp_json_schema::{all_definitions, pointer, walk};
use serde_json::{Map, Value, json};

use super::conditions::{CONDITION, union_of_conditions};
use crate::load::is_within;
use crate::normalise::targets;

/// Replaces `{"allOf": [{"$ref": …}]}` by the reference, which some generators write with prose beside it in this way, and
/// conditions on the value of one member by the union that they express.
pub(super) fn simplify(root: &mut Value) {
    let (targets, mut places) = (targets(root), Vec::new());
    walk(root, |at, schema| {
        let is_meant = ["allOf", "if"].iter().any(|keyword| schema.get(keyword).is_some());
        places.extend(is_meant.then(|| at.to_owned()));
    });
    // A reference may lead into the schemas that would be moved.
    places.retain(|at| {
        let mut moved = CONDITION
            .iter()
            .chain(&["allOf"])
            .map(|keyword| format!("{at}/{keyword}"));
        let leads_into = |part: String| targets.iter().any(|target| is_within(target, &part));
        !moved.any(leads_into)
    });
    // Inner schemas are simplified first.
    for at in places.iter().rev() {
        let schema = pointer::resolve(root, at).and_then(Value::as_object);
        let simpler = schema.and_then(|schema| only_reference(schema).or_else(|| union_of_conditions(root, schema)));
        if let (Some(simpler), Some(schema)) = (simpler, root.pointer_mut(&at[1..])) {
            *schema = Value::Object(simpler);
        }
    }
}

fn only_reference(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    match schema.get("allOf")?.as_array()?.as_slice() {
        [Value::Object(single)] if schema.len() == 1 && single.keys().eq(["$ref"]) => Some(single.clone()),
        _ => None,
    }
}

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
    fn an_all_of_stays_if_a_reference_leads_into_it() {
        let text = json!({"$ref": "#/$defs/Text"});
        let mut schema = json!({"$defs": {
            "Text": {"type": "string"},
            "Name": {"allOf": [text]},
            "Title": {"allOf": [text]},
            "Label": {"$ref": "#/$defs/Title/allOf/0"},
        }});
        simplify(&mut schema);
        assert_eq!(schema["$defs"]["Name"], text);
        assert_eq!(schema["$defs"]["Title"], json!({"allOf": [text]}));
    }

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
