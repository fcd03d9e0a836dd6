//! A model as far as it is built.

use std::collections::BTreeMap;

use crate::model::input::BuildInput;
use crate::model::types::Type;

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
