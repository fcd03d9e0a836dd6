//! Definitions in namespaces.

use std::collections::BTreeMap;

use mcp_wire::json_schema::{DEFINITIONS, change_schemas, definitions, pointer};
use serde_json::{Map, Value};

use crate::load::PROSE;
use crate::messages::message_unions;

/// Removes namespaces of definitions: a definition that only contains others, as in `Tools/$defs/Tool`, and what the names
/// of all definitions begin with, as in `mcp.v3.Tool`, or in `McpTool` if there is a union of messages `McpClientRequest`.
pub(super) fn remove_namespaces(root: &mut Value) {
    loop {
        let nested = moves_from_groups(root);
        if nested.is_empty() {
            break;
        }
        relocate(root, &nested);
        for keyword in DEFINITIONS {
            if let Some(Value::Object(definitions)) = root.get_mut(keyword) {
                definitions.retain(|_, definition| !is_empty_group(definition));
            }
        }
    }
    let prefixed = DEFINITIONS
        .iter()
        .flat_map(|keyword| moves_from_prefix(root, keyword))
        .collect();
    relocate(root, &prefixed);
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

/// Returns the moves of definitions to their names without what all begin with.
fn moves_from_prefix(root: &Value, keyword: &str) -> Moves {
    let Some(definitions) = root.get(keyword).and_then(Value::as_object) else {
        return Moves::new();
    };
    let Some(prefix) = prefix(definitions) else {
        return Moves::new();
    };
    let at = |name: &str| pointer::child(&format!("#/{keyword}"), name);
    let moves = definitions.keys().map(|name| (at(name), at(&name[prefix.len()..])));
    moves.collect()
}

fn prefix(definitions: &Map<String, Value>) -> Option<&str> {
    let first = definitions.keys().next().filter(|_| definitions.len() > 1)?;
    let is_common = |prefix: &&str| {
        let mut names = definitions.keys();
        names.all(|name| name.len() > prefix.len() && name.starts_with(prefix))
    };
    let namespaces = first.rmatch_indices(['.', '/', ':']).map(|(at, _)| &first[..=at]);
    let union = definitions
        .keys()
        .find_map(|name| message_unions().find_map(|union| name.strip_suffix(union)));
    namespaces
        .chain(union.filter(|prefix| !prefix.is_empty()))
        .find(is_common)
}

/// Moves definitions, and changes the references to them.
fn relocate(root: &mut Value, moves: &Moves) {
    let mut taken = Vec::new();
    for (old, new) in moves {
        let (container, _) = old.rsplit_once('/').unwrap_or_default();
        let names = [old, new].map(|at| {
            pointer::tokens(at)
                .and_then(|mut tokens| tokens.pop())
                .unwrap_or_default()
        });
        if let Some(Value::Object(definitions)) = root.pointer_mut(&container[1..]) {
            taken.extend(
                definitions
                    .remove(&names[0])
                    .map(|schema| (new, names[1].clone(), schema)),
            );
        }
    }
    for (new, name, schema) in taken {
        let (container, _) = new.rsplit_once('/').unwrap_or_default();
        if let Some(Value::Object(definitions)) = root.pointer_mut(&container[1..]) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shortened(names: &[&str]) -> Vec<String> {
        let definitions: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), json!(true))).collect();
        let mut schema = json!({ "$defs": definitions });
        remove_namespaces(&mut schema);
        schema["$defs"].as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn the_prefix_of_all_names_is_removed() {
        assert_eq!(shortened(&["mcp.v3.Tool", "mcp.v3.Role"]), ["Role", "Tool"]);
        assert_eq!(shortened(&["a/b.Tool", "a/c.Role"]), ["b.Tool", "c.Role"]);
        assert_eq!(shortened(&["McpClientRequest", "McpTool"]), ["ClientRequest", "Tool"]);
    }

    #[test]
    fn other_names_stay() {
        for names in [
            &["mcp.Tool", "Role"][..],
            &["TaskRequest", "TaskStatus"],
            &["ClientRequest", "Tool"],
            &["McpClientRequest", "Tool"],
            &["mcp.", "mcp.Tool"],
            &["mcp.Tool"],
        ] {
            let mut sorted = names.to_vec();
            sorted.sort_unstable();
            assert_eq!(shortened(names), sorted);
        }
    }

    #[test]
    fn definitions_that_only_contain_others_are_removed() {
        let mut schema = json!({"$defs": {
            "Group": {"title": "A group", "$defs": {"A": {"$ref": "#/$defs/Group/$defs/B"}, "B": {}, "Inner": {"definitions": {"C": {}}}}},
            "Taken": {"$defs": {"D": {"type": "string"}}},
            "D": {"$ref": "#/$defs/Taken/$defs/D"},
        }});
        remove_namespaces(&mut schema);
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
    fn references_lead_to_the_new_names() {
        let mut schema = json!({"definitions": {
            "x/y.A": {"$ref": "#/definitions/x~1y.B/properties/m%25"},
            "x/y.B": {"properties": {"m%": {"$ref": "#/definitions/x~1y.A"}, "$ref": {"const": "#/definitions/x~1y.A"}}},
        }});
        remove_namespaces(&mut schema);
        let expected = json!({"definitions": {
            "A": {"$ref": "#/definitions/B/properties/m%25"},
            "B": {"properties": {"m%": {"$ref": "#/definitions/A"}, "$ref": {"const": "#/definitions/x~1y.A"}}},
        }});
        assert_eq!(schema, expected);
    }
}
