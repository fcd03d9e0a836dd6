//! Validation of a value by a node of the arena.

use std::cell::RefCell;
use std::collections::HashMap;

use super::assertion::assertion;
use super::budget::Budget;
use super::context::Context;
use super::node::{Contains, Items, Members, Node, NodeId, Rule};
use super::violations::{FINE, Flow, Location, Silent, Sink};
use crate::json::{Json, Members as Object};

/// One validation of one value.
pub(super) struct Validation<'j> {
    pub(super) nodes: &'j [Node],
    pub(super) budget: &'j Budget,
    /// The verdicts of memoized nodes on values, by the addresses of the values. Without them, a value would be
    /// validated again for each path of references to a schema, and two references at each level double the number of
    /// paths.
    verdicts: RefCell<HashMap<(NodeId, *const ()), bool>>,
}

/// The maximum number of verdicts, which bounds their memory. Beyond it, values are validated again, and the budget
/// bounds the time.
const MAX_VERDICTS: usize = 1 << 18;

impl<'j> Validation<'j> {
    pub(super) fn new(nodes: &'j [Node], budget: &'j Budget) -> Self {
        Self {
            nodes,
            budget,
            verdicts: RefCell::default(),
        }
    }

    pub(super) fn validate(&self, id: NodeId, value: &Json<'_>, location: Location<'_>, sink: &mut impl Sink) -> Flow {
        let node = &self.nodes[id];
        let context = Context { node, value, location };
        if !node.memoized.includes(value) {
            return self.all_rules(context, sink);
        }
        if self.verdict(id, context) {
            return FINE;
        }
        sink.refuse(|violations| self.all_rules(context, violations))
    }

    pub(super) fn is_valid(&self, id: NodeId, value: &Json<'_>, location: Location<'_>) -> bool {
        self.validate(id, value, location, &mut Silent).is_continue()
    }

    fn verdict(&self, id: NodeId, context: Context<'_>) -> bool {
        // Values have stable addresses. Only a property name is a temporary value, which has a separate validation.
        let key = (id, std::ptr::from_ref(context.value).cast());
        if let Some(verdict) = self.verdicts.borrow().get(&key) {
            return *verdict;
        }
        let verdict = self.all_rules(context, &mut Silent).is_continue();
        let mut verdicts = self.verdicts.borrow_mut();
        if verdicts.len() < MAX_VERDICTS {
            verdicts.insert(key, verdict);
        }
        verdict
    }

    fn all_rules(&self, context: Context<'_>, sink: &mut impl Sink) -> Flow {
        let Some(_level) = self.budget.descend(context) else {
            return Flow::Break(());
        };
        for rule in &context.node.rules {
            self.budget.spend(rule.steps(context.value), context)?;
            self.rule(rule, context, sink)?;
        }
        FINE
    }

    /// This and the functions below use loops instead of iterators, to keep stack frames small in nested values.
    fn rule(&self, rule: &Rule, context: Context<'_>, sink: &mut impl Sink) -> Flow {
        match (rule, context.value) {
            (Rule::Ref(target), value) => self.validate(*target, value, context.location, sink),
            (Rule::Members(rule), Json::Object(members)) => self.members(rule, members, context, sink),
            (Rule::PropertyNames(node), Json::Object(members)) => self.names(*node, members, context, sink),
            (Rule::Items(rule), Json::Array(elements)) => self.items(rule, elements, context, sink),
            (Rule::Contains(rule), Json::Array(elements)) => self.contains(rule, elements, context, sink),
            (Rule::DependentSchemas(schemas), Json::Object(members)) => {
                for (name, node) in schemas {
                    if members.contains_key(name) {
                        self.validate(*node, context.value, context.location, sink)?;
                    }
                }
                FINE
            }
            (Rule::AllOf(nodes), value) => {
                for node in nodes {
                    self.validate(*node, value, context.location, sink)?;
                }
                FINE
            }
            (Rule::If(rule), value) if rule.then.is_some() || rule.otherwise.is_some() => {
                let fits = self.is_valid(rule.condition, value, context.location);
                match if fits { rule.then } else { rule.otherwise } {
                    Some(node) => self.validate(node, value, context.location, sink),
                    None => FINE,
                }
            }
            (Rule::AnyOf(nodes), _) => self.any_of(nodes, context, sink),
            (Rule::OneOf(nodes), _) => self.one_of(nodes, context, sink),
            (Rule::Not(node), _) => self.not(*node, context, sink),
            (Rule::UnevaluatedMembers(node), Json::Object(members)) => {
                self.unevaluated_members(*node, members, context, sink)
            }
            (Rule::UnevaluatedItems(node), Json::Array(elements)) => {
                self.unevaluated_items(*node, elements, context, sink)
            }
            _ => assertion(rule, context, sink),
        }
    }

