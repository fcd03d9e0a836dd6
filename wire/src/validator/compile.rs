//! From a schema document to the arena of nodes.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde_json::Value;

use crate::json_schema::{Dialect, find_cycles};

use super::error::{Problem, SchemaError, unexpected};
use super::keywords::Keywords;
use super::node::{Node, NodeId, Rule};
use super::resources::{ResourceId, Resources};

/// A compiled document.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) nodes: Vec<Node>,
    /// By the canonical pointers of the subschemas.
    pub(super) entries: HashMap<String, NodeId>,
}

/// What references in a schema are resolved against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    resource: ResourceId,
    scope: ScopeId,
}

/// Where each dynamic anchor leads: to the outermost resource on the way that has it.
///
/// A schema that can be reached in several dynamic scopes is compiled once for each of them, so that validation needs to
/// know nothing about them.
type Scope = BTreeMap<String, (String, ResourceId)>;

type ScopeId = usize;

/// How many dynamic scopes a document may have. Each costs a copy of the schemas that are reached in it.
const MAX_SCOPES: usize = 100;

pub(super) struct Compiler<'a> {
    resources: Resources<'a>,
    scopes: Vec<Scope>,
    nodes: Vec<Node>,
    known: HashMap<(String, ScopeId), NodeId>,
    /// The nodes whose rules are still to be made.
    pending: VecDeque<(NodeId, Base, &'a Value)>,
    problems: Vec<Problem>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(document: &'a Value) -> Result<Self, SchemaError> {
        Ok(Self {
            resources: Resources::of(document).map_err(SchemaError::new)?,
            scopes: vec![Scope::new()],
            nodes: Vec::new(),
            known: HashMap::new(),
            pending: VecDeque::new(),
            problems: Vec::new(),
        })
    }

    pub(super) fn compile(mut self, document: &'a Value) -> Result<Compiled, SchemaError> {
        let outside = Base { resource: 0, scope: 0 };
        self.node("#".to_owned(), document, outside);
        while let Some((node, base, schema)) = self.pending.pop_front() {
            self.nodes[node].rules = self.rules(node, base, schema);
        }
        self.refuse_cycles();
        if !self.problems.is_empty() {
            return Err(SchemaError::new(self.problems));
        }
        let all = |node: &Node| [node.in_place(), node.inward()].concat();
        for node in cycle_starts(&self.nodes, all) {
            self.nodes[node].memoized = true;
        }
        for node in under_unevaluated(&self.nodes) {
            self.nodes[node].memoized = true;
        }
        let mut entries = HashMap::new();
        for ((at, _), node) in self.known {
            // The first was compiled in the scope of the document itself.
            let entry = entries.entry(at).or_insert(node);
            *entry = node.min(*entry);
        }
        Ok(Compiled {
            nodes: self.nodes,
            entries,
        })
    }

    /// The node of the subschema at a place, to be compiled later unless it was met before.
    pub(super) fn node(&mut self, at: String, schema: &'a Value, outer: Base) -> NodeId {
        let resource = self.resources.at_root(&at).unwrap_or(outer.resource);
        self.node_in(at, schema, resource, outer.scope)
    }

    fn node_in(&mut self, at: String, schema: &'a Value, resource: ResourceId, scope: ScopeId) -> NodeId {
        let scope = self.enter(resource, scope);
        let key = (at, scope);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            at: key.0.clone(),
            rules: Vec::new(),
            memoized: false,
        });
        self.known.insert(key, node);
        self.pending.push_back((node, Base { resource, scope }, schema));
        node
    }

    /// The dynamic scope inside of a resource.
    fn enter(&mut self, resource: ResourceId, scope: ScopeId) -> ScopeId {
        let anchors = self.resources.get(resource).dynamic_anchors();
        let unbound = anchors.filter(|(name, _)| !self.scopes[scope].contains_key(*name));
        let unbound: Vec<_> = unbound
            .map(|(name, at)| (name.to_owned(), (at.to_owned(), resource)))
            .collect();
        if unbound.is_empty() {
            return scope;
        }
        let mut inner = self.scopes[scope].clone();
        inner.extend(unbound);
        if let Some(known) = self.scopes.iter().position(|scope| *scope == inner) {
            return known;
        }
        if self.scopes.len() == MAX_SCOPES {
            let at = "#".to_owned();
            self.refuse(at, format!("there are more than {MAX_SCOPES} dynamic scopes"));
            return scope;
        }
        self.scopes.push(inner);
        self.scopes.len() - 1
    }

    /// The node that a `$ref` at `at` leads to.
    pub(super) fn referenced(&mut self, at: String, reference: &str, from: Base) -> Option<NodeId> {
        match self.resources.resolve(from.resource, reference) {
            Ok(target) => Some(self.node_in(target.at, target.schema, target.resource, from.scope)),
            Err(what) => {
                self.refuse(at, what);
                None
            }
        }
    }

    /// The node that a `$dynamicRef` at `at` leads to: if it names a dynamic anchor, then the outermost of that name.
    pub(super) fn dynamically_referenced(&mut self, at: String, reference: &str, from: Base) -> Option<NodeId> {
        let target = match self.resources.resolve(from.resource, reference) {
            Ok(target) => target,
            Err(what) => {
                self.refuse(at, what);
                return None;
            }
        };
        let outermost = target
            .dynamic_anchor
            .and_then(|name| self.scopes[from.scope].get(&name).cloned());
        let Some((at, resource)) = outermost else {
            return Some(self.node_in(target.at, target.schema, target.resource, from.scope));
        };
        let schema = self.resources.schema_at(&at)?;
        Some(self.node_in(at, schema, resource, from.scope))
    }

    pub(super) fn dialect(&self, base: Base) -> Dialect {
        self.resources.get(base.resource).dialect
    }

    pub(super) fn refuse(&mut self, pointer: String, message: impl Into<String>) {
        let message = message.into();
        let problem = Problem { pointer, message };
        // A schema that is compiled for several scopes has its problems several times.
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn rules(&mut self, node: NodeId, base: Base, schema: &'a Value) -> Vec<Rule> {
        let at = self.nodes[node].at.clone();
        match schema {
            Value::Bool(true) => Vec::new(),
            Value::Bool(false) => vec![Rule::Never],
            Value::Object(members) => Keywords::new(self, at, base, members).rules(),
            _ => {
                self.refuse(at, unexpected("a schema (an object or a boolean)", schema));
                Vec::new()
            }
        }
    }

    /// Refuses schemas that apply themselves to the same value again.
    fn refuse_cycles(&mut self) {
        let mut cycles = BTreeMap::new();
        find_cycles(
            0..self.nodes.len(),
            |node| self.nodes[node].in_place(),
            |cycle| {
                if let Some(start) = cycle.first() {
                    cycles
                        .entry(*start)
                        .or_insert_with(|| describe_cycle(&self.nodes, cycle));
                }
            },
        );
        for (start, path) in cycles {
            let at = self.nodes[start].at.clone();
            self.refuse(
                at,
                format!("applies itself to the same value again, without end: {path}"),
            );
        }
    }
}

