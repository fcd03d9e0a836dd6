//! Reports unions of messages that are in no direction union, because the schema names it differently: nobody knows then who
//! sends the messages.

use std::collections::BTreeSet;

use mcp_json_schema::pointer;
use mcp_wire::Direction;
use serde_json::{Value, json};

use super::method::Method;
use super::modules::reachable;
use super::type_ref::TypeRef;
use super::types::Model;
use super::unions_of_messages::{method_constant, union_members};
use crate::messages::{DIRECTIONS, MessageKind};
use crate::normalise::{DefinitionShape, Node, NormalisedSchema, Shape};
use crate::problem::{Problem, correction};

pub(super) fn unions_without_sender(model: &Model, schema: &NormalisedSchema) -> Vec<Problem> {
    let kinds = [MessageKind::Request, MessageKind::Notification].into_iter();
    let checks = kinds.map(|kind| Check { model, schema, kind });
    checks.flat_map(|check| check.problems()).collect()
}

/// A direction union: its name and its direction.
type Direct = (&'static str, Direction);

/// A union of messages, or its one member, if the schema inlines that.
struct Union<'m> {
    pointer: &'m str,
    definition: &'m DefinitionShape,
    /// The pointer of the union, or of the definition that its one member is a copy of.
    messages: &'m str,
}

/// A check of the messages of one kind.
struct Check<'m> {
    model: &'m Model,
    schema: &'m NormalisedSchema,
    kind: MessageKind,
}

impl<'m> Check<'m> {
    fn problems(&self) -> Vec<Problem> {
        let of_kind = DIRECTIONS.iter().filter(|(_, kind, _)| *kind == self.kind);
        let unions = of_kind.map(|(union, _, direction)| (*union, *direction));
        let definitions = || self.schema.shapes.definitions.iter();
        let is_defined = |union: &str| definitions().any(|(_, definition)| definition.name == union);
        let (defined, missing): (Vec<Direct>, Vec<Direct>) = unions.partition(|(union, _)| is_defined(union));
        let defined: BTreeSet<String> = defined.iter().flat_map(|(union, _)| self.messages(union)).collect();
        let found = definitions().filter_map(|(pointer, definition)| self.union(pointer, definition));
        let is_unknown = |union: &Union<'_>| {
            let mut messages = self.messages(&union.definition.name).chain([union.messages.to_owned()]);
            messages.any(|message| self.is_sent(&message) && !defined.contains(&message))
        };
        let found = found.filter(is_unknown);
        let (in_results, sent): (Vec<Union<'_>>, Vec<Union<'_>>) = found.partition(|union| self.is_in_results(union));
        match (sent.is_empty(), in_results.first()) {
            (true, Some(first)) => vec![self.unknown_other_senders(first, &in_results, &missing)],
            _ => unknown_senders(&sent, missing),
        }
    }

    fn union(&self, pointer: &'m str, definition: &'m DefinitionShape) -> Option<Union<'m>> {
        let NormalisedSchema { shapes, imported, .. } = self.schema;
        let node = &definition.node;
        if !definition.official || imported.contains(pointer) || node.is_no_method {
            return None;
        }
        let mut methods = self.model.methods.iter();
        let messages = match method_constant(shapes, node) {
            Some(name) if methods.all(|method| self.model.pointer_of(method) != pointer) => {
                let method = self.sent().find(|method| method.name == name)?;
                self.model.pointer_of(method)
            }
            _ if matches!(node.shape, Shape::Union(_)) => {
                let mut members = union_members(shapes, &definition.name).into_iter();
                let is_message =
                    |(pointer, node): (String, &Node)| matches!(node.shape, Shape::Union(_)) || self.is_sent(&pointer);
                members.all(is_message).then_some(pointer)?
            }
            _ => return None,
        };
        Some(Union {
            pointer,
            definition,
            messages,
        })
    }

    /// Returns the messages of this kind that aren't known to occur in results only.
    fn sent(&self) -> impl Iterator<Item = &'m Method> {
        let of_kind = self.model.methods.iter().filter(|method| method.kind == self.kind);
        of_kind.filter(|method| method.direction != Direction::InResult)
    }

    /// Whether the definition at a pointer is such a message.
    fn is_sent(&self, pointer: &str) -> bool {
        self.sent().any(|method| self.model.pointer_of(method) == pointer)
    }

    /// Returns the pointers of the members of a union, and of its inner unions.
    fn messages(&self, union: &str) -> impl Iterator<Item = String> {
        union_members(&self.schema.shapes, union).into_keys()
    }

    /// Returns the messages of this kind that aren't in any of these unions.
    fn outside(&self, unions: &[&Union<'_>]) -> Vec<&'m Method> {
        let members = unions
            .iter()
            .map(|union| union_members(&self.schema.shapes, &union.definition.name));
        let members: Vec<_> = members.collect();
        let is_outside = |method: &&Method| {
            let pointer = self.model.pointer_of(method);
            members.iter().all(|members| !members.contains_key(pointer))
        };
        self.sent().filter(is_outside).collect()
    }

    /// Whether the results of other requests contain a union.
    fn is_in_results(&self, union: &Union<'_>) -> bool {
        let results = self.outside(&[union]).into_iter().flat_map(|method| &method.results);
        let results = results.filter_map(TypeRef::named).map(str::to_owned);
        let reached = reachable(self.model, results.collect(), |_| false);
        let ty = self.model.places.get(union.pointer);
        ty.is_some_and(|ty| reached.contains(ty))
    }

    /// Returns the problem of unions of requests in results, if the senders of all other requests are unknown too.
    fn unknown_other_senders(&self, first: &Union<'_>, unions: &[Union<'_>], missing: &[Direct]) -> Problem {
        let others = self.outside(&unions.iter().collect::<Vec<_>>()).into_iter();
        let others = others.map(|method| json!({"$ref": pointer::reference(self.model.pointer_of(method))}));
        let to = json!({"anyOf": others.collect::<Vec<_>>()});
        let what = "results contain this union of requests, and no union determines who sends the other requests";
        let line = first.correction("ClientRequest", &to);
        Problem::at_pointer(first.pointer, what).help(help(missing, "clients send all others", &line))
    }
}

