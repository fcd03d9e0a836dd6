//! `unevaluatedProperties` and `unevaluatedItems`.
//!
//! Nothing is recorded while a value is validated, so that schemas without these keywords cost no more. A schema that
//! has one of them evaluates the keywords next to it again, after they have accepted the value.

use std::collections::HashSet;

use super::context::Context;
use super::evaluate::Validation;
use super::node::{NodeId, Rule};
use super::violations::{FINE, Flow, Location, Sink};
use crate::json::{Json, Members};

impl Validation<'_> {
    /// Applies a node to the members that no other rule of the schema has evaluated.
    pub(super) fn unevaluated_members(
        &self,
        node: NodeId,
        members: &Members<'_>,
        context: Context<'_>,
        sink: &mut impl Sink,
    ) -> Flow {
        let mut evaluated = Evaluated::none_of(members.len());
        self.mark(context, &mut evaluated);
        for ((name, value), evaluated) in members.iter().zip(evaluated.parts) {
            if evaluated {
                continue;
            }
            let location = Location::Member(&context.location, name);
            self.validate(node, value, location, sink)?;
        }
        FINE
    }

    /// Applies a node to the elements that no other rule of the schema has evaluated.
    pub(super) fn unevaluated_items(
        &self,
        node: NodeId,
        elements: &[Json<'_>],
        context: Context<'_>,
        sink: &mut impl Sink,
    ) -> Flow {
        let mut evaluated = Evaluated::none_of(elements.len());
        self.mark(context, &mut evaluated);
        for (index, (element, evaluated)) in elements.iter().zip(evaluated.parts).enumerate() {
            if evaluated {
                continue;
            }
            let location = Location::Element(&context.location, index);
            self.validate(node, element, location, sink)?;
        }
        FINE
    }

    /// Marks the members or elements that the rules of a schema evaluate in a value that it accepts, except for
    /// `unevaluated…` itself.
    fn mark(&self, context: Context<'_>, evaluated: &mut Evaluated) {
        let Some(_level) = self.budget.descend(context) else {
            return;
        };
        let value = context.value;
        for rule in &context.node.rules {
            if self.budget.spend(rule.steps(value), context).is_break() {
                return;
            }
            match (rule, value) {
                (Rule::Members(rule), Json::Object(members)) => {
                    for ((name, _), evaluated) in members.iter().zip(&mut evaluated.parts) {
                        *evaluated |= rule.others.is_some()
                            || rule.named(name).is_some()
                            || rule.patterns.iter().any(|(pattern, _)| pattern.matches(name));
                    }
                }
                (Rule::Items(rule), Json::Array(_)) => {
                    let count = match rule.rest {
                        Some(_) => evaluated.parts.len(),
                        None => rule.prefix.len().min(evaluated.parts.len()),
                    };
                    evaluated.parts[..count].fill(true);
                }
                (Rule::Contains(rule), Json::Array(elements)) => {
                    for (index, (element, evaluated)) in elements.iter().zip(&mut evaluated.parts).enumerate() {
                        let location = Location::Element(&context.location, index);
                        *evaluated = *evaluated || self.is_valid(rule.node, element, location);
                    }
                }
                (Rule::DependentSchemas(schemas), Json::Object(members)) => {
                    for (name, node) in schemas {
                        if members.contains_key(name) {
                            self.mark_by(*node, context, evaluated);
                        }
                    }
                }
                (Rule::Ref(node), _) => self.mark_by(*node, context, evaluated),
                (Rule::AllOf(nodes), _) => nodes.iter().for_each(|node| self.mark_by(*node, context, evaluated)),
                (Rule::AnyOf(nodes) | Rule::OneOf(nodes), _) => {
                    for node in nodes {
                        if self.is_valid(*node, value, context.location) {
                            self.mark_by(*node, context, evaluated);
                        }
                    }
                }
                (Rule::If(rule), _) => {
                    let fits = self.is_valid(rule.condition, value, context.location);
                    if fits {
                        self.mark_by(rule.condition, context, evaluated);
                    }
                    if let Some(node) = if fits { rule.then } else { rule.otherwise } {
                        self.mark_by(node, context, evaluated);
                    }
                }
                _ => {}
            }
        }
    }

    fn mark_by(&self, id: NodeId, context: Context<'_>, evaluated: &mut Evaluated) {
        if !evaluated.marked_by.insert(id) {
            return;
        }
        let node = &self.nodes[id];
        let evaluates_the_rest = |rule: &Rule| match context.value {
            Json::Object(_) => matches!(rule, Rule::UnevaluatedMembers(_)),
            _ => matches!(rule, Rule::UnevaluatedItems(_)),
        };
        if node.rules.iter().any(evaluates_the_rest) {
            evaluated.parts.fill(true);
        } else {
            self.mark(Context { node, ..context }, evaluated);
        }
    }
}

/// The members or elements of a value that have been evaluated.
struct Evaluated {
    parts: Vec<bool>,
    /// The nodes that have marked their parts, which they needn't do again.
    marked_by: HashSet<NodeId>,
}

impl Evaluated {
    fn none_of(count: usize) -> Self {
        Self {
            parts: vec![false; count],
            marked_by: HashSet::new(),
        }
    }
}
