//! What a model is built from.

use std::collections::{BTreeMap, BTreeSet};

use super::lock::Lock;
use super::names::Names;
use super::types::Model;
use crate::normalise::{NormalisedRevision, Shapes};

/// What a model is built from.
#[derive(Debug)]
pub(super) struct BuildInput<'i> {
    /// The revision, without a model yet.
    pub(super) revision: &'i NormalisedRevision,
    /// How Rust names are spelt.
    pub(super) names: &'i Names,
    /// The model of the next revision, for the names that this one's schema lacks.
    pub(super) later: Option<&'i Model>,
    /// The names that were published.
    pub(super) lock: &'i Lock,
    /// Which module each definition belongs to, where somebody said so.
    pub(super) modules: &'i BTreeMap<String, String>,
    /// The results that earlier revisions stated, for requests without a result: definitions by method, the usual one first.
    pub(super) inherited_results: &'i BTreeMap<String, Vec<String>>,
    /// The pointers of definitions that an extension has from the revision that it extends.
    pub(super) imported: &'i BTreeSet<String>,
}

impl<'i> BuildInput<'i> {
    pub(super) fn shapes(&self) -> &'i Shapes {
        &self.revision.shapes
    }
}
