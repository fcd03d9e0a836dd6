//! What a model is built from, and as far as it is built.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::lock::Lock;
use crate::model::names::Names;
use crate::model::types::{Model, Type};
use crate::normalise::Shapes;
use crate::overlay::Overlay;

/// What a model is built from.
#[derive(Debug)]
pub(crate) struct BuildInput<'i> {
    pub(crate) revision: &'i str,
    pub(crate) shapes: &'i Shapes,
    /// How Rust names are spelt.
    pub(crate) names: &'i Names,
    /// The model of the next revision, for the names that this one's schema lacks.
    pub(crate) later: Option<&'i Model>,
    /// The names that were published.
    pub(crate) lock: &'i Lock,
    /// Which module each definition belongs to, where somebody said so.
    pub(crate) modules: &'i BTreeMap<String, String>,
    /// What the schema doesn't say.
    pub(crate) overlay: &'i Overlay,
    /// The results that earlier revisions stated, for requests without a result: definitions by method, the usual one first.
    pub(crate) inherited_results: &'i BTreeMap<String, Vec<String>>,
    /// The pointers of definitions that an extension has from the revision that it extends.
    pub(crate) imported: &'i BTreeSet<String>,
}

/// A model as far as it is built.
pub(super) struct Builder<'i> {
    pub(super) input: &'i BuildInput<'i>,
    /// The Rust name of each definition, by its pointer.
    pub(super) rust_names: BTreeMap<String, String>,
    /// The shape that each Rust name stands for, so that one name never stands for two.
    pub(super) keys: BTreeMap<String, String>,
    /// The names of shapes that the schema repeats in several places without a name, by the key of the shape.
    pub(super) shared: BTreeMap<String, String>,
    pub(super) types: BTreeMap<String, Type>,
    pub(super) positions: BTreeMap<String, String>,
    /// The Rust name of what the schema leaves without a name, by its pointer.
    pub(super) inline: BTreeMap<String, String>,
    pub(super) request_id: Option<String>,
}

/// Where a node is, for naming what the schema leaves without a name.
#[derive(Clone)]
pub(super) struct Context<'c> {
    /// The Rust name of the type that it is a part of.
    pub(super) parent: &'c str,
    pub(super) member: &'c str,
    /// The whole way from the parent.
    pub(super) position: String,
}