/// The places on a cycle from its start back to it.
fn describe_cycle(nodes: &[Node], cycle: &[NodeId]) -> String {
    const SHOWN: usize = 20;
    let at = |node: &NodeId| nodes[*node].at.as_str();
    let mut places: Vec<&str> = cycle.iter().take(SHOWN).map(at).collect();
    places.extend((cycle.len() > SHOWN).then_some("…"));
    places.extend(cycle.first().map(at));
    places.join(" → ")
}

/// The nodes with which cycles of `successors` begin.
fn cycle_starts(nodes: &[Node], successors: impl Fn(&Node) -> Vec<NodeId>) -> Vec<NodeId> {
    let mut starts = BTreeSet::new();
    find_cycles(
        0..nodes.len(),
        |node| successors(&nodes[node]),
        |cycle| starts.extend(cycle.first()),
    );
    starts.into_iter().collect()
}

/// The nodes that apply to the same value as a node with `unevaluatedItems` or `unevaluatedProperties`: their verdicts are
/// needed again for what they have evaluated.
fn under_unevaluated(nodes: &[Node]) -> BTreeSet<NodeId> {
    let with_unevaluated = nodes.iter().filter(|node| node.has_unevaluated());
    let mut left: Vec<NodeId> = with_unevaluated.flat_map(Node::in_place).collect();
    let mut found = BTreeSet::new();
    while let Some(node) = left.pop() {
        if found.insert(node) {
            left.extend(nodes[node].in_place());
        }
    }
    found
}
