//! Corrections and annotations of the members of new messages, such as the kind of a result: those that the same members
//! have in most messages of the revision before.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use mcp_json_schema::{all_definitions, pointer, walk};
use serde_json::{Map, Value, json};

use super::inferred::Entry;
use super::moved_definitions::Moved;
use crate::load::{PROSE, is_within};

/// The annotations that a member can inherit.
pub(super) const INHERITED: [&str; 3] = ["x-name", "x-preset", "x-tag"];

/// The ends of the names of a message and of its parts.
const PARTS: [&str; 5] = [
    "Request",
    "RequestParams",
    "Result",
    "Notification",
    "NotificationParams",
];

type Schema = Map<String, Value>;

/// What the overlay does with a member: the schema that replaces the official one, and its annotations.
type Corrected = (Schema, Schema);

/// Returns the entries of the overlay that correct and annotate the required members of messages which only the later
/// schema has. Those of moved definitions move with them. The earlier schema is given as it is officially, and corrected.
pub(super) fn annotations_of_new_messages(
    [official, corrected]: [&Value; 2],
    after: &Value,
    moved: &[Moved<'_>],
) -> Vec<Entry> {
    let mut known: BTreeMap<String, Vec<(Schema, Corrected)>> = BTreeMap::new();
    walk(corrected, |at, schema| {
        let official = pointer::resolve(official, at).map(required_members).unwrap_or_default();
        for (name, corrected) in required_members(schema) {
            if let Some((official, _)) = official.get(&name) {
                known.entry(name).or_default().push((official.clone(), corrected));
            }
        }
    });
    let mut new = new_parts(official, after);
    new.retain(|part| moved.iter().all(|moved| moved.after != *part));
    // The places by the change there: annotations first, by their keyword.
    let mut changes = BTreeMap::<(bool, String, String), Vec<String>>::new();
    walk(after, |at, schema| {
        if !new.iter().any(|part| is_within(at, part)) {
            return;
        }
        for (name, (bare, annotations)) in required_members(schema) {
            let usual = known.get(&name).and_then(|known| usual(known, &bare));
            let Some((other, usual)) = usual.filter(|_| annotations.is_empty()) else {
                continue;
            };
            let member = pointer::child(&pointer::child(at, "properties"), &name);
            for (keyword, value) in usual {
                let places = changes
                    .entry((false, keyword.clone(), format!("to: {value}")))
                    .or_default();
                places.push(pointer::child(&member, keyword));
            }
            if *other != bare {
                let change = format!("expect: {}, to: {}", json!(bare), json!(other));
                changes.entry((true, String::new(), change)).or_default().push(member);
            }
        }
    });
    let entries = changes.into_iter();
    let entries = entries.map(|((.., change), at)| ("corrections", format!("at: {}, {change}", json!(at))));
    entries.collect()
}

/// Returns the pointers of the definitions of new messages and of their parts.
fn new_parts(before: &Value, after: &Value) -> Vec<String> {
    let names = |schema| Vec::from_iter(all_definitions(schema).into_iter().map(|(at, name, _)| (at, name)));
    let (known, all) = (names(before), names(after));
    let defines = |definitions: &[(String, &str)], name: &str| definitions.iter().any(|(_, other)| *other == name);
    let is_new = |name: &&str| {
        let stems = PARTS.iter().filter_map(|end| name.strip_suffix(end));
        let mut messages = stems.flat_map(|stem| [format!("{stem}Request"), format!("{stem}Notification")]);
        !defines(&known, name) && messages.any(|message| defines(&all, &message) && !defines(&known, &message))
    };
    let new = all.iter().filter(|(_, name)| is_new(name));
    new.map(|(at, _)| at.clone()).collect()
}

/// Returns the required members of an object: the schema of each without annotations and prose, and its annotations.
fn required_members(schema: &Value) -> BTreeMap<String, Corrected> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let members = required.filter_map(|name| {
        let name = name.as_str()?;
        let member = schema.get("properties")?.get(name)?.as_object()?;
        let (mut bare, mut annotations) = (member.clone(), member.clone());
        bare.retain(|keyword, _| !keyword.starts_with("x-") && !PROSE.contains(&keyword.as_str()));
        annotations.retain(|keyword, _| INHERITED.contains(&keyword.as_str()));
        Some((name.to_owned(), (bare, annotations)))
    });
    members.collect()
}

/// Returns what the overlay does with more members of this schema than anything else.
fn usual<'k>(known: &'k [(Schema, Corrected)], schema: &Schema) -> Option<&'k Corrected> {
    let mut counts: Vec<(usize, &Corrected)> = Vec::new();
    for (_, corrected) in known.iter().filter(|(official, _)| official == schema) {
        match counts.iter_mut().find(|(_, other)| *other == corrected) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, corrected)),
        }
    }
    counts.sort_by_key(|(count, _)| Reverse(*count));
    match counts[..] {
        [(most, _), (second, _), ..] if most == second => None,
        [(_, corrected), ..] => Some(corrected),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_a_new_message_has_the_annotations_of_most_others() {
        let result = |annotations: Value| {
            let mut kind = json!({"type": "string"});
            kind.as_object_mut()
                .unwrap()
                .extend(annotations.as_object().unwrap().clone());
            json!({"type": "object", "properties": {"kind": kind, "note": {"type": "string"}}, "required": ["kind"]})
        };
        let complete = || result(json!({"x-tag": "complete"}));
        let official = json!({"$defs": {"AResult": result(json!({})), "BResult": result(json!({})), "CResult": result(json!({}))}});
        let mut corrected = json!({"$defs": {
            "AResult": complete(), "BResult": complete(), "CResult": result(json!({"x-tag": "partial"})),
        }});
        let after = json!({"$defs": {
            "AResult": result(json!({})), "VisitRequest": {"type": "object"}, "VisitResult": result(json!({})),
            "VisitAlternative": result(json!({})),
        }});
        let found = |corrected: &Value| {
            let found = annotations_of_new_messages([&official, corrected], &after, &[]).into_iter();
            Vec::from_iter(found.map(|(_, says)| says))
        };
        let tag = r##"at: ["#/$defs/VisitResult/properties/kind/x-tag"], to: "complete""##;
        assert_eq!(found(&corrected), [tag]);
        for name in ["AResult", "BResult"] {
            corrected["$defs"][name]["properties"]["kind"] = json!({"$ref": "#/$defs/Kind", "x-tag": "complete"});
        }
        let kind =
            r##"at: ["#/$defs/VisitResult/properties/kind"], expect: {"type":"string"}, to: {"$ref":"#/$defs/Kind"}"##;
        assert_eq!(found(&corrected), [tag, kind]);
    }
}
