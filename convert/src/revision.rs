//! The properties of a revision.

use std::fmt;

use mcp_wire::{Method, Schema, definition_name};

use crate::facts::Facts;
use crate::lifecycle::{KnownError, Lifecycle};
use crate::protocol::Protocol;
use crate::tables::{ErrorRule, Need, Tolerance};

/// A type for the revisions of a protocol. They are ordered as in the protocol, not by name.
///
/// [`revisions!`](crate::revisions) declares such a type.
pub trait ProtocolRevision: Copy + Ord + fmt::Debug + fmt::Display + 'static {
    /// The revision that handlers are written against.
    const HUB: Self;

    /// Returns the tables of the revisions.
    fn protocol() -> &'static Protocol;

    /// Returns the position of the revision in the protocol.
    fn index(self) -> usize;

    /// Returns the revision at a position.
    fn at(index: usize) -> Self;

    /// Returns every revision, compiled or loaded at run time, the earliest first.
    fn revisions() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        Self::protocol().indices().map(Self::at)
    }

    /// Returns the name of the revision in the protocol.
    fn name(self) -> &'static str {
        let source = Self::protocol().source(self.index());
        source.map_or("", |source| source.revision)
    }

    /// Returns the text of the revision's table.
    fn table_text(self) -> &'static str {
        let source = Self::protocol().source(self.index());
        source.map_or("", |source| source.table)
    }

    /// Returns the revision's methods.
    fn declared_methods(self) -> &'static [Method] {
        &Self::protocol().known(self.index()).methods
    }

    /// Returns the revision's schema.
    fn declared_schema(self) -> &'static Schema {
        static NOTHING: Schema = Schema::new("", "false");
        let source = Self::protocol().source(self.index());
        source.map_or(&NOTHING, |source| source.schema)
    }

    /// Returns the properties of the revision.
    fn known_facts(self) -> &'static Facts {
        &Self::protocol().known(self.index()).facts
    }

    /// Returns the names of the methods and members that a session uses.
    fn known_lifecycle(self) -> &'static Lifecycle {
        &Self::protocol().known(self.index()).lifecycle
    }

    /// Returns the errors that a session sends and reads.
    fn known_errors(self) -> &'static [KnownError] {
        &Self::protocol().known(self.index()).errors
    }

    /// Returns the capabilities that requests of a method need in addition to the capability of the method.
    fn declared_needs(self, method: &str) -> &'static [Need] {
        let needs = Self::protocol().known(self.index()).needs.get(method);
        needs.map_or(&[], Vec::as_slice)
    }

    /// Returns the mistakes in results of a method that lenient peers tolerate.
    fn declared_tolerances(self, method: &str) -> &'static [Tolerance] {
        let tolerances = Self::protocol().known(self.index()).tolerances.get(method);
        tolerances.map_or(&[], Vec::as_slice)
    }

    /// Returns a sentence about the deprecation of a method, if the revision deprecates it.
    fn declared_deprecation(self, method: &str) -> Option<&'static str> {
        let deprecated = &Self::protocol().known(self.index()).deprecated;
        let (_, note) = deprecated.iter().find(|(name, _)| *name == method)?;
        Some(note)
    }

    /// Returns the rules that convert errors of this revision to the previous or the next one. The first one that
    /// matches applies.
    fn error_rules(self, neighbour: Self) -> &'static [ErrorRule] {
        let protocol = Self::protocol();
        match neighbour < self {
            true => &protocol.known(self.index()).errors_down,
            false => &protocol.known(neighbour.index()).errors_up,
        }
    }

    /// Returns the revisions that a conversion from this revision to another passes: those between them, and the other
    /// one.
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

    /// Returns the name in this revision of a method of another one: the same name, or that of the method whose request
    /// or notification has the same definition, or the name that rules give it. A method that this revision lacks keeps
    /// its name.
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
        let same = methods.find(|other| definition_name(other.definition) == definition_name(method.definition));
        let renamed = || Self::protocol().method_there(of.index(), self.index(), method.name);
        same.map(|same| same.name).or_else(renamed).unwrap_or(name)
    }

    /// Returns the revision with this name.
    fn by_name(name: &str) -> Option<Self> {
        Self::revisions().find(|revision| revision.name() == name)
    }
}

/// The error of a name that no revision has.
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
