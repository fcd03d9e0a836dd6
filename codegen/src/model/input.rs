//! The input of a model.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::lock::Lock;
use super::modules::Modules;
use super::names::Names;
use crate::normalise::{NormalisedSchema, Shapes};

/// The input of a model.
#[derive(Debug)]
pub(super) struct BuildInput<'i> {
    /// The name of the revision.
    pub(super) revision: &'i str,
    pub(super) schema: &'i NormalisedSchema,
    /// The spelling of Rust names.
    pub(super) names: &'i Names,
    /// The names of later revisions, for types that this revision's schema leaves unnamed.
    pub(super) later: &'i LaterNames<'i>,
    /// The published names.
    pub(super) lock: &'i Lock,
    /// The module of each definition, as far as `modules.yaml` assigns it.
    pub(super) modules: &'i Modules,
    /// The results that earlier revisions define, for requests without a result: definitions by method, the usual one
    /// first.
    pub(super) inherited_results: &'i BTreeMap<String, Vec<String>>,
}

impl<'i> BuildInput<'i> {
    pub(super) fn shapes(&self) -> &'i Shapes {
        &self.schema.shapes
    }
}

/// The names of types in later revisions by position, with a record of the positions that were looked up.
#[derive(Debug)]
pub(super) struct LaterNames<'n> {
    names: &'n BTreeMap<String, String>,
    asked: RefCell<NamesAskedFor>,
}

/// The positions that were looked up, with the names found there.
pub(super) type NamesAskedFor = BTreeMap<String, Option<String>>;

impl<'n> LaterNames<'n> {
    pub(super) fn new(names: &'n BTreeMap<String, String>) -> Self {
        Self {
            names,
            asked: RefCell::default(),
        }
    }

    /// Returns the name of the type at a position, and records the lookup.
    pub(super) fn at(&self, position: &str) -> Option<&'n String> {
        let name = self.names.get(position);
        self.asked.borrow_mut().insert(position.to_owned(), name.cloned());
        name
    }

    /// Returns the record of the lookups.
    pub(super) fn into_asked(self) -> NamesAskedFor {
        self.asked.into_inner()
    }
}
