//! The definitions of a schema and their Rust names.

use std::collections::{BTreeMap, BTreeSet};

use crate::messages::{MessageKind, message_unions};
use crate::model::input::BuildInput;
use crate::model::names::unique;
use crate::model::type_ref::TypeRef;
use crate::model::types::Definition;
use crate::normalise::{DefinitionShape, Node, Shape, Shapes, name_of};

/// Chooses a Rust name for each definition, by its pointer. If several would get the same one, such as `ListItem` and
/// `list_item`, that with this name keeps it, or else the first, and the others are numbered.
pub(super) fn name_definitions(input: &BuildInput<'_>) -> BTreeMap<String, String> {
    let wanted = |(pointer, definition): &(&String, &DefinitionShape)| {
        let locked = input.lock.name(pointer).map(str::to_owned);
        let chosen = locked.or_else(|| definition.node.name.clone().map(|name| input.names.type_name(&name)));
        let is_own = chosen.is_some();
        let name = chosen.unwrap_or_else(|| input.names.type_name(&definition.name));
        (is_own || name == definition.name, name)
    };
    let mut definitions: Vec<_> = input.shapes().definitions.iter().collect();
    // Outermost definitions come first, and nested ones get names that are still free.
    definitions.sort_by_cached_key(|entry @ (pointer, definition)| {
        (!definition.official, pointer.matches('/').count(), !wanted(entry).0)
    });
    let mut names = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for entry @ (pointer, definition) in definitions {
        let (_, wanted) = wanted(&entry);
        let is_taken = |name: &str| {
            let is_of_messages = definition.official && message_unions().any(|union| union == name);
            taken.contains(name) || is_of_messages && definition.name != name
        };
        let is_outermost = definition.official && pointer.matches('/').count() == 2;
        let name = match is_outermost || !is_taken(&wanted) {
            true => unique(&wanted, is_taken),
            false => unique(&input.names.type_name(&name_of(pointer)), is_taken),
        };
        taken.insert(name.clone());
        names.insert(pointer.clone(), name);
    }
    names
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
    let (mut named, mut envelopes) = (BTreeMap::new(), BTreeMap::new());
    for (pointer, definition) in official {
        let entry = Definition {
            pointer: pointer.clone(),
            ty: TypeRef::Named(rust_names[pointer].clone()),
            envelope: envelope(input.shapes(), pointer, &mut envelopes),
        };
        let name = match named.contains_key(&definition.name) {
            true => pointer.clone(),
            false => definition.name.clone(),
        };
        named.insert(name, entry);
    }
    named
}

/// Returns the envelope of a definition, or of the definition that it is an alias of. `known` are the envelopes of
/// definitions by their pointers, so that each alias of a long chain is followed once.
fn envelope<'s>(
    shapes: &'s Shapes,
    mut pointer: &'s str,
    known: &mut BTreeMap<&'s str, Option<MessageKind>>,
) -> Option<MessageKind> {
    let mut aliases = Vec::new();
    let envelope = loop {
        if let Some(envelope) = known.get(pointer) {
            break *envelope;
        }
        let Some(definition) = shapes.definitions.get(pointer) else {
            break None;
        };
        // A cycle of aliases ends here.
        known.insert(pointer, definition.envelope);
        match &definition.node.shape {
            Shape::Reference(target) => aliases.push(std::mem::replace(&mut pointer, target)),
            _ => break definition.envelope,
        }
    };
    known.extend(aliases.into_iter().map(|alias| (alias, envelope)));
    envelope
}

/// Returns the union of string and integer that is the id of JSON-RPC's messages: a definition, or a schema in one of
/// them. It can be nullable.
pub(super) fn request_id(shapes: &Shapes) -> Option<&Node> {
    shapes.definitions.values().find_map(|definition| {
        let Shape::Object(members) = &definition.node.shape else {
            return None;
        };
        members.get("jsonrpc")?;
        let id = not_null(&members.get("id")?.node);
        let id = match &id.shape {
            Shape::Reference(pointer) => not_null(&shapes.definitions.get(pointer)?.node),
            _ => id,
        };
        is_string_or_integer(&id.shape).then_some(id)
    })
}

fn not_null(node: &Node) -> &Node {
    match &node.shape {
        Shape::Nullable(inner) => inner,
        _ => node,
    }
}

pub(super) fn is_string_or_integer(shape: &Shape) -> bool {
    let Shape::Union(variants) = shape else { return false };
    let has = |shape: &Shape| variants.iter().any(|variant| variant.shape == *shape);
    variants.len() == 2 && has(&Shape::String) && has(&Shape::Integer)
}
