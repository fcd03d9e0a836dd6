//! The cargo features that choose which revisions are compiled.
//!
//! Conversions form a chain that ends at the hub, so a revision before the hub needs all those between. A feature therefore
//! stands for a revision and all later ones. The hub, and what is later than it, is always compiled.

use std::collections::BTreeSet;

use serde::Serialize;

use super::input::{AdaptersInput, RevisionInput};
use super::names::mentions;
use crate::emit::scaffold::crate_name;
use crate::emit::source;

/// A feature, as the manifest declares it.
#[derive(Debug, Serialize)]
pub(super) struct Feature {
    name: String,
    /// What it turns on: the next revision's feature.
    enables: Vec<String>,
}

impl AdaptersInput<'_> {
    /// The features of the revisions up to the hub, the earliest first.
    pub(super) fn features(&self) -> Vec<Feature> {
        let hub = self.revisions.iter().position(|revision| self.is_hub(revision));
        let chosen = &self.revisions[..=hub.unwrap_or_default()];
        let features = chosen.iter().enumerate().map(|(at, revision)| {
            let next = chosen.get(at + 1).map(|next| name(&next.model.revision));
            Feature {
                name: name(&revision.model.revision),
                enables: next.into_iter().collect(),
            }
        });
        features.collect()
    }

    /// The feature without which a revision isn't compiled, if there is one.
    pub(super) fn feature(&self, revision: &RevisionInput<'_>) -> Option<String> {
        let hub = self.revision(self.hub)?;
        (self.position(revision) < self.position(hub)).then(|| name(&revision.model.revision))
    }

    /// The attribute, on a line of its own, of what needs a revision; nothing for one that is always compiled.
    pub(super) fn cfg(&self, revision: &RevisionInput<'_>, indent: &str) -> String {
        let feature = self.feature(revision);
        feature.map_or_else(String::new, |feature| {
            format!("{indent}#[cfg(feature = {feature:?})]\n")
        })
    }

    /// Imports of the modules of revisions that code mentions, and of other names of the crate.
    pub(super) fn imports(&self, code: &str, others: &[&str]) -> String {
        let (mut always, mut chosen): (BTreeSet<String>, String) = Default::default();
        always.extend(
            others
                .iter()
                .filter(|name| mentions(code, name))
                .map(|name| (*name).to_owned()),
        );
        for revision in self.revisions {
            let module = revision.module.to_string();
            let cfg = self.cfg(revision, "");
            if !mentions(code, &module) {
                continue;
            }
            if cfg.is_empty() {
                always.insert(module);
            } else {
                chosen += &(cfg + &source::import("crate", &BTreeSet::from([module])));
            }
        }
        source::import("crate", &always) + &chosen
    }

    pub(super) fn is_hub(&self, revision: &RevisionInput<'_>) -> bool {
        revision.model.revision == self.hub
    }
}

/// The names of the features for the revisions in the protocol's order, the hub among them.
#[must_use]
pub fn revision_features(revisions: &[&str], hub: &str) -> Vec<String> {
    let last = revisions.iter().position(|revision| *revision == hub);
    revisions
        .iter()
        .take(last.map_or(0, |last| last + 1))
        .map(|revision| name(revision))
        .collect()
}

fn name(revision: &str) -> String {
    format!("since-{}", crate_name(revision).trim_start_matches("mcp-types-"))
}
