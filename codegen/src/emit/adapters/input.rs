//! What the crate is emitted from.

use proc_macro2::Ident;
use serde_json::Value;

use super::names::{module_name, variant_name};
use crate::adapt::Plan;
use crate::emit::items::Items;
use crate::emit::tokens::ident;
use crate::load::Manifest;
use crate::model::Model;

/// What the crate is emitted from.
#[derive(Clone, Copy)]
pub struct AdaptersInput<'i> {
    /// The revisions in the protocol's order.
    pub revisions: &'i [RevisionInput<'i>],
    /// The plans between adjacent revisions: for each pair the way up, then the way down.
    pub plans: &'i [Plan],
    /// The revision that handlers are written against.
    pub hub: &'i str,
    /// The directory of `mcp-wire` and `mcp-convert`, as the crate's manifest names it.
    pub crates: &'i str,
    /// The versions of the crates.
    pub manifest: &'i Manifest,
}

/// A revision that the crate knows.
pub struct RevisionInput<'i> {
    /// Its model.
    pub model: &'i Model,
    /// The Rust names of its members and values.
    pub items: &'i Items,
    /// The module that its types are in.
    pub module: Ident,
    /// Its schema, as the validator reads it.
    pub schema: &'i Value,
    /// Its table.
    pub table: &'i str,
}

impl<'i> RevisionInput<'i> {
    /// A revision by its model and what goes with it.
    #[must_use]
    pub fn new(model: &'i Model, items: &'i Items, (schema, table): (&'i Value, &'i str)) -> Self {
        Self {
            model,
            items,
            module: ident(&module_name(&model.revision)),
            schema,
            table,
        }
    }

    pub(super) fn variant(&self) -> Ident {
        ident(&variant_name(&self.model.revision))
    }
}

impl<'i> AdaptersInput<'i> {
    pub(super) fn revision(&self, name: &str) -> Option<&'i RevisionInput<'i>> {
        self.revisions.iter().find(|revision| revision.model.revision == name)
    }

    pub(super) fn position(&self, revision: &RevisionInput<'_>) -> Option<usize> {
        self.revisions
            .iter()
            .position(|other| other.model.revision == revision.model.revision)
    }
}
