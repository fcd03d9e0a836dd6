//! What the crate is emitted from.

use crate::emit::items::Items;
use crate::load::Manifest;
use crate::model::Model;
use crate::protocol::Protocol;

/// What the crate is emitted from.
#[derive(Clone, Copy)]
pub(crate) struct AdaptersInput<'i> {
    /// The revisions, and the plans between them.
    pub(crate) protocol: &'i Protocol,
    /// The Rust names of the members and values of each revision.
    pub(crate) items: &'i [Items],
    pub(crate) tables: &'i [String],
    /// The position of the revision that handlers are written against.
    pub(crate) hub: usize,
    /// The directory of `mcp-wire` and `mcp-convert`, as the crate's manifest names it.
    pub(crate) crates: &'i str,
}

/// The revision that handlers are written against.
#[derive(Clone, Copy)]
pub(super) struct Hub<'i> {
    pub(super) model: &'i Model,
    /// The Rust names of its members and values.
    pub(super) items: &'i Items,
}

impl<'i> AdaptersInput<'i> {
    pub(super) fn hub(&self) -> Hub<'i> {
        Hub {
            model: &self.protocol.revisions[self.hub].model,
            items: &self.items[self.hub],
        }
    }

    pub(super) fn manifest(&self) -> &'i Manifest {
        &self.protocol.manifest
    }
}
