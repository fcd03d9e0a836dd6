//! Where `$ref`s lead.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dialect::Dialect;
use super::document::Document;
use super::keyword::{Shape, shape, subschemas};
use super::pointer;
use crate::problem::Problem;

/// The keywords whose schemas judge the same value as the schema around them.
const IN_PLACE: [&str; 9] = [
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "oneOf",
    "then",
];

/// The schema that a `$ref` into its own document leads to, with its pointer.
///
/// # Errors
///
/// What is wrong with the reference, and the next step.
pub fn follow<'document>(
    root: &'document Value,
    reference: &str,
) -> Result<(String, &'document Value), (String, String)> {
    let Some(target) = pointer::of_reference(reference) else {
        return Err(if reference.starts_with('#') {
            (
                format!("{reference} is an anchor, which the generator can't honour"),
                "refer to the definition by its place, as in #/$defs/Name".into(),
            )
        } else {
            (
                format!("{reference} leads out of this document, and no alias stands for it"),
                format!(
                    "nothing is fetched for a reference: put `\"{reference}\": {{a schema}}` under `aliases` in revisions.yaml"
                ),
            )
        });
    };
    if target == "#" {
        return Err((
            "a reference to the whole document names no type".into(),
            "refer to a definition, as in #/$defs/Name".into(),
        ));
    }
    let Some(schema) = schema_at(root, &target) else {
        return Err((
            format!("{reference} leads to nothing: no schema stands there"),
            "add the definition or correct the name, through the revision's overlay.yaml if the official schema has it so".into(),
        ));
    };
    Ok((target, schema))
}

/// The value at a pointer if it stands where a schema stands; a member's name or an enum's value is none.
fn schema_at<'document>(root: &'document Value, pointer: &str) -> Option<&'document Value> {
    let path = pointer::tokens(pointer)?;
    let mut path = path.iter();
    let mut schema = root;
    while let Some(keyword) = path.next() {
        let value = schema.get(keyword)?;
        schema = match shape(keyword)? {
            Shape::Schema => value,
            Shape::Items if !value.is_array() => value,
            Shape::Schemas | Shape::Items => value.as_array()?.get(path.next()?.parse::<usize>().ok()?)?,
            Shape::SchemaMap | Shape::Dependencies => value.as_object()?.get(path.next()?)?,
            _ => return None,
        };
    }
    (schema.is_object() || schema.is_boolean()).then_some(schema)
}

/// Finds references that come back to themselves before they reach any keyword that takes an instance apart: no value can be judged
/// by them. References from a member back to its own type are no such circle.
pub(super) fn find_circles(document: &Document, dialect: Dialect) -> Vec<Problem> {
    let mut edges = BTreeMap::new();
    collect_edges(
        document.root(),
        &mut String::from("#"),
        document.root(),
        dialect,
        &mut edges,
    );
    let mut search = Search {
        edges: &edges,
        state: BTreeMap::new(),
        circles: Vec::new(),
    };
    for start in edges.keys() {
        search.from(start);
    }
    let shown = |circle: Vec<&str>| {
        let all: Vec<_> = circle.iter().chain(circle.first()).copied().collect();
        let start = circle.first().copied().unwrap_or("#");
        document
            .problem(start, format!("this reference only leads back to itself: {}", all.join(" -> ")))
            .help("one schema of the circle must say something of its own: correct it through the revision's overlay.yaml")
    };
    search.circles.into_iter().map(shown).collect()
}

/// The schemas that must judge the same value as a schema does, by pointer.
type Edges = BTreeMap<String, Vec<String>>;

fn collect_edges(schema: &Value, pointer: &mut String, root: &Value, dialect: Dialect, edges: &mut Edges) {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let mut targets: Vec<_> = reference
        .and_then(|reference| follow(root, reference).ok())
        .map(|(target, _)| target)
        .into_iter()
        .collect();
    let above = pointer.len();
    for (steps, inner) in subschemas(schema) {
        steps.iter().for_each(|step| pointer::push(pointer, step));
        let is_in_place = steps
            .first()
            .is_some_and(|keyword| IN_PLACE.contains(&keyword.as_str()));
        // Draft-07 ignores whatever stands beside a `$ref`.
        if is_in_place && !(dialect == Dialect::Draft07 && reference.is_some()) {
            targets.push(pointer.clone());
        }
        collect_edges(inner, pointer, root, dialect, edges);
        pointer.truncate(above);
    }
    if !targets.is_empty() {
        edges.insert(pointer.clone(), targets);
    }
}

#[derive(PartialEq)]
enum State {
    OnTheWay,
    Done,
}

struct Search<'edges> {
    edges: &'edges Edges,
    state: BTreeMap<&'edges str, State>,
    circles: Vec<Vec<&'edges str>>,
}

impl<'edges> Search<'edges> {
    /// Goes depth first with a list of its own: a chain of aliases may be longer than the stack is deep.
    fn from(&mut self, start: &'edges str) {
        if self.state.contains_key(start) {
            return;
        }
        self.state.insert(start, State::OnTheWay);
        let mut way = vec![(start, self.next(start))];
        while let Some((here, targets)) = way.last_mut() {
            let here = *here;
            let Some(target) = targets.next().map(String::as_str) else {
                self.state.insert(here, State::Done);
                way.pop();
                continue;
            };
            match self.state.get(target) {
                None => {
                    self.state.insert(target, State::OnTheWay);
                    way.push((target, self.next(target)));
                }
                Some(State::OnTheWay) => {
                    let circle = way
                        .iter()
                        .map(|(pointer, _)| *pointer)
                        .skip_while(|pointer| *pointer != target);
                    self.circles.push(circle.collect());
                }
                Some(State::Done) => {}
            }
        }
    }

    fn next(&self, pointer: &str) -> std::slice::Iter<'edges, String> {
        self.edges.get(pointer).map(Vec::as_slice).unwrap_or_default().iter()
    }
}
