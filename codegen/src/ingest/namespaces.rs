//! Groups and namespaces of definitions.

use std::collections::BTreeMap;

use mcp_json_schema::{DEFINITIONS, change_schemas, definitions, pointer};
use serde_json::{Map, Value};

use crate::load::PROSE;
use crate::messages::message_unions;

/// Moves definitions out of those that only contain others, as in `Tools/$defs/Tool`.
pub(super) fn flatten_groups(root: &mut Value) {
    loop {
        let moves = moves_from_groups(root);
        if moves.is_empty() {
            return;
        }
        relocate(root, &moves);
        for keyword in DEFINITIONS {
            if let Some(Value::Object(definitions)) = root.get_mut(keyword) {
                definitions.retain(|_, definition| !is_empty_group(definition));
            }
        }
    }
}

/// The new pointers of definitions by the old ones.
type Moves = BTreeMap<String, String>;

/// Returns the moves out of definitions that only contain others, unless there are other definitions of these names.
fn moves_from_groups(root: &Value) -> Moves {
    let mut moves = Moves::new();
    for (at, _, group) in definitions(root, "#").filter(|(.., group)| is_group(group)) {
        let container = at.rsplit_once('/').map_or("#", |(container, _)| container);
        for (old, name, _) in definitions(group, &at) {
            let new = pointer::child(container, name);
            if pointer::resolve(root, &new).is_none() && moves.values().all(|other| *other != new) {
                moves.insert(old, new);
            }
        }
    }
    moves
}

/// Whether a definition only contains others.
fn is_group(definition: &Value) -> bool {
    let has_definitions = DEFINITIONS.iter().any(|keyword| definition.get(keyword).is_some());
    let mut keywords = definition.as_object().into_iter().flatten();
    has_definitions && keywords.all(|(keyword, _)| DEFINITIONS.iter().chain(&PROSE).any(|known| known == keyword))
}

/// Whether a definition is a group whose definitions were moved.
fn is_empty_group(definition: &Value) -> bool {
    let groups = DEFINITIONS
        .iter()
        .filter_map(|keyword| definition.get(keyword)?.as_object());
    is_group(definition) && groups.map(Map::len).sum::<usize>() == 0
}

/// Returns what the names of all definitions begin with: a namespace, as in `mcp.v3.Tool`, or any text if a union of messages
/// shows that it is a prefix, as in `McpClientRequest`.
pub(super) fn namespace(root: &Value) -> &str {
    let names: Vec<&str> = definitions(root, "#").map(|(_, name, _)| name).collect();
    let first = names.first().filter(|_| names.len() > 1).copied().unwrap_or_default();
    let is_common = |prefix: &&str| {
        let mut names = names.iter();
        names.all(|name| name.len() > prefix.len() && name.starts_with(prefix))
    };
    let namespaces = first.rmatch_indices(['.', '/', ':']).map(|(at, _)| &first[..=at]);
    let union = names
        .iter()
        .find_map(|name| message_unions().find_map(|union| name.strip_suffix(union)));
    namespaces.chain(union).find(is_common).unwrap_or_default()
}

/// Moves definitions, and changes the references to them.
fn relocate(root: &mut Value, moves: &Moves) {
    for (old, new) in moves {
        let taken = entry(root, old).and_then(|(definitions, name)| definitions.remove(&name));
        if let (Some(schema), Some((definitions, name))) = (taken, entry(root, new)) {
            definitions.insert(name, schema);
        }
    }
    change_schemas(root, &mut |schema| {
        let Some(Value::String(reference)) = schema.get_mut("$ref") else {
            return;
        };
        let target = pointer::canonical(reference).unwrap_or_default();
        let mut around = std::iter::successors(Some(target.as_str()), |at| Some(at.rsplit_once('/')?.0));
        if let Some((at, new)) = around.find_map(|at| Some((at, moves.get(at)?))) {
            *reference = pointer::reference(&format!("{new}{}", &target[at.len()..]));
        }
    });
}

/// Returns the object around the value at a pointer, and the name of the value in it.
fn entry<'v>(root: &'v mut Value, at: &str) -> Option<(&'v mut Map<String, Value>, String)> {
    let (around, _) = at.rsplit_once('/')?;
    Some((
        root.pointer_mut(&around[1..])?.as_object_mut()?,
        pointer::tokens(at)?.pop()?,
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_namespace_is_what_all_names_begin_with() {
        for (names, namespace) in [
            (&["mcp.v3.Tool", "mcp.v3.Role"][..], "mcp.v3."),
            (&["a/b.Tool", "a/c.Role"], "a/"),
            (&["McpClientRequest", "McpTool"], "Mcp"),
            (&["mcp.Tool", "Role"], ""),
            (&["TaskRequest", "TaskStatus"], ""),
            (&["ClientRequest", "Tool"], ""),
            (&["McpClientRequest", "Tool"], ""),
            (&["mcp.", "mcp.Tool"], ""),
            (&["mcp.Tool"], ""),
        ] {
            let definitions: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), json!(true))).collect();
            assert_eq!(super::namespace(&json!({ "$defs": definitions })), namespace);
        }
    }

    #[test]
    fn definitions_that_only_contain_others_are_removed() {
        let mut schema = json!({"$defs": {
            "Group": {"title": "A group", "$defs": {"A": {"$ref": "#/$defs/Group/$defs/B"}, "B": {}, "Inner": {"definitions": {"C": {}}}}},
            "Taken": {"$defs": {"D": {"type": "string"}}},
            "D": {"$ref": "#/$defs/Taken/$defs/D"},
        }});
        flatten_groups(&mut schema);
        let expected = json!({"$defs": {
            "A": {"$ref": "#/$defs/B"},
            "B": {},
            "C": {},
            "Taken": {"$defs": {"D": {"type": "string"}}},
            "D": {"$ref": "#/$defs/Taken/$defs/D"},
        }});
        assert_eq!(schema, expected);
    }

    #[test]
    fn references_lead_to_the_new_places() {
        let mut schema = json!({"definitions": {
            "Group": {"definitions": {
                "A": {"$ref": "#/definitions/Group/definitions/x~1B/properties/m%25"},
                "x/B": {"properties": {"m%": {"$ref": "#/definitions/Group/definitions/A"}}},
            }},
        }});
        flatten_groups(&mut schema);
        let expected = json!({"definitions": {
            "A": {"$ref": "#/definitions/x~1B/properties/m%25"},
            "x/B": {"properties": {"m%": {"$ref": "#/definitions/A"}}},
        }});
        assert_eq!(schema, expected);
    }
}
