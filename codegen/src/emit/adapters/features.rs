//! The cargo features that choose which revisions are compiled.
//!
//! Conversions form a chain that ends at the hub, so a revision before the hub needs all those between. A feature therefore
//! stands for a revision and all later ones. The hub, and what is later than it, is always compiled.

use serde_json::{Value, json};

use super::input::{AdaptersInput, RevisionInput};
use crate::emit::scaffold::crate_name;

impl AdaptersInput<'_> {
    /// The features of the revisions up to the hub, the earliest first. Each enables that of the next revision.
    pub(super) fn features(&self) -> Vec<Value> {
        let revisions: Vec<&str> = self
            .revisions
            .iter()
            .map(|known| known.model.revision.as_str())
            .collect();
        let names = revision_features(&revisions, self.hub);
        let features = names.iter().enumerate();
        let features = features.map(|(at, name)| json!({"name": name, "enables": Vec::from_iter(names.get(at + 1))}));
        features.collect()
    }

    /// The feature without which a revision isn't compiled, if there is one.
    pub(super) fn feature(&self, revision: &RevisionInput<'_>) -> Option<String> {
        let hub = self.revision(self.hub)?;
        (self.position(revision) < self.position(hub)).then(|| name(&revision.model.revision))
    }

    pub(super) fn is_hub(&self, revision: &RevisionInput<'_>) -> bool {
        revision.model.revision == self.hub
    }
}

/// The names of the features for the revisions in the protocol's order, the hub among them.
#[must_use]
pub(crate) fn revision_features(revisions: &[&str], hub: &str) -> Vec<String> {
    let last = revisions.iter().position(|revision| *revision == hub);
    let chosen = revisions.iter().take(last.map_or(0, |last| last + 1));
    chosen.map(|revision| name(revision)).collect()
}

fn name(revision: &str) -> String {
    format!("since-{}", crate_name(revision).trim_start_matches("mcp-types-"))
}
