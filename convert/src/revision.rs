//! The properties of a revision.

use std::fmt;

use mcp_wire::{Method, Schema};

use crate::facts::Facts;
use crate::lifecycle::{KnownError, Lifecycle};
use crate::protocol::Protocol;
use crate::tables::{ErrorRule, Need, Tolerance};

/// A type of the revisions of a protocol. They compare in the order of the protocol, not of their names.
///
/// [`revisions!`](crate::revisions) declares one.
pub trait ProtocolRevision: Copy + Ord + fmt::Debug + fmt::Display + 'static {
    /// The revision that handlers are written against.
    const HUB: Self;

    /// The tables of the revisions.
    fn protocol() -> &'static Protocol;

    /// The position of the revision in the protocol.
    fn index(self) -> usize;

    /// The revision at a position.
    fn at(index: usize) -> Self;

    /// Every revision, the earliest first: those that are compiled, and those that have been loaded.
    fn revisions() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        Self::protocol().indices().map(Self::at)
    }

    /// The name of the revision in the protocol.
    fn name(self) -> &'static str {
        let source = Self::protocol().source(self.index());
        source.map_or("", |source| source.revision)
    }

    /// The text of the revision's table.
    fn table_text(self) -> &'static str {
        let source = Self::protocol().source(self.index());
        source.map_or("", |source| source.table)
    }

    /// The revision's methods.
    fn declared_methods(self) -> &'static [Method] {
        &Self::protocol().known(self.index()).methods
    }

    /// The revision's schema.
    fn declared_schema(self) -> &'static Schema {
        static NOTHING: Schema = Schema::new("", "false");
        let source = Self::protocol().source(self.index());
        source.map_or(&NOTHING, |source| source.schema)
    }

    /// The properties of the revision.
    fn known_facts(self) -> &'static Facts {
        &Self::protocol().known(self.index()).facts
    }

    /// The names that a session uses.
    fn known_lifecycle(self) -> &'static Lifecycle {
        &Self::protocol().known(self.index()).lifecycle
    }

    /// The errors that a session sends and reads.
    fn known_errors(self) -> &'static [KnownError] {
        &Self::protocol().known(self.index()).errors
    }

    /// The capabilities that requests of a method need in addition to the capability of the method.
    fn declared_needs(self, method: &str) -> &'static [Need] {
        let needs = Self::protocol().known(self.index()).needs.get(method);
        needs.map_or(&[], Vec::as_slice)
    }

    /// The mistakes in results of a method that lenient peers tolerate.
    fn declared_tolerances(self, method: &str) -> &'static [Tolerance] {
        let tolerances = Self::protocol().known(self.index()).tolerances.get(method);
        tolerances.map_or(&[], Vec::as_slice)
    }

    /// A sentence on the deprecation of a method, if the revision deprecates it.
    fn declared_deprecation(self, method: &str) -> Option<&'static str> {
        let deprecated = &Self::protocol().known(self.index()).deprecated;
        let (_, note) = deprecated.iter().find(|(name, _)| *name == method)?;
        Some(note)
    }

    /// The rules that convert errors of this revision to the one before or after it. The first one that matches applies.
    fn error_rules(self, neighbour: Self) -> &'static [ErrorRule] {
        let protocol = Self::protocol();
        match neighbour < self {
            true => &protocol.known(self.index()).errors_down,
            false => &protocol.known(neighbour.index()).errors_up,
        }
    }

    /// The steps of a conversion from this revision to another: the revisions between them, and the other one.
    fn way(self, to: Self) -> Vec<Self> {
        let all = Self::revisions();
        match self < to {
            true => all.filter(|revision| *revision > self && *revision <= to).collect(),
            false => all
                .rev()
                .filter(|revision| *revision < self && *revision >= to)
                .collect(),
        }
    }

    /// The name in this revision of a method of another one: the same, or that of the method whose request or notification has
    /// the same definition, or that of the method which rules say it is. A method that this revision lacks keeps its name.
    #[must_use]
    fn name_of_method(self, of: Self, name: &str) -> &str {
        if self == of {
            return name;
        }
        let find = |revision: Self| revision.declared_methods().iter().find(|method| method.name == name);
        let (None, Some(method)) = (find(self), find(of)) else {
            return name;
        };
        let mut methods = self.declared_methods().iter();
        let same = methods.find(|other| definition(other) == definition(method));
        let renamed = || Self::protocol().method_there(of.index(), self.index(), method.name);
        same.map(|same| same.name).or_else(renamed).unwrap_or(name)
    }

    /// The revision with this name.
    fn by_name(name: &str) -> Option<Self> {
        Self::revisions().find(|revision| revision.name() == name)
    }
}

/// The name of the definition of a method's request or notification.
fn definition(method: &Method) -> &'static str {
    let (_, name) = method.definition.rsplit_once('/').unwrap_or_default();
    name
}

/// The error for a name that no revision has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRevision {
    /// The name.
    pub name: String,
    /// The names of the known revisions.
    pub known: Vec<&'static str>,
}

impl UnknownRevision {
    /// Creates the error for an enumeration of revisions.
    #[must_use]
    pub fn new<R: ProtocolRevision>(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            known: R::revisions().map(R::name).collect(),
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
