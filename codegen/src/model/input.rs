//! What a model is built from.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::lock::Lock;
use super::modules::Modules;
use super::names::Names;
use crate::normalise::{NormalisedSchema, Shapes};

/// What a model is built from.
#[derive(Debug)]
pub(super) struct BuildInput<'i> {
    /// The name of the revision.
    pub(super) revision: &'i str,
    pub(super) schema: &'i NormalisedSchema,
    /// How Rust names are spelt.
    pub(super) names: &'i Names,
    /// The names of later revisions, for those that this one's schema lacks.
    pub(super) later: &'i LaterNames<'i>,
    /// The names that were published.
    pub(super) lock: &'i Lock,
    /// Which module each definition belongs to, where somebody said so.
    pub(super) modules: &'i Modules,
    /// The results that earlier revisions stated, for requests without a result: definitions by method, the usual one first.
    pub(super) inherited_results: &'i BTreeMap<String, Vec<String>>,
}

impl<'i> BuildInput<'i> {
    pub(super) fn shapes(&self) -> &'i Shapes {
        &self.schema.shapes
    }
}

/// The names that types have in later revisions, by their positions, and those of the positions that were asked for.
#[derive(Debug)]
pub(super) struct LaterNames<'n> {
    names: &'n BTreeMap<String, String>,
    asked: RefCell<NamesAskedFor>,
}

/// What there was at positions.
pub(super) type NamesAskedFor = BTreeMap<String, Option<String>>;

impl<'n> LaterNames<'n> {
    pub(super) fn new(names: &'n BTreeMap<String, String>) -> Self {
        Self {
            names,
            asked: RefCell::default(),
        }
    }

    /// The name of what is at a position.
    pub(super) fn at(&self, position: &str) -> Option<&'n String> {
        let name = self.names.get(position);
        self.asked.borrow_mut().insert(position.to_owned(), name.cloned());
        name
    }

    /// What there was at the positions that were asked for.
    pub(super) fn into_asked(self) -> NamesAskedFor {
        self.asked.into_inner()
    }
}
