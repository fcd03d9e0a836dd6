//! Where a schema comes back to itself.

use super::node::{Node, NodeId};

/// The nodes that close a cycle of `successors`: without them there is none.
///
/// It keeps its own stack, because the graph is as deep as its author likes.
pub(super) fn cycle_closers(nodes: &[Node], successors: impl Fn(&Node) -> Vec<NodeId>) -> Vec<NodeId> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; nodes.len()];
    let mut closes = vec![false; nodes.len()];
    for root in 0..nodes.len() {
        let mut stack = vec![(root, None)];
        while let Some((node, left)) = stack.last_mut() {
            let node = *node;
            if left.is_none() && states[node] != State::New {
                if states[node] == State::Open {
                    closes[node] = true;
                }
                stack.pop();
                continue;
            }
            let left = left.get_or_insert_with(|| {
                states[node] = State::Open;
                successors(&nodes[node])
            });
            match left.pop() {
                Some(next) => stack.push((next, None)),
                None => {
                    states[node] = State::Done;
                    stack.pop();
                }
            }
        }
    }
    (0..nodes.len()).filter(|node| closes[*node]).collect()
}
