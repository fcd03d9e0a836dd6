//! Finds the places where a schema declares members, including those in the definitions that it refers to and in its
//! `allOf`.

use mcp_json_schema::pointer;
use serde_json::Value;

/// The maximum number of references and intersections on the way to a member.
const MAX_DEPTH: usize = 16;

/// Returns the members that the schema at a pointer declares, with their pointers. A member occurs several times if
/// several parts of an intersection declare it.
pub(crate) fn declarations<'s>(root: &'s Value, at: &str) -> Vec<(&'s str, String)> {
    let mut found = Vec::new();
    collect(root, at, 0, &mut found);
    found
}

/// Returns the pointers of a member.
pub(super) fn places_of<'d>(declarations: &'d [(&str, String)], member: &'d str) -> impl Iterator<Item = &'d str> {
    let own = declarations.iter().filter(move |(name, _)| *name == member);
    own.map(|(_, place)| place.as_str())
}

fn collect<'s>(root: &'s Value, at: &str, depth: usize, found: &mut Vec<(&'s str, String)>) {
    let Some(schema) = pointer::resolve(root, at).filter(|_| depth <= MAX_DEPTH) else {
        return;
    };
    let members = schema.get("properties").and_then(Value::as_object);
    let properties = pointer::child(at, "properties");
    let members = members.into_iter().flatten().map(|(name, _)| name.as_str());
    found.extend(members.map(|name| (name, pointer::child(&properties, name))));
    for part in parts(at, schema) {
        collect(root, &part, depth + 1, found);
    }
}

/// Returns the pointer of the schema that a schema refers to, or else those of its `allOf`.
fn parts(at: &str, schema: &Value) -> Vec<String> {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return pointer::canonical(target).into_iter().collect();
    }
    let count = schema.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
    (0..count).map(|index| format!("{at}/allOf/{index}")).collect()
}
