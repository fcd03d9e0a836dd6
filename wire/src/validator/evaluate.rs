//! Validation of a value by a node of the arena.

use std::cell::RefCell;
use std::collections::HashMap;

use super::assertion::assertion;
use super::context::Context;
use super::node::{Contains, Items, Members, Node, NodeId, Rule};
use super::value::{Json, Members as Object};
use super::violations::{FINE, Flow, Location, Silent, Sink};

/// One validation of one value.
pub(super) struct Validation<'j> {
    pub(super) nodes: &'j [Node],
    /// The verdicts of memoized nodes on arrays and objects, by their addresses. Without them, a recursive union would
    /// validate a value again on each way to it, twice as often with every level of nesting.
    verdicts: RefCell<HashMap<(NodeId, *const ()), bool>>,
}

impl<'j> Validation<'j> {
    pub(super) fn new(nodes: &'j [Node]) -> Self {
        Self {
            nodes,
            verdicts: RefCell::default(),
        }
    }

    pub(super) fn validate(&self, id: NodeId, value: &Json<'_>, location: Location<'_>, sink: &mut impl Sink) -> Flow {
        let node = &self.nodes[id];
        let context = Context { node, value, location };
        if !(node.memoized && matches!(value, Json::Array(_) | Json::Object(_))) {
            return self.all_rules(context, sink);
        }
        if self.verdict(id, context) {
            return FINE;
        }
        sink.refuse(|violations| self.all_rules(context, violations))
    }

    pub(super) fn is_valid(&self, id: NodeId, value: &Json<'_>) -> bool {
        self.validate(id, value, Location::Root, &mut Silent).is_continue()
    }

    fn verdict(&self, id: NodeId, context: Context<'_>) -> bool {
        // Arrays and objects have stable addresses. Only a property name is a temporary value.
        let key = (id, std::ptr::from_ref(context.value).cast());
        if let Some(verdict) = self.verdicts.borrow().get(&key) {
            return *verdict;
        }
        let verdict = self.all_rules(context, &mut Silent).is_continue();
        self.verdicts.borrow_mut().insert(key, verdict);
        verdict
    }

    fn all_rules(&self, context: Context<'_>, sink: &mut impl Sink) -> Flow {
        for rule in &context.node.rules {
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
                let fits = self.is_valid(rule.condition, value);
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
            self.validate(node, &Json::String(name.into()), location, sink)?;
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
        for element in elements {
            if fitting == enough {
                break;
            }
            fitting += u64::from(self.is_valid(rule.node, element));
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
            if self.is_valid(*node, context.value) {
                return FINE;
            }
        }
        sink.refuse(|violations| self.explain("anyOf", nodes, context, violations))
    }

    fn one_of(&self, nodes: &[NodeId], context: Context<'_>, sink: &mut impl Sink) -> Flow {
        let mut fits = false;
        for node in nodes {
            if !self.is_valid(*node, context.value) {
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
        if !self.is_valid(node, context.value) {
            return FINE;
        }
        context.refuse(sink, "not", || {
            format!("anything that doesn't fit `{}`", self.nodes[node].at)
        })
    }
}
