//! Cycles of a graph, such as that of the references between schemas.

use std::collections::HashMap;
use std::hash::Hash;

/// A node that has been reached.
enum State {
    /// Its successors are being visited. It has this position on the path from the start.
    Open(usize),
    Done,
}

/// Calls `found` with each cycle that a depth-first search from `starts` closes. The first node of a cycle is the one
/// where the search entered it. A graph without the first nodes of all cycles has no cycle.
///
/// The search keeps its own stack, because the depth of the graph has no limit.
///
/// ```
/// use mcp_json_schema::find_cycles;
///
/// let successors = |node: u8| match node {
///     1 => vec![2],
///     2 => vec![3, 2],
///     _ => vec![1],
/// };
/// let mut cycles = Vec::new();
/// find_cycles([1], successors, |cycle| cycles.push(cycle.to_vec()));
/// assert_eq!(cycles, [vec![1, 2, 3], vec![2]]);
/// ```
pub fn find_cycles<N: Copy + Eq + Hash>(
    starts: impl IntoIterator<Item = N>,
    mut successors: impl FnMut(N) -> Vec<N>,
    mut found: impl FnMut(&[N]),
) {
    let mut states = HashMap::new();
    let mut path = Vec::new();
    // For each node of the path, the successors that haven't been visited.
    let mut left: Vec<std::vec::IntoIter<N>> = Vec::new();
    for start in starts {
        let mut next = Some(start);
        loop {
            match next.map(|node| (node, states.get(&node))) {
                Some((node, None)) => {
                    states.insert(node, State::Open(path.len()));
                    path.push(node);
                    left.push(successors(node).into_iter());
                }
                Some((_, Some(State::Open(position)))) => found(&path[*position..]),
                Some((_, Some(State::Done))) => {}
                None => {
                    states.extend(path.pop().map(|node| (node, State::Done)));
                    left.pop();
                }
            }
            match left.last_mut() {
                Some(nodes) => next = nodes.next(),
                None => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_of_a_million_nodes_does_not_overflow_the_stack() {
        let mut cycles = Vec::new();
        let last = 1_000_000;
        find_cycles([0], |node| vec![(node + 1) % last], |cycle| cycles.push(cycle.len()));
        assert_eq!(cycles, [last]);
    }

    #[test]
    fn two_paths_to_one_node_are_not_a_cycle() {
        let successors = |node| if node == 3 { vec![] } else { vec![3, 2, 3] };
        let mut cycles = Vec::new();
        find_cycles(0..3, successors, |cycle| cycles.push(cycle.to_vec()));
        assert_eq!(cycles, [[2]]);
    }
}
