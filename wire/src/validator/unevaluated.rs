//! `unevaluatedProperties` and `unevaluatedItems`.
//!
//! Nothing is recorded while a value is validated, so that schemas without these keywords cost no more. A schema that has one
//! of them goes through the keywords beside it again, after they have accepted the value.

use super::context::Context;
use super::evaluate::Validation;
use super::node::{NodeId, Rule};
use super::value::{Json, Members};
use super::violations::{FINE, Flow, Location, Sink};

impl Validation<'_> {
    /// Applies a node to the members that no other rule of the schema has evaluated.
    pub(super) fn unevaluated_members(
        &self,
        node: NodeId,
        members: &Members<'_>,
        context: Context<'_>,
        sink: &mut impl Sink,
    ) -> Flow {
        let mut evaluated = vec![false; members.len()];
        self.mark(&context.node.rules, context.value, &mut evaluated);
        for ((name, value), evaluated) in members.iter().zip(evaluated) {
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
        let mut evaluated = vec![false; elements.len()];
        self.mark(&context.node.rules, context.value, &mut evaluated);
        for (index, (element, evaluated)) in elements.iter().zip(evaluated).enumerate() {
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
    fn mark(&self, rules: &[Rule], value: &Json<'_>, evaluated: &mut [bool]) {
        for rule in rules {
            match (rule, value) {
                (Rule::Members(rule), Json::Object(members)) => {
                    for ((name, _), evaluated) in members.iter().zip(&mut *evaluated) {
                        *evaluated |= rule.others.is_some()
                            || rule.named(name).is_some()
                            || rule.patterns.iter().any(|(pattern, _)| pattern.matches(name));
                    }
                }
                (Rule::Items(rule), Json::Array(_)) => {
                    let count = match rule.rest {
                        Some(_) => evaluated.len(),
                        None => rule.prefix.len().min(evaluated.len()),
                    };
                    evaluated[..count].fill(true);
                }
                (Rule::Contains(rule), Json::Array(elements)) => {
                    for (element, evaluated) in elements.iter().zip(&mut *evaluated) {
                        *evaluated = *evaluated || self.is_valid(rule.node, element);
                    }
                }
                (Rule::DependentSchemas(schemas), Json::Object(members)) => {
                    for (name, node) in schemas {
                        if members.contains_key(name) {
                            self.mark_by(*node, value, evaluated);
                        }
                    }
                }
                (Rule::Ref(node), _) => self.mark_by(*node, value, evaluated),
                (Rule::AllOf(nodes), _) => nodes.iter().for_each(|node| self.mark_by(*node, value, evaluated)),
                (Rule::AnyOf(nodes) | Rule::OneOf(nodes), _) => {
                    for node in nodes {
                        if self.is_valid(*node, value) {
                            self.mark_by(*node, value, evaluated);
                        }
                    }
                }
                (Rule::If(rule), _) => {
                    let fits = self.is_valid(rule.condition, value);
                    if fits {
                        self.mark_by(rule.condition, value, evaluated);
                    }
                    if let Some(node) = if fits { rule.then } else { rule.otherwise } {
                        self.mark_by(node, value, evaluated);
                    }
                }
                _ => {}
            }
        }
    }

    fn mark_by(&self, node: NodeId, value: &Json<'_>, evaluated: &mut [bool]) {
        let rules = &self.nodes[node].rules;
        let evaluates_the_rest = |rule: &Rule| match value {
            Json::Object(_) => matches!(rule, Rule::UnevaluatedMembers(_)),
            _ => matches!(rule, Rule::UnevaluatedItems(_)),
        };
        if rules.iter().any(evaluates_the_rest) {
            evaluated.fill(true);
        } else {
            self.mark(rules, value, evaluated);
        }
    }
}
