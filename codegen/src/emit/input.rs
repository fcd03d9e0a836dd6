//! What a crate is emitted from.

use serde_json::Value;

use super::entries::Docs;
use crate::load::Manifest;
use crate::model::Model;

/// What a revision's crate is emitted from.
#[derive(Clone, Copy)]
pub struct EmitInput<'i> {
    /// The revision.
    pub model: &'i Model,
    /// The schema that the validator keeps.
    pub schema: &'i Value,
    /// The hash of the official schema.
    pub sha256: &'i str,
    /// Documentation in our own words.
    pub docs: &'i Docs,
    /// Where the official specification documents a definition; all of them, for the empty name.
    pub link: &'i dyn Fn(&str) -> String,
    /// The directory of `mcp-wire`, as the crate's manifest names it.
    pub crates: &'i str,
    /// The versions of the crates.
    pub manifest: &'i Manifest,
}