    fn members(&self, rule: &Members, members: &Object<'_>, context: Context<'_>, sink: &mut impl Sink) -> Flow {
        for (name, value) in members.iter() {
            let location = Location::Member(&context.location, name);
            let named = rule.named(name);
            if let Some(node) = named {
                self.validate(node, value, location, sink)?;
            }
            let mut applied = named.is_some();
            for (pattern, node) in &rule.patterns {
                if pattern.matches(name) {
                    applied = true;
                    self.validate(*node, value, location, sink)?;
                }
            }
            if let (Some(node), false) = (rule.others, applied) {
                self.validate(node, value, location, sink)?;
            }
        }
        FINE
    }

    fn names(&self, node: NodeId, members: &Object<'_>, context: Context<'_>, sink: &mut impl Sink) -> Flow {
        for (name, _) in members.iter() {
            let location = Location::Member(&context.location, name);
            let validation = Validation::new(self.nodes, self.budget);
            validation.validate(node, &Json::String(name.into()), location, sink)?;
        }
        FINE
    }

    fn items(&self, rule: &Items, elements: &[Json<'_>], context: Context<'_>, sink: &mut impl Sink) -> Flow {
        for (index, element) in elements.iter().enumerate() {
            let Some(node) = rule.prefix.get(index).copied().or(rule.rest) else {
                break;
            };
            let location = Location::Element(&context.location, index);
            self.validate(node, element, location, sink)?;
        }
        FINE
    }

    fn contains(&self, rule: &Contains, elements: &[Json<'_>], context: Context<'_>, sink: &mut impl Sink) -> Flow {
        let enough = rule.max.map_or(rule.min, |max| max.saturating_add(1));
        let mut fitting = 0;
        for (index, element) in elements.iter().enumerate() {
            if fitting == enough {
                break;
            }
            let location = Location::Element(&context.location, index);
            fitting += u64::from(self.is_valid(rule.node, element, location));
        }
        let (keyword, bound, count) = match rule.max {
            _ if fitting < rule.min => ("contains", "at least", rule.min),
            Some(max) if fitting > max => ("maxContains", "at most", max),
            _ => return FINE,
        };
        sink.refuse(|violations| {
            let schema = &self.nodes[rule.node].at;
            let expected = format!("{bound} {count} that fit `{schema}` among the elements");
            let found = if fitting > count {
                "more".to_owned()
            } else {
                fitting.to_string()
            };
            violations.push(context.violation(keyword, expected, found))
        })
    }

    fn any_of(&self, nodes: &[NodeId], context: Context<'_>, sink: &mut impl Sink) -> Flow {
        for node in nodes {
            if self.is_valid(*node, context.value, context.location) {
                return FINE;
            }
        }
        sink.refuse(|violations| self.explain("anyOf", nodes, context, violations))
    }

    fn one_of(&self, nodes: &[NodeId], context: Context<'_>, sink: &mut impl Sink) -> Flow {
        let mut fits = false;
        for node in nodes {
            if !self.is_valid(*node, context.value, context.location) {
                continue;
            }
            if fits {
                return sink.refuse(|violations| {
                    let expected = format!("exactly one of {} alternatives", nodes.len());
                    let found = "a value that fits several".to_owned();
                    violations.push(context.violation("oneOf", expected, found))
                });
            }
            fits = true;
        }
        if fits {
            return FINE;
        }
        sink.refuse(|violations| self.explain("oneOf", nodes, context, violations))
    }

    fn not(&self, node: NodeId, context: Context<'_>, sink: &mut impl Sink) -> Flow {
        if !self.is_valid(node, context.value, context.location) {
            return FINE;
        }
        context.refuse(sink, "not", || {
            format!("anything that doesn't fit `{}`", self.nodes[node].at)
        })
    }
}
