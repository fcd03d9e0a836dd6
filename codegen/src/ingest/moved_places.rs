//! The places in a later schema of the values to which an overlay points.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::{DEFINITIONS, pointer};
use serde_json::Value;

use super::moved_definitions::Moved;
use crate::model::current_name;

const PROPERTIES: &str = "properties";

/// Changes the pointers in the overlay of an earlier schema to what a later one has at another place.
pub(super) fn with_places_in(schemas: [&Value; 2], moved: &[Moved<'_>], (text, overlay): (&str, &Value)) -> String {
    let entries = ["corrections", "deprecated"].map(|section| overlay.get(section).and_then(Value::as_array));
    let places = entries
        .into_iter()
        .flatten()
        .flatten()
        .flat_map(|entry| match &entry["at"] {
            Value::Array(places) => places.as_slice(),
            place => std::slice::from_ref(place),
        });
    let mut text = text.to_owned();
    let mut known = BTreeSet::new();
    for place in places.filter_map(Value::as_str) {
        let Some(now) = place_in(schemas, moved, place).filter(|now| now != place) else {
            continue;
        };
        // Several places can have become one.
        let is_known = !known.insert(now.clone());
        for quote in ['"', '\''] {
            let old = format!("{quote}{place}{quote}");
            if is_known {
                let lines = text.split_inclusive('\n');
                text = lines
                    .filter(|line| line.trim().strip_prefix("- ") != Some(&*old))
                    .collect();
            }
            text = text.replace(&old, &format!("{quote}{}{quote}", escaped(&now, quote)));
        }
    }
    // The values of entries have references too.
    for Moved { before, after, .. } in moved {
        for end in ['/', '"', '\''] {
            text = text.replace(&format!("{before}{end}"), &format!("{}{end}", escaped(after, end)));
        }
    }
    with_pointers_into(schemas[1], &text)
}

/// Escapes a pointer within quotes of YAML: names of generic types can have quotes, as in `Pick<Tool,"name">`.
fn escaped(pointer: &str, quote: char) -> String {
    match quote {
        '\'' => pointer.replace('\'', "''"),
        _ => pointer.replace('\\', "\\\\").replace('"', "\\\""),
    }
}

/// Changes the pointers to definitions that only an overlay adds if a schema has its definitions under the other keyword.
fn with_pointers_into(schema: &Value, text: &str) -> String {
    let [old, new] = DEFINITIONS.map(|keyword| (schema.get(keyword).is_some(), format!("#/{keyword}/")));
    match (old, new) {
        ((true, old), (false, new)) => text.replace(&new, &old),
        ((false, old), (true, new)) => text.replace(&old, &new),
        _ => text.to_owned(),
    }
}

/// Returns the pointer to the same place in a later schema, which can have other names of definitions and members, declare
/// a member in a part of an `allOf` or no longer in one, or in an object inside, or write a union with the other keyword.
fn place_in([earlier, later]: [&Value; 2], moved: &[Moved<'_>], place: &str) -> Option<String> {
    let roots = [earlier, later];
    let mut around = std::iter::successors(Some(place), |at| Some(at.rsplit_once('/')?.0));
    let definition = around.find_map(|at| moved.iter().find(|definition| definition.before == at));
    let (was, now) = definition.map_or(("#", "#"), |definition| (&definition.before, &definition.after));
    let (mut earlier, mut later) = (pointer::resolve(earlier, was)?, pointer::resolve(later, now)?);
    let tokens = pointer::tokens(&format!("#{}", place.strip_prefix(was)?))?;
    let mut tokens = tokens.iter().map(String::as_str).peekable();
    let mut now = now.to_owned();
    while let Some(keyword) = tokens.next() {
        if keyword == "allOf" && later.get(PROPERTIES).is_some() && later.get(keyword).is_none() {
            earlier = inner(inner(earlier, keyword), tokens.next()?);
            continue;
        }
        let Some(name) = tokens.next_if(|_| keyword == PROPERTIES) else {
            let is_list = |keyword: &str| later.get(keyword).is_some_and(Value::is_array);
            let token = match keyword {
                "anyOf" if !is_list("anyOf") && is_list("oneOf") => "oneOf",
                "oneOf" if !is_list("oneOf") && is_list("anyOf") => "anyOf",
                other => other,
            };
            enter(&mut now, &mut later, token);
            earlier = inner(earlier, keyword);
            continue;
        };
        let declares = |schema: &Value| schema[PROPERTIES].get(name).is_some();
        let parts = later["allOf"].as_array().filter(|_| !declares(later));
        if let Some(part) = parts.and_then(|parts| parts.iter().position(declares)) {
            enter(&mut now, &mut later, "allOf");
            enter(&mut now, &mut later, &part.to_string());
        }
        let renamed = new_name(name, [earlier, later]);
        let renamed = renamed.as_deref().unwrap_or(name);
        let inside = || object_with(name, [earlier, later], roots);
        match later[PROPERTIES].get(renamed).is_none().then(inside).flatten() {
            Some(([outer, inner], reference)) => {
                enter(&mut now, &mut later, PROPERTIES);
                enter(&mut now, &mut later, outer);
                if let Some(reference) = reference {
                    (now, later) = (reference.to_owned(), pointer::resolve(roots[1], reference)?);
                }
                enter(&mut now, &mut later, PROPERTIES);
                enter(&mut now, &mut later, inner);
            }
            None => {
                enter(&mut now, &mut later, PROPERTIES);
                enter(&mut now, &mut later, renamed);
            }
        }
        earlier = inner(inner(earlier, PROPERTIES), name);
    }
    Some(now)
}

/// Adds a token to a pointer, and goes to the value there.
fn enter(now: &mut String, later: &mut &Value, token: &str) {
    pointer::push(now, token);
    *later = inner(later, token);
}

fn inner<'v>(schema: &'v Value, token: &str) -> &'v Value {
    let inner = match schema {
        Value::Array(elements) => token.parse::<usize>().ok().and_then(|index| elements.get(index)),
        _ => schema.get(token),
    };
    inner.unwrap_or(&Value::Null)
}

