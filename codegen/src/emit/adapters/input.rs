//! The input of the adapters crate, and the cargo features that choose which revisions are compiled.
//!
//! Conversions form a chain that ends at the hub, so a revision before the hub needs all those in between. A feature
//! therefore includes a revision and all later ones. The hub and later revisions are always compiled, except drafts
//! after the hub: these have a separate feature, since they may change with any release.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::emit::identifiers::Identifiers;
use crate::load::{Manifest, crate_part};
use crate::model::Model;
use crate::protocol::Protocol;

/// The feature of the drafts.
const DRAFTS: &str = "unstable-draft";

/// The input of the adapters crate.
#[derive(Clone, Copy)]
pub(crate) struct AdaptersInput<'i> {
    /// The revisions, and the plans between them.
    pub(crate) protocol: &'i Protocol,
    /// The position of the revision that handlers are written against.
    pub(crate) hub: usize,
    /// The Rust names of the hub's members and values.
    pub(crate) identifiers: &'i Identifiers,
    /// The directory of `mcp-wire` and `mcp-convert`, as the crate's manifest names it.
    pub(crate) crates: &'i str,
}

impl<'i> AdaptersInput<'i> {
    /// The revision that handlers are written against.
    pub(super) fn hub(&self) -> &'i Model {
        &self.protocol.revisions[self.hub].model
    }

    pub(super) fn manifest(&self) -> &'i Manifest {
        &self.protocol.manifest
    }

    /// Returns the features of the revisions up to the hub, the earliest first. Each enables that of the next revision.
    pub(super) fn features(&self) -> Vec<Value> {
        let revisions = self.protocol.revisions.iter();
        let revisions: Vec<&str> = revisions.map(|known| known.model.revision.as_str()).collect();
        let names = revision_features(&revisions, &self.hub().revision);
        let features = names.iter().enumerate();
        let features = features.map(|(at, name)| json!({"name": name, "enables": Vec::from_iter(names.get(at + 1))}));
        features.collect()
    }

    /// Returns the feature that enables the revision at a position; `None` if it is always compiled.
    pub(super) fn feature(&self, position: usize) -> Option<String> {
        match position.cmp(&self.hub) {
            Ordering::Less => Some(name(&self.protocol.revisions[position].model.revision)),
            _ => self.is_unstable(position).then(|| DRAFTS.to_owned()),
        }
    }

    /// Whether the revision at a position is a draft that nothing else needs.
    pub(super) fn is_unstable(&self, position: usize) -> bool {
        let revision = &self.protocol.revisions[position].model.revision;
        position > self.hub && self.manifest().is_draft(revision)
    }
}

/// Returns the names of the features for the revisions up to the hub, in the protocol's order.
pub(crate) fn revision_features(revisions: &[&str], hub: &str) -> Vec<String> {
    let last = revisions.iter().position(|revision| *revision == hub);
    let chosen = revisions.iter().take(last.map_or(0, |last| last + 1));
    chosen.map(|revision| name(revision)).collect()
}

fn name(revision: &str) -> String {
    format!("since-{}", crate_part(revision))
}
