//! The state of a compilation: the schema resources, the dynamic scopes, and the nodes so far.

use std::collections::{BinaryHeap, HashMap, VecDeque};

use serde_json::Value;

use crate::Dialect;

use super::error::{MAX_PROBLEMS, Problem, SchemaError};
use super::node::{Memoized, Node, NodeId};
use super::resources::{ResourceId, Resources, Target};

/// The base that references in a schema are resolved against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) resource: ResourceId,
    pub(super) scope: ScopeId,
}

/// The target of each dynamic anchor: the outermost resource of the dynamic scope that has the anchor.
///
/// A schema that can be reached in several dynamic scopes is compiled once for each of them, so that validation needs
/// no scopes. The targets are in the order of their names.
type Scope = Vec<(String, (String, ResourceId))>;

/// The position of a scope in [`Compiler::scopes`]. Scopes are never removed.
type ScopeId = usize;

/// The maximum number of dynamic scopes. Each costs a copy of the schemas that are reached in it.
const MAX_SCOPES: usize = 100;

/// Returns the target of a dynamic anchor, and its resource.
fn target_of<'s>(scope: &'s Scope, name: &str) -> Option<&'s (String, ResourceId)> {
    let at = scope.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok()?;
    Some(&scope[at].1)
}

pub(super) struct Compiler<'a> {
    pub(super) resources: Resources<'a>,
    scopes: Vec<Scope>,
    /// The scope inside each resource, for each scope outside.
    entered: HashMap<(ResourceId, ScopeId), ScopeId>,
    pub(super) nodes: Vec<Node>,
    pub(super) known: HashMap<(String, ScopeId), NodeId>,
    /// The nodes whose rules haven't been compiled yet.
    pub(super) pending: VecDeque<(NodeId, Base, &'a Value)>,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(document: &'a Value) -> Result<Self, SchemaError> {
        Ok(Self {
            resources: Resources::of(document).map_err(SchemaError::new)?,
            scopes: vec![Scope::new()],
            entered: HashMap::new(),
            nodes: Vec::new(),
            known: HashMap::new(),
            pending: VecDeque::new(),
            problems: Vec::new(),
        })
    }

    /// Returns the node of the subschema at `at`. A new node is compiled later. If the memory is used up, this is any
    /// node, and the compilation is about to fail.
    pub(super) fn node(&mut self, at: String, schema: &'a Value, outer: Base) -> NodeId {
        let resource = self.resources.at_root(&at).unwrap_or(outer.resource);
        self.node_in(at, schema, resource, outer.scope)
    }

    fn node_in(&mut self, at: String, schema: &'a Value, resource: ResourceId, scope: ScopeId) -> NodeId {
        if self.resources.memory.charge_name(&at).is_err() {
            return 0;
        }
        let scope = self.enter(resource, scope);
        let key = (at, scope);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            at: key.0.clone(),
            rules: Vec::new(),
            memoized: Memoized::Never,
        });
        self.known.insert(key, node);
        self.pending.push_back((node, Base { resource, scope }, schema));
        node
    }

    /// Returns the dynamic scope inside a resource.
    fn enter(&mut self, resource: ResourceId, scope: ScopeId) -> ScopeId {
        if let Some(known) = self.entered.get(&(resource, scope)) {
            return *known;
        }
        let inner = self.scope_inside(resource, scope);
        self.entered.insert((resource, scope), inner);
        inner
    }

    fn scope_inside(&mut self, resource: ResourceId, scope: ScopeId) -> ScopeId {
        let anchors = self.resources.get(resource).dynamic_anchors();
        let outer = &self.scopes[scope];
        let unbound = anchors.filter(|(name, _)| target_of(outer, name).is_none());
        let mut inner: BinaryHeap<_> = unbound
            .map(|(name, at)| (name.to_owned(), (at.to_owned(), resource)))
            .collect();
        if inner.is_empty() {
            return scope;
        }
        inner.extend(outer.iter().cloned());
        let inner = inner.into_sorted_vec();
        let bytes = inner.iter().map(|(name, (at, _))| name.len() + at.len()).sum();
        if self.resources.memory.charge(bytes).is_err() {
            return scope;
        }
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

    /// Returns the target of a `$ref` at `at`.
    pub(super) fn referenced(&mut self, at: String, reference: &str, from: Base) -> Option<NodeId> {
        let target = self.target(at, reference, from)?;
        Some(self.node_in(target.at, target.schema, target.resource, from.scope))
    }

    /// Returns the target of a `$dynamicRef` at `at`. If it names a dynamic anchor, this is the outermost anchor of
    /// that name.
    pub(super) fn dynamically_referenced(&mut self, at: String, reference: &str, from: Base) -> Option<NodeId> {
        let target = self.target(at, reference, from)?;
        let outermost = target
            .dynamic_anchor
            .and_then(|name| target_of(&self.scopes[from.scope], &name).cloned());
        let Some((at, resource)) = outermost else {
            return Some(self.node_in(target.at, target.schema, target.resource, from.scope));
        };
        let schema = self.resources.schema_at(&at)?;
        Some(self.node_in(at, schema, resource, from.scope))
    }

    fn target(&mut self, at: String, reference: &str, from: Base) -> Option<Target<'a>> {
        let resolved = self.resources.resolve(from.resource, reference);
        resolved.map_err(|what| self.refuse(at, what)).ok()
    }

    pub(super) fn dialect(&self, base: Base) -> Dialect {
        self.resources.get(base.resource).dialect
    }

    pub(super) fn refuse(&mut self, pointer: String, message: impl ToString) {
        self.report(Problem::new(pointer, message));
    }

    pub(super) fn report(&mut self, problem: Problem) {
        // A schema that is compiled for several scopes reports its problems several times.
        if self.problems.len() < MAX_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}