/// Returns the member of a later object that is an object with a member of the earlier one, the name there, and the
/// reference to the object's definition. A member in a new object has the same name or schema as before, and one in an
/// object that the earlier one has too has the same name. It is the only one.
fn object_with<'v>(
    name: &str,
    [earlier, later]: [&'v Value; 2],
    roots: [&'v Value; 2],
) -> Option<([&'v str; 2], Option<&'v str>)> {
    let before = inner(inner(earlier, PROPERTIES), name);
    let mut found = later[PROPERTIES].as_object()?.iter().flat_map(|(outer, schema)| {
        let was = earlier[PROPERTIES]
            .get(outer)
            .map(|was| &object(roots[0], was)[PROPERTIES]);
        let members = object(roots[1], schema)[PROPERTIES].as_object().into_iter().flatten();
        let same = members.filter(move |(inner, schema)| match was {
            None => *inner == name || *schema == before,
            Some(was) => *inner == name && was.get(name).is_none(),
        });
        same.map(move |(inner, _)| ([&**outer, &**inner], schema["$ref"].as_str()))
    });
    found.next().filter(|_| found.next().is_none())
}

/// Returns the schema that a schema refers to, or else itself.
fn object<'v>(root: &'v Value, schema: &'v Value) -> &'v Value {
    let reference = schema["$ref"].as_str();
    let target = reference.and_then(|reference| pointer::resolve(root, reference));
    target.unwrap_or(schema)
}

/// Returns the name that a later object gives a member of the earlier one.
///
/// A member that is optional and has only a type isn't followed: others can be the same by chance.
fn new_name(name: &str, objects: [&Value; 2]) -> Option<String> {
    let [earlier, later] = objects.map(|object| {
        let members = object[PROPERTIES].as_object().into_iter().flatten();
        let required = object["required"].as_array();
        let is_required = |name: &String| required.is_some_and(|required| required.iter().any(|other| other == name));
        let members = members.map(|(name, schema)| (name.clone(), (schema, is_required(name))));
        members.collect::<BTreeMap<_, _>>()
    });
    let (schema, is_required) = earlier.get(name)?;
    let has_only_type = schema.get("type").is_some() && schema.as_object().is_some_and(|keywords| keywords.len() == 1);
    (*is_required || !has_only_type).then(|| current_name(name, [earlier, later]))
}
