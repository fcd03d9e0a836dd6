//! From a schema document to the arena of nodes.

use std::collections::{BTreeSet, HashMap, VecDeque};

use serde_json::Value;

use crate::json_schema::{Dialect, find_cycles, pointer};

use super::error::{Problem, SchemaError};
use super::keywords::Keywords;
use super::node::{Node, NodeId, Rule};

/// A compiled document.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) nodes: Vec<Node>,
    /// By the canonical pointers of the subschemas.
    pub(super) entries: HashMap<String, NodeId>,
}

pub(super) struct Compiler<'a> {
    document: &'a Value,
    pub(super) dialect: Dialect,
    nodes: Vec<Node>,
    entries: HashMap<String, NodeId>,
    /// The nodes whose rules are still to be made.
    pending: VecDeque<(NodeId, &'a Value)>,
    problems: Vec<Problem>,
}

impl<'a> Compiler<'a> {
    /// Documents mix the spellings: `definitions` and `$defs` are looked into in either dialect, and `dependencies` counts
    /// in either, but a keyword that only the other dialect defines means nothing, as that dialect's text has it.
    pub(super) fn new(document: &'a Value) -> Result<Self, SchemaError> {
        let dialect = Dialect::of(document).map_err(|unknown| {
            SchemaError::new(vec![Problem {
                pointer: "#/$schema".to_owned(),
                message: unknown.to_string(),
            }])
        })?;
        Ok(Self {
            document,
            dialect,
            nodes: Vec::new(),
            entries: HashMap::new(),
            pending: VecDeque::new(),
            problems: Vec::new(),
        })
    }

    pub(super) fn compile(mut self) -> Result<Compiled, SchemaError> {
        self.node("#".to_owned(), self.document);
        while let Some((node, schema)) = self.pending.pop_front() {
            self.nodes[node].rules = self.rules(node, schema);
        }
        for node in cycle_starts(&self.nodes, Node::in_place) {
            let at = self.nodes[node].at.clone();
            self.refuse(at, "applies itself to the same value again, without end");
        }
        if !self.problems.is_empty() {
            return Err(SchemaError::new(self.problems));
        }
        let all = |node: &Node| [node.in_place(), node.inward()].concat();
        for node in cycle_starts(&self.nodes, all) {
            self.nodes[node].recursive = true;
        }
        Ok(Compiled {
            nodes: self.nodes,
            entries: self.entries,
        })
    }

    /// The node of the subschema at a canonical pointer, to be compiled later unless it was met before.
    pub(super) fn node(&mut self, at: String, schema: &'a Value) -> NodeId {
        if let Some(known) = self.entries.get(&at) {
            return *known;
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            at: at.clone(),
            rules: Vec::new(),
            recursive: false,
        });
        self.entries.insert(at, node);
        self.pending.push_back((node, schema));
        node
    }

    /// The node that a `$ref` at `at` points to.
    pub(super) fn referenced(&mut self, at: String, reference: &str) -> Option<NodeId> {
        let Some(target) = pointer::canonical(reference) else {
            self.refuse(at, "not a JSON pointer into this document (`#/…`)");
            return None;
        };
        let Some(schema) = pointer::resolve(self.document, &target) else {
            self.refuse(at, format!("nothing is at `{target}`"));
            return None;
        };
        Some(self.node(target, schema))
    }

    pub(super) fn refuse(&mut self, pointer: String, message: impl Into<String>) {
        self.problems.push(Problem {
            pointer,
            message: message.into(),
        });
    }

    fn rules(&mut self, node: NodeId, schema: &'a Value) -> Vec<Rule> {
        let at = self.nodes[node].at.clone();
        match schema {
            Value::Bool(true) => Vec::new(),
            Value::Bool(false) => vec![Rule::Never],
            Value::Object(members) => Keywords::new(self, at, members).rules(),
            _ => {
                self.refuse(at, "a schema is an object or a boolean");
                Vec::new()
            }
        }
    }
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
