//! The part of a table that sessions need.

use mcp_wire::Method;

use super::named::Named;
use crate::facts::Facts;
use crate::lifecycle::{KnownError, Lifecycle};

/// The part of a table that sessions need.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) facts: Facts,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) errors: Vec<KnownError>,
    /// The rules about errors from the previous revision.
    pub(crate) errors_up: Vec<ErrorRule>,
    /// The rules about errors to the previous revision.
    pub(crate) errors_down: Vec<ErrorRule>,
    pub(crate) methods: Vec<Method>,
    pub(crate) needs: Named<Vec<Need>>,
    pub(crate) tolerances: Named<Vec<Tolerance>>,
    /// Deprecated methods, each with a sentence about the deprecation. It is a list, because there are few.
    pub(crate) deprecated: Vec<(&'static str, &'static str)>,
}

/// A capability that a request needs if it has a certain member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The member of the request's parameters.
    pub member: &'static str,
    /// The value of the member, if only this value needs the capability.
    pub value: Option<&'static str>,
    /// The value of the member that doesn't need the capability, if every other value and the absence of the member do.
    pub other_than: Option<&'static str>,
    /// The path of the capability in the capabilities of the receiver.
    pub capability: &'static str,
    /// Whether the capability is also declared if the object around the last member of the path is empty.
    pub or_empty: bool,
}

/// A mistake in results that most implementations tolerate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance {
    /// The member of the result.
    pub member: &'static str,
    /// The JSON of the member. `None` if the member is absent.
    pub found: Option<&'static str>,
    /// Another member that must be present.
    pub beside: Option<&'static str>,
    /// The JSON that is used instead. `None` if the member is a list whose unreadable entries are left out.
    pub read: Option<&'static str>,
}

/// A rule that converts the code of an error between neighbouring revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorRule {
    /// The method that failed. `None` for any method.
    pub method: Option<&'static str>,
    /// The code in the source revision.
    pub from: i64,
    /// The path of a member that the data of the error must have. Empty for any data.
    pub data: &'static [&'static str],
    /// The code in the target revision.
    pub to: i64,
    /// The name of the rule in losses.
    pub rule: &'static str,
}
