//! The definitions of a schema and their Rust names.

use std::collections::{BTreeMap, BTreeSet};

use mcp_wire::json_schema::pointer;

use crate::messages::{MessageKind, message_unions};
use crate::model::input::BuildInput;
use crate::model::names::unique;
use crate::model::type_ref::TypeRef;
use crate::model::types::Definition;
use crate::normalise::{DefinitionShape, Node, Shape, Shapes, name_of};
use crate::problem::{Problem, Problems, overlay_line, quoted};

/// Chooses a Rust name for each definition, by its pointer.
pub(super) fn name_definitions(input: &BuildInput<'_>) -> Result<BTreeMap<String, String>, Problems> {
    let mut pointers: BTreeMap<String, &str> = BTreeMap::new();
    let mut names = BTreeMap::new();
    let mut collisions = Vec::new();
    // Outermost definitions come first, and nested ones get names that are still free.
    let mut definitions: Vec<_> = input.shapes().definitions.iter().collect();
    definitions.sort_by_key(|(pointer, definition)| (!definition.official, pointer.matches('/').count()));
    for (pointer, definition) in definitions {
        let nested = pointer.matches('/').count() > 2;
        let locked = input.lock.name(pointer).map(str::to_owned);
        let official = definition.node.name.as_ref().unwrap_or(&definition.name);
        let wanted = locked.unwrap_or_else(|| input.names.type_name(official));
        let is_union_of_messages = |name: &str| message_unions().any(|union| union == name);
        let name = match pointers.get(&wanted) {
            Some(other) if !nested && definition.official => {
                let what = format!("{other} and this are both `{wanted}` in Rust");
                collisions.push((pointer, wanted, what));
                continue;
            }
            None if definition.official && is_union_of_messages(&wanted) && definition.name != wanted => {
                let what = format!("a union of messages and this are both `{wanted}` in Rust");
                collisions.push((pointer, wanted, what));
                continue;
            }
            Some(_) => {
                let long = input.names.type_name(&name_of(pointer));
                unique(&long, |name| pointers.contains_key(name))
            }
            None => wanted,
        };
        pointers.insert(name.clone(), pointer);
        names.insert(pointer.clone(), name);
    }
    let mut taken: BTreeSet<String> = pointers
        .into_keys()
        .chain(message_unions().map(str::to_owned))
        .collect();
    let problems = collisions.into_iter().map(|(pointer, wanted, what)| {
        let free = unique(&wanted, |name| taken.contains(name));
        let at = quoted(&pointer::child(pointer, "x-name"));
        let line = overlay_line("corrections", &format!("at: {at}, to: {free}"));
        taken.insert(free);
        let help = format!("give one of them a spelling in `acronyms` of revisions.yaml, or another name by {line}");
        Problem::at_pointer(pointer, what).help(help)
    });
    Problems::check(problems.collect())?;
    Ok(names)
}

/// Returns the definitions of the official schema by name.
pub(super) fn definitions(
    input: &BuildInput<'_>,
    rust_names: &BTreeMap<String, String>,
) -> BTreeMap<String, Definition> {
    let shapes = &input.shapes().definitions;
    let mut official: Vec<_> = shapes.iter().filter(|(_, definition)| definition.official).collect();
    // A nested definition whose name is already in use is identified by its pointer.
    official.sort_by_key(|(pointer, _)| pointer.matches('/').count());
    let mut named = BTreeMap::new();
    for (pointer, definition) in official {
        let entry = Definition {
            pointer: pointer.clone(),
            // Each definition got a name, or there was a collision.
            ty: TypeRef::Named(rust_names[pointer].clone()),
            envelope: envelope(input.shapes(), definition),
        };
        let name = match named.contains_key(&definition.name) {
            true => pointer.clone(),
            false => definition.name.clone(),
        };
        named.insert(name, entry);
    }
    named
}

/// Returns the envelope of a definition, or of the definition that it is an alias of.
fn envelope(shapes: &Shapes, definition: &DefinitionShape) -> Option<MessageKind> {
    let mut definition = definition;
    for _ in 0..shapes.definitions.len() {
        match &definition.node.shape {
            Shape::Reference(pointer) => definition = shapes.definitions.get(pointer)?,
            _ => break,
        }
    }
    definition.envelope
}

/// Returns the definition of the id of JSON-RPC requests, if it is a union of string and integer.
pub(super) fn request_id_pointer(shapes: &Shapes) -> Option<String> {
    shapes.definitions.values().find_map(|definition| {
        let Shape::Object(members) = &definition.node.shape else {
            return None;
        };
        members.get("jsonrpc")?;
        let Shape::Reference(pointer) = &members.get("id")?.node.shape else {
            return None;
        };
        match &shapes.definitions.get(pointer)?.node.shape {
            Shape::Union(variants) if is_string_or_integer(variants) => Some(pointer.clone()),
            _ => None,
        }
    })
}

fn is_string_or_integer(variants: &[Node]) -> bool {
    let has = |shape: &Shape| variants.iter().any(|variant| variant.shape == *shape);
    variants.len() == 2 && has(&Shape::String) && has(&Shape::Integer)
}
