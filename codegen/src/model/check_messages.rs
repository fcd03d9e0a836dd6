//! Refuses messages that the generated types would lose, and requests without a known result.

use std::collections::BTreeMap;

use mcp_json_schema::pointer;
use serde_json::{Value, json};

use super::check_senders::unions_without_sender;
use super::messages::{empty_result, result_stem, unused_results};
use super::method::Method;
use super::types::Model;
use super::unions_of_messages::{twins, union_members};
use crate::messages::DIRECTIONS;
use crate::normalise::{Node, NormalisedSchema, Scalar, Shape, Shapes};
use crate::problem::{Problem, Problems, correction, overlay_line};

/// The version of JSON-RPC.
const VERSION: &str = "2.0";

/// Checks the methods that were found against the schema.
///
/// # Errors
/// A member of a direction union that isn't a method or that differs from the definition of its method, a method that two
/// definitions define, a request without a result, unions of messages none of which is a direction union.
pub(super) fn check_messages(model: &Model, schema: &NormalisedSchema) -> Result<(), Problems> {
    let mut problems = members_without_method(model, schema);
    problems.extend(methods_defined_twice(model, schema));
    problems.extend(requests_without_result(model, schema));
    problems.extend(unions_without_sender(model, schema));
    problems.extend(different_copies(schema));
    problems.extend(other_envelopes(schema));
    Problems::check(problems)
}

fn members_without_method(model: &Model, schema: &NormalisedSchema) -> Vec<Problem> {
    let NormalisedSchema { shapes, imported, .. } = schema;
    let mut problems = Vec::new();
    let is_imported = |union: &str| {
        let definition = model.definitions.get(union);
        definition.is_some_and(|definition| imported.contains(&definition.pointer))
    };
    for (union, ..) in DIRECTIONS.into_iter().filter(|(union, ..)| !is_imported(union)) {
        for (pointer, node) in union_members(shapes, union) {
            let has_members_itself = matches!(node.shape, Shape::Union(_) | Shape::Reference(_));
            let is_method = model.methods.iter().any(|method| model.pointer_of(method) == pointer);
            if has_members_itself || is_method || node.is_no_method {
                continue;
            }
            if imported.contains(&pointer) {
                let what = format!("this member of `{union}` is a message of the revision that the extension extends");
                let help = "leave it out of the union, which is of the extension's own messages";
                problems.push(Problem::at_pointer(pointer, what).help(help));
                continue;
            }
            let what = format!("this member of `{union}` isn't a definition with a constant `method`");
            let help = match known_method(schema, &pointer, node).or_else(|| type_of_object(schema, &pointer)) {
                Some(line) => format!("give it one by {line}"),
                None => format!("give it one by a correction, or {}", leave_out(&pointer)),
            };
            problems.push(Problem::at_pointer(pointer, what).help(help));
        }
    }
    problems.dedup_by(|a, b| a.pointer == b.pointer);
    problems
}

/// Returns the line of the overlay that limits the method of a definition to the values that its schema names.
fn known_method(schema: &NormalisedSchema, pointer: &str, node: &Node) -> Option<String> {
    let member = schema.shapes.members(node)?.get("method")?;
    let Shape::Strings(known) = schema.shapes.shape(&member.node) else {
        return None;
    };
    let at = format!("{pointer}/properties/method");
    let official = schema.document.get(&at);
    let expect = official.filter(|_| schema.shapes.definitions.contains_key(pointer))?;
    Some(correction(
        &at,
        Some(expect),
        json!({"type": "string", "enum": known.values}),
    ))
}

/// Returns the line of the overlay that limits a definition with a constant method to objects.
fn type_of_object(schema: &NormalisedSchema, pointer: &str) -> Option<String> {
    let definition = schema.document.get(pointer)?.as_object()?;
    let method = definition.get("properties")?.get("method")?;
    let has_method = ["const", "enum"].iter().any(|keyword| method.get(keyword).is_some());
    let is_open = has_method && !definition.contains_key("type");
    is_open.then(|| correction(&format!("{pointer}/type"), None, "object"))
}

fn methods_defined_twice(model: &Model, schema: &NormalisedSchema) -> Vec<Problem> {
    let pairs = model.methods.windows(2);
    let twice = pairs.filter(|pair| (pair[0].kind, &pair[0].name) == (pair[1].kind, &pair[1].name));
    let problem = |pair: &[Method]| {
        let [first, second] = [0, 1].map(|index| model.pointer_of(&pair[index]));
        let what = format!("`{}` is the method of {first} too", pair[1].name);
        let line = match written(schema, second) {
            at if at == second => leave_out(second),
            at => remove_method(model, schema, (at, &pair[1].name)),
        };
        let help = format!("correct the constant of one of them, or {line}");
        Problem::at_pointer(second, what).help(help)
    };
    twice.map(problem).collect()
}

