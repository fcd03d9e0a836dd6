//! The value that a rule is applied to.

use super::node::Node;
use super::violation::{Violation, ViolationKind, found};
use super::violations::{Flow, Location, Sink};
use crate::json::Json;

/// A value that is being validated, its location, and the node that it is validated by.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) node: &'c Node,
    pub(super) value: &'c Json<'c>,
    pub(super) location: Location<'c>,
}

impl Context<'_> {
    pub(super) fn refuse(&self, sink: &mut impl Sink, keyword: &str, expected: impl FnOnce() -> String) -> Flow {
        sink.refuse(|violations| violations.push(self.violation(keyword, expected(), found(self.value))))
    }

    #[cold]
    pub(super) fn violation(&self, keyword: &str, expected: String, found: String) -> Violation {
        Violation {
            kind: ViolationKind::Refused,
            path: self.location.to_path(),
            expected,
            found,
            schema: format!("{}/{keyword}", self.node.at),
        }
    }
}
