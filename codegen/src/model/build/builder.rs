//! The state of building a model.

use std::collections::BTreeMap;

use crate::model::input::BuildInput;
use crate::model::types::Type;
use crate::normalise::Node;

/// The state of building a model.
pub(super) struct Builder<'i> {
    pub(super) input: &'i BuildInput<'i>,
    /// The Rust name of each definition, by its pointer.
    pub(super) rust_names: BTreeMap<String, String>,
    /// The key of the shape of each Rust name, so that no name is used for two shapes.
    pub(super) keys: BTreeMap<String, String>,
    /// The names of unnamed shapes that the schema repeats in several places, by the key of the shape.
    pub(super) shared: BTreeMap<String, String>,
    pub(super) types: BTreeMap<String, Type>,
    /// The name of the type at each position, or `None` if several types have the same position.
    pub(super) positions: BTreeMap<String, Option<String>>,
    /// The Rust names of unnamed schemas, by pointer.
    pub(super) inline: BTreeMap<String, String>,
    pub(super) request_id: Option<&'i Node>,
}

/// The position of a node, from which unnamed schemas get their names.
#[derive(Clone)]
pub(super) struct Context<'c> {
    /// The Rust name of the type that it is a part of.
    pub(super) parent: &'c str,
    pub(super) member: &'c str,
    /// The whole path from the parent.
    pub(super) position: String,
}
