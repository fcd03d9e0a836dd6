//! Determines the version bump of each generated crate, from the schema directories before and after.

mod api;
mod version;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::cache::Cache;
use crate::diff::{Change, Diff};
use crate::documents::diff_of_modelled;
use crate::error::GenerateError;
use crate::load::load;
use crate::model::ModelledRevision;
use crate::protocol::Protocol;
use crate::stages::model;

use api::Api;
pub use version::{Bump, VersionError, next_version};

/// The changes of a generated crate since a release.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CrateChange {
    /// The bump that it needs; `None` if the schema that it is generated from hasn't changed.
    pub bump: Option<Bump>,
    /// The changes for a changelog, a sentence each.
    pub notes: Vec<String>,
}

/// Compares the generated crates of two schema directories, by name. Crates that only the earlier one has are left out,
/// and those that only the later one has need no bump.
///
/// A bump is about Rust code that uses a crate: a member that is added to an object is a breaking change, because code
/// that writes the struct as an expression has to name it.
///
/// # Errors
/// Problems of one of the directories.
pub fn compare_schemas(before: &Path, after: &Path) -> Result<BTreeMap<String, CrateChange>, GenerateError> {
    let cache = Cache::default();
    let [before, after] = [model(load(before)?, &cache)?, model(load(after)?, &cache)?];
    let family = after.manifest.family();
    let mut changes = BTreeMap::new();
    for later in &after.revisions {
        let change = match revision(&before, later) {
            Some(earlier) => compare_revisions(earlier, later),
            None => CrateChange {
                bump: None,
                notes: vec![format!("The first release of the types of {}.", later.model.revision)],
            },
        };
        let name = if family.single_crate {
            later.model.revision.clone()
        } else {
            family.types_crate(&later.model.revision)
        };
        changes.insert(name, change);
    }
    let all = compare_adapters(&before, &after, &changes);
    if family.single_crate {
        changes.clear();
    }
    changes.insert(family.adapters_crate(), all);
    Ok(changes)
}

fn revision<'p>(protocol: &'p Protocol, like: &ModelledRevision) -> Option<&'p ModelledRevision> {
    let mut revisions = protocol.revisions.iter().map(Arc::as_ref);
    revisions.find(|revision| revision.model.revision == like.model.revision)
}

fn compare_revisions(earlier: &ModelledRevision, later: &ModelledRevision) -> CrateChange {
    let [before, after] = [earlier, later].map(|revision| Api::of(&revision.model));
    let mut notes = before.breaks(&after);
    let mut bump = (!notes.is_empty()).then_some(Bump::Major);
    if bump.is_none() && before.lacks(&after) {
        bump = Some(Bump::Minor);
    }
    let Diff { changes, .. } = diff_of_modelled(earlier, later);
    if bump.is_none() && (!changes.is_empty() || earlier.schema != later.schema) {
        bump = Some(Bump::Patch);
    }
    notes.extend(changes.iter().map(note));
    if notes.is_empty() && bump.is_some() {
        notes.push("Validation follows the corrected schema.".to_owned());
    }
    CrateChange { bump, notes }
}

/// A change of the protocol as a sentence.
fn note(change: &Change) -> String {
    format!("`{}`: {}.", change.name, change.description())
}

/// Compares the crate of all revisions, whose API includes the types of each.
fn compare_adapters(before: &Protocol, after: &Protocol, types: &BTreeMap<String, CrateChange>) -> CrateChange {
    let mut notes = Vec::new();
    let mut bump = types.values().filter_map(|change| change.bump).max();
    let [old, new] = [before, after].map(|protocol| protocol.manifest.hub().map(ToString::to_string));
    if let (Some(old), Some(new)) = (&old, &new)
        && old != new
    {
        notes.push(format!("Handlers are written against {new} instead of {old}."));
        bump = Some(Bump::Major);
    }
    for lost in before.revisions.iter().filter(|known| revision(after, known).is_none()) {
        notes.push(format!("Revision {} is gone.", lost.model.revision));
        bump = Some(Bump::Major);
    }
    for added in after.revisions.iter().filter(|known| revision(before, known).is_none()) {
        notes.push(format!("Revision {} is supported.", added.model.revision));
        bump = bump.max(Some(Bump::Minor));
    }
    let changed = types.iter().filter(|(_, change)| change.bump.is_some());
    notes.extend(changed.map(|(name, change)| match change.bump {
        Some(Bump::Major) => format!("`{name}` has breaking changes."),
        _ => format!("`{name}` has changes."),
    }));
    CrateChange { bump, notes }
}
