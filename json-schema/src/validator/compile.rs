//! Compiles a schema document into the arena of nodes.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::find_cycles;

use super::compiler::{Base, Compiler};
use super::error::{MAX_PROBLEMS, SchemaError, unexpected};
use super::keywords::Keywords;
use super::node::{Memoized, Node, NodeId, Rule};

/// A compiled document.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) nodes: Vec<Node>,
    /// The nodes, by the canonical pointers of the subschemas.
    pub(super) entries: BTreeMap<String, NodeId>,
}

impl<'a> Compiler<'a> {
    pub(super) fn compile(mut self, document: &'a Value) -> Result<Compiled, SchemaError> {
        let outside = Base { resource: 0, scope: 0 };
        self.node("#".to_owned(), document, outside);
        self.resources.memory.check()?;
        while let Some((node, base, schema)) = self.pending.pop_front() {
            self.nodes[node].rules = self.rules(node, base, schema);
            self.resources.memory.check()?;
        }
        self.refuse_cycles();
        if !self.problems.is_empty() {
            return Err(SchemaError::new(self.problems));
        }
        for node in needed_again(&self.nodes)
            .into_iter()
            .chain(under_unevaluated(&self.nodes))
        {
            let node = &mut self.nodes[node];
            node.memoized = match (node.in_place().is_empty(), node.inward().is_empty()) {
                (true, true) => Memoized::Never,
                (true, false) => Memoized::Containers,
                (false, _) => Memoized::Always,
            };
        }
        let mut entries = BTreeMap::new();
        for ((at, _), node) in self.known {
            // The first node of a pointer was compiled in the scope of the document itself.
            let entry = entries.entry(at).or_insert(node);
            *entry = node.min(*entry);
        }
        Ok(Compiled {
            nodes: self.nodes,
            entries,
        })
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
        let mut cycles = vec![None; self.nodes.len()];
        let mut left = MAX_PROBLEMS;
        find_cycles(
            0..self.nodes.len(),
            |node| self.nodes[node].in_place(),
            |cycle| {
                if let Some(start) = cycle.first()
                    && left > 0
                {
                    cycles[*start].get_or_insert_with(|| {
                        left -= 1;
                        describe_cycle(&self.nodes, cycle)
                    });
                }
            },
        );
        for (start, path) in cycles.into_iter().enumerate() {
            let Some(path) = path else { continue };
            let at = self.nodes[start].at.clone();
            self.refuse(
                at,
                format!("applies itself to the same value again, without end: {path}"),
            );
        }
    }
}

/// Returns the pointers on a cycle, from its start back to the start.
fn describe_cycle(nodes: &[Node], cycle: &[NodeId]) -> String {
    const SHOWN: usize = 20;
    let at = |node: &NodeId| nodes[*node].at.as_str();
    let mut places: Vec<&str> = cycle.iter().take(SHOWN).map(at).collect();
    places.extend((cycle.len() > SHOWN).then_some("…"));
    places.extend(cycle.first().map(at));
    places.join(" → ")
}

/// Returns the nodes that several schemas apply, or one schema more than once. If their verdicts weren't memoized, the
/// number of paths to them would multiply.
fn needed_again(nodes: &[Node]) -> HashSet<NodeId> {
    let mut applied = HashSet::new();
    let all = nodes.iter().flat_map(|node| [node.in_place(), node.inward()].concat());
    all.filter(|node| !applied.insert(*node)).collect()
}

/// Returns the nodes that apply to the same value as a node with `unevaluatedItems` or `unevaluatedProperties`, and
/// those of their `contains`. Their verdicts are needed again to determine which parts they have evaluated.
fn under_unevaluated(nodes: &[Node]) -> HashSet<NodeId> {
    let with_unevaluated = nodes.iter().filter(|node| node.has_unevaluated());
    let mut left: Vec<NodeId> = with_unevaluated.flat_map(evaluating).collect();
    let mut found = HashSet::new();
    while let Some(node) = left.pop() {
        if found.insert(node) {
            left.extend(evaluating(&nodes[node]));
        }
    }
    found
}

/// Returns the nodes that a node needs to determine which parts it has evaluated.
fn evaluating(node: &Node) -> Vec<NodeId> {
    let contains = node.rules.iter().filter_map(|rule| match rule {
        Rule::Contains(contains) => Some(contains.node),
        _ => None,
    });
    node.in_place().into_iter().chain(contains).collect()
}
