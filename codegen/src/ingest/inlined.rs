//! Definitions of the previous revision that a schema writes out instead of referring to them, as some schema generators do.

use std::collections::BTreeMap;

use mcp_json_schema::{DEFINITIONS, all_definitions, pointer, walk};
use serde_json::{Value, json};

use crate::extension::canonical;
use crate::load::is_within;
use crate::normalise::{constant, targets};

/// Adds each definition that only the previous revision has, if what the schema has at the places of the references to it is
/// the same everywhere. Copies of it become references.
pub(super) fn define_inlined(before: &Value, root: &mut Value) {
    let Some(keyword) = DEFINITIONS.into_iter().find(|keyword| root.get(keyword).is_some()) else {
        return;
    };
    // The places of further references can be within a definition that was added.
    while let Some((name, schema)) = written_out(before, root, keyword) {
        let at = pointer::child(&format!("#/{keyword}"), name);
        replace_copies(root, &schema, &at);
        root[keyword][name] = schema;
    }
}

/// Returns a definition that only the previous revision has, and what a schema has in its place.
fn written_out<'b>(before: &'b Value, root: &Value, keyword: &str) -> Option<(&'b str, Value)> {
    let known = all_definitions(root);
    let mut gone = all_definitions(before);
    gone.retain(|(_, name, _)| known.iter().all(|(_, known, _)| known != name));
    gone.into_iter().find_map(|(at, name, definition)| {
        let places = places_of_references(before, &at, keyword);
        let mut found = places.iter().filter_map(|place| at_place(root, place, definition));
        let first = found.next()?;
        let form = canonical(first);
        let is_same = found.all(|other| canonical(other) == form);
        is_same.then(|| (name, first.clone()))
    })
}

/// Returns the pointers of all references to a definition, with the keyword that contains the definitions of the other schema.
fn places_of_references(before: &Value, definition: &str, keyword: &str) -> Vec<String> {
    let mut places = Vec::new();
    walk(before, |at, schema| {
        let reference = schema.get("$ref").and_then(Value::as_str);
        if reference
            .and_then(pointer::canonical)
            .is_some_and(|target| target == definition)
        {
            let rest = DEFINITIONS.iter().find_map(|own| at.strip_prefix(&format!("#/{own}/")));
            places.extend(rest.map(|rest| format!("#/{keyword}/{rest}")));
        }
    });
    places
}

/// Returns what a schema writes out at the place of a reference to a definition.
fn at_place<'r>(root: &'r Value, place: &str, definition: &Value) -> Option<&'r Value> {
    let (list, last) = place.rsplit_once('/')?;
    // The variants of a union may have another order.
    let found = match last.parse::<usize>() {
        Ok(_) => {
            let variants = pointer::resolve(root, list)?.as_array()?.iter();
            let mut same = variants.filter(|variant| has_same_members(definition, variant));
            same.next().filter(|_| same.next().is_none())
        }
        Err(_) => pointer::resolve(root, place),
    };
    let structure = ["properties", "enum", "anyOf", "oneOf", "allOf"];
    found.filter(|schema| structure.iter().any(|keyword| schema.get(keyword).is_some()))
}

/// Whether a variant declares the members of a definition, with the same constants.
fn has_same_members(definition: &Value, variant: &Value) -> bool {
    let members = |schema: &Value| {
        let members = schema.get("properties")?.as_object()?.iter();
        let constants = members.map(|(name, schema)| (name.clone(), constant(schema).cloned()));
        Some(constants.collect::<BTreeMap<_, _>>())
    };
    let declared = members(definition);
    declared.is_some() && declared == members(variant)
}

/// Replaces the copies of a schema by references.
fn replace_copies(root: &mut Value, schema: &Value, at: &str) {
    let (form, targets) = (canonical(schema), targets(root));
    let definitions = all_definitions(root);
    let is_definition = |place: &str| definitions.iter().any(|(at, ..)| at == place);
    let mut copies = Vec::new();
    walk(root, |place, copy| {
        // A reference may lead into a copy.
        let is_free = || !is_definition(place) && targets.iter().all(|target| !is_within(target, place));
        if canonical(copy) == form && is_free() {
            copies.push(place.to_owned());
        }
    });
    for place in copies {
        if let Some(copy) = root.pointer_mut(&place[1..]) {
            *copy = json!({"$ref": pointer::reference(at)});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before() -> Value {
        let icon = json!({"type": "object", "properties": {"src": {"type": "string"}}, "required": ["src"]});
        let client =
            json!({"type": "object", "properties": {"icon": {"$ref": "#/$defs/Icon"}, "name": {"type": "string"}}});
        let variant =
            |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]});
        json!({"$defs": {
            "Icon": icon,
            "Client": client,
            "Text": variant("text"),
            "Image": variant("image"),
            "Block": {"anyOf": [{"$ref": "#/$defs/Text"}, {"$ref": "#/$defs/Image"}]},
            "Call": {"properties": {"from": {"$ref": "#/$defs/Client"}, "to": {"$ref": "#/$defs/Client"}}},
        }})
    }

    /// Returns a schema with a client at two places, after its definitions were added.
    fn with_clients(from: &Value, to: &Value) -> Value {
        let mut schema = json!({"definitions": {
            "Block": before()["$defs"]["Block"],
            "Text": before()["$defs"]["Text"],
            "Image": before()["$defs"]["Image"],
            "Call": {"properties": {"from": from, "to": to}},
            "Called": {"properties": {"by": from}},
        }});
        define_inlined(&before(), &mut schema);
        schema["definitions"].take()
    }

    #[test]
    fn what_is_written_out_at_all_places_of_a_definition_becomes_one() {
        let icon = json!({"type": "object", "properties": {"src": {"type": "string"}, "size": {"type": "integer"}}});
        let client = json!({"type": "object", "properties": {"icon": icon, "name": {"type": "string"}}});
        let mut described = client.clone();
        described["additionalProperties"] = json!({});
        let definitions = with_clients(&client, &described);
        let reference = json!({"$ref": "#/definitions/Client"});
        assert_eq!(
            definitions["Call"]["properties"],
            json!({"from": reference, "to": reference})
        );
        assert_eq!(definitions["Called"]["properties"]["by"], reference);
        // A definition that was written out within another.
        assert_eq!(
            definitions["Client"]["properties"]["icon"],
            json!({"$ref": "#/definitions/Icon"})
        );
        assert_eq!(definitions["Icon"], icon);
    }

    #[test]
    fn what_differs_between_the_places_stays() {
        let [one, other] = ["a", "b"].map(|name| json!({"type": "object", "properties": {name: {"type": "string"}}}));
        let definitions = with_clients(&one, &other);
        assert_eq!(definitions["Call"]["properties"], json!({"from": one, "to": other}));
        assert_eq!(definitions.get("Client"), None);
    }

    #[test]
    fn a_variant_is_found_by_its_constant() {
        let [text, image] = ["Text", "Image"].map(|name| before()["$defs"][name].clone());
        let mut schema = json!({"$defs": {"Block": {"anyOf": [image, text]}}});
        define_inlined(&before(), &mut schema);
        let reference = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
        assert_eq!(
            schema["$defs"]["Block"]["anyOf"],
            json!([reference("Image"), reference("Text")])
        );
        assert_eq!([&schema["$defs"]["Text"], &schema["$defs"]["Image"]], [&text, &image]);
    }
}
