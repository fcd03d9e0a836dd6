//! What is known of a revision as a whole.

use std::fmt;

use mcp_wire::{Method, Schema};

use crate::facts::Facts;

/// An enumeration of revisions of the protocol. Their order is the protocol's, not that of their names.
///
/// [`revisions!`](crate::revisions) implements it.
pub trait ProtocolRevision: Copy + Ord + fmt::Debug + fmt::Display + 'static {
    /// Every revision, the earliest first.
    const REVISIONS: &'static [Self];

    /// The revision as peers name it.
    fn name(self) -> &'static str;

    /// The revision's methods.
    fn declared_methods(self) -> &'static [Method];

    /// The revision's schema.
    fn declared_schema(self) -> &'static Schema;

    /// What is true of the revision as a whole.
    fn known_facts(self) -> Facts;

    /// The rules for errors that go from this revision to the one before or after it, in the order in which they are tried.
    fn error_rules(self, neighbour: Self) -> &'static [ErrorRule];

    /// The revisions that a value passes on its way from this one, which isn't among them, to another, which is the last.
    fn way(self, to: Self) -> Vec<Self> {
        let all = Self::REVISIONS.iter().copied();
        match self < to {
            true => all.filter(|revision| *revision > self && *revision <= to).collect(),
            false => all
                .rev()
                .filter(|revision| *revision < self && *revision >= to)
                .collect(),
        }
    }

    /// The revision that peers name so.
    fn by_name(name: &str) -> Option<Self> {
        Self::REVISIONS.iter().copied().find(|revision| revision.name() == name)
    }
}

/// A capability that a request needs for what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The member of the request's parameters that needs it.
    pub member: &'static str,
    /// The value of that member, if no other needs it.
    pub value: Option<&'static str>,
    /// The capability of the receiver, as the way from the object of capabilities to a member.
    pub capability: &'static str,
}

/// A departure in a result that most peers put up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance {
    /// The member of the result.
    pub member: &'static str,
    /// The JSON that stands there; `None` for a member that is absent.
    pub found: Option<&'static str>,
    /// The member without which it isn't tolerated.
    pub beside: Option<&'static str>,
    /// The JSON that it is read as.
    pub read: &'static str,
}

/// The code of an error in one revision, and the code that says the same in a neighbour of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorRule {
    /// The method that failed; `None` for any.
    pub method: Option<&'static str>,
    /// The code that the error has.
    pub from: i64,
    /// The way to a member that its data must have; empty if it needs none.
    pub data: &'static [&'static str],
    /// The code that it gets.
    pub to: i64,
    /// The rule, as losses name it.
    pub rule: &'static str,
}

/// A name that no revision has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRevision {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

impl UnknownRevision {
    /// The error about a name that no revision of an enumeration has.
    #[must_use]
    pub fn new<R: ProtocolRevision>(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            known: R::REVISIONS.iter().map(|revision| revision.name()).collect(),
        }
    }
}

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.join(", ");
        write!(f, "there is no revision {:?}; there are {known}", self.name)
    }
}

impl std::error::Error for UnknownRevision {}
