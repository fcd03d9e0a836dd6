//! Annotations of members that a definition of a new schema has from another one, and had itself before.

use mcp_json_schema::{all_definitions, pointer};
use serde_json::{Map, Value, json};

use super::annotations::INHERITED;
use super::inferred::Entry;
use super::moved_definitions::Moved;
use crate::model::declarations;

/// Returns the entries of the overlay that annotate such members as the earlier schema, after its corrections, does.
pub(super) fn annotations_of_inherited_members(before: &Value, after: &Value, moved: &[Moved<'_>]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (at, _, earlier) in all_definitions(before) {
        let now = moved
            .iter()
            .find(|moved| moved.before == at)
            .map_or(&at, |moved| &moved.after);
        let Some(later) = pointer::resolve(after, now) else {
            continue;
        };
        let declared = declarations(after, now);
        for (name, member) in earlier["properties"].as_object().into_iter().flatten() {
            let annotations = INHERITED
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), member.get(key)?.clone())));
            let annotations: Map<String, Value> = annotations.collect();
            let has = declared.iter().any(|(declared, _)| declared == name);
            if let Some(object) = own_object(later, name).filter(|_| has && !annotations.is_empty()) {
                let at = pointer::child(&format!("{now}{object}/properties"), name);
                entries.push(("corrections", format!("at: {}, to: {}", json!(at), json!(annotations))));
            }
        }
    }
    entries
}

/// Returns the place in a definition of an object with members of its own, if the definition doesn't declare this one.
fn own_object(definition: &Value, name: &str) -> Option<String> {
    let parts = definition["allOf"].as_array().into_iter().flatten().enumerate();
    let parts = parts.map(|(index, part)| (format!("/allOf/{index}"), part));
    let objects = parts.chain([(String::new(), definition)]).filter_map(|(at, object)| {
        let members = object["properties"].as_object()?;
        Some((at, members))
    });
    let objects: Vec<_> = objects.collect();
    let declares = objects.iter().any(|(_, members)| members.contains_key(name));
    objects.into_iter().next().filter(|_| !declares).map(|(at, _)| at)
}