/// Returns the problems of unions that may be the `missing` direction unions.
fn unknown_senders(unions: &[Union<'_>], missing: Vec<Direct>) -> Vec<Problem> {
    let mut left = missing.clone();
    let problem = |union: &Union<'_>| {
        // If the name doesn't tell the sender, the first union is taken for that of clients.
        let names_sender = |(_, direction): &Direct| union.definition.name.contains(sender(*direction));
        let at = left.iter().position(names_sender).unwrap_or(0);
        let (name, _) = left.remove(at);
        let line = union.correction(name, &json!({"$ref": pointer::reference(union.messages)}));
        let what = "this is a union of messages, and its name doesn't tell who sends them";
        Problem::at_pointer(union.pointer, what).help(help(&missing, &format!("this is {name}"), &line))
    };
    unions.iter().take(missing.len()).map(problem).collect()
}

/// Returns how names of unions call the side that sends in a direction.
fn sender(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "Client",
        _ => "Server",
    }
}

/// Returns the remedy: the direction unions to define, and the line that defines one of them under a condition.
fn help(missing: &[Direct], condition: &str, line: &str) -> String {
    let names: Vec<&str> = missing.iter().map(|(union, _)| *union).collect();
    let names = names.join(" and ");
    format!("define {names} with the messages that each side sends by corrections; if {condition}, by {line}")
}

impl Union<'_> {
    /// Returns the line of the overlay that adds a definition beside this union.
    fn correction(&self, name: &str, definition: &Value) -> String {
        let container = self.pointer.strip_suffix(&pointer::child("", &self.definition.name));
        correction(&pointer::child(container.unwrap_or("#/$defs"), name), None, definition)
    }
}
