//! Simpler forms of what official schemas write as an `allOf` or as conditions.

use mcp_wire::json_schema::{pointer, walk};
use serde_json::{Map, Value};

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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
}