/// Finds messages in unions that have other members than the definition of their method, whose copies they should be.
fn different_copies(schema: &NormalisedSchema) -> Vec<Problem> {
    let shapes = &schema.shapes;
    let is_direction = |name: &str| DIRECTIONS.iter().any(|(union, ..)| *union == name);
    let unions = shapes.definitions.values().filter(|union| is_direction(&union.name));
    let problem = |copy: &Node| {
        let (definition, _) = twins(shapes, copy).find(|(_, twin)| payload(shapes, twin) != payload(shapes, copy))?;
        let (at, to) = (&copy.pointer, json!({"$ref": pointer::reference(&definition)}));
        let line = correction(at, Some(schema.document.get(at)?), to);
        let what = format!("{definition} has this method too, but declares or requires other members");
        let help = format!("give one of them another method, or if they are the same message, refer to it by {line}");
        Some(Problem::at_pointer(at, what).help(help))
    };
    let copies = unions.flat_map(|union| inline_messages(&union.node));
    copies.filter_map(problem).collect()
}

fn inline_messages(union: &Node) -> Vec<&Node> {
    match &union.shape {
        Shape::Union(variants) => variants.iter().flat_map(inline_messages).collect(),
        Shape::Reference(_) => Vec::new(),
        _ => vec![union],
    }
}

/// Returns the members of a message outside the envelope, and whether they are required.
fn payload<'s>(shapes: &'s Shapes, message: &'s Node) -> BTreeMap<&'s str, bool> {
    let members = shapes.members(message).into_iter().flatten();
    let members = members.filter(|(name, _)| !["jsonrpc", "id"].contains(&name.as_str()));
    members.map(|(name, member)| (name.as_str(), member.required)).collect()
}

fn requests_without_result(model: &Model, schema: &NormalisedSchema) -> Vec<Problem> {
    let without: Vec<&Method> = model.requests().filter(|method| method.results.is_empty()).collect();
    let unused = unused_results(model, &schema.shapes);
    let problem = |method: &&Method| {
        let pointer = written(schema, model.pointer_of(method));
        let stem = result_stem(model, &method.definition);
        let name = &method.name;
        let help = match empty_result(model) {
            Some(empty) => {
                let line = overlay_line("results", &format!("method: {}, result: {empty}", json!(name)));
                let names = unused.join(", ");
                format!(
                    "name its result, such as one of no other request ({names}), or if it is empty, define it by {line}"
                )
            }
            None => {
                let (container, _) = pointer.rsplit_once('/').unwrap_or(("#/$defs", ""));
                let line = correction(&format!("{container}/{stem}Result"), None, "{type: object}");
                format!("define its result by {line}")
            }
        };
        let what = format!("the request `{name}` has no result: there is no `{stem}Result`");
        Problem::at_pointer(pointer, what).help(help)
    };
    // Requests that are defined as one have the same result.
    let mut problems: Vec<Problem> = without.iter().map(problem).collect();
    problems.dedup_by(|a, b| a.help == b.help);
    problems
}

/// Finds messages of another version of JSON-RPC, whose envelope nothing reads or writes.
fn other_envelopes(schema: &NormalisedSchema) -> Vec<Problem> {
    let shapes = &schema.shapes;
    let found = shapes.definitions.iter().filter_map(|(pointer, definition)| {
        // An alias has the envelope of its target, which is a definition too.
        let Shape::Object(members) = &definition.node.shape else {
            return None;
        };
        let version = &members.get("jsonrpc")?.node;
        match shapes.shape(version) {
            Shape::Constant(Scalar::String(known)) if known == VERSION => None,
            Shape::Constant(_) => Some(format!("{pointer}/properties/jsonrpc")),
            _ => None,
        }
    });
    let problem = |pointer: String| {
        let what = format!("the envelope of messages is that of JSON-RPC {VERSION}, and this is another version");
        let help = "a new envelope needs a change of mcp-wire: no entry of the overlay can express it";
        Problem::at_pointer(pointer, what).help(help)
    };
    found.map(problem).collect()
}

/// Returns the pointer of a definition, or of the one that defines the message together with others.
fn written<'p>(schema: &NormalisedSchema, pointer: &'p str) -> &'p str {
    match pointer.rsplit_once("/$defs/") {
        Some((around, _)) if schema.document.get(pointer).is_none() => around,
        _ => pointer,
    }
}

/// Returns the remedy that removes one of the methods of a definition at a pointer.
fn remove_method(model: &Model, schema: &NormalisedSchema, (pointer, removed): (&str, &str)) -> String {
    let methods = model.methods.iter();
    let methods = methods.filter(|method| written(schema, model.pointer_of(method)) == pointer);
    let names: Vec<&str> = methods.map(|method| method.name.as_str()).collect();
    let kept: Vec<&str> = names.into_iter().filter(|name| *name != removed).collect();
    let at = format!("{pointer}/properties/method");
    let expect = schema.document.get(&at).unwrap_or(&Value::Null);
    let to = json!({"type": "string", "enum": kept});
    format!("leave it out by {}", correction(&at, Some(expect), to))
}

fn leave_out(pointer: &str) -> String {
    format!(
        "leave it out by {}",
        correction(&format!("{pointer}/x-method"), None, false)
    )
}
