//! A revision's entry in the manifest.

use mcp_wire::json_schema::Dialect;

use super::error::IngestError;
use super::options::{IngestOptions, Position};
use crate::load::{Entry, Manifest, Revision};

/// Returns the entry to record. If the schema is the same, known values that aren't given again stay.
pub(super) fn new_entry(options: &IngestOptions, known: Option<Entry>, sha256: &str, dialect: Dialect) -> Entry {
    let new = || Entry::new(options.revision.clone(), options.from.clone(), sha256.into(), dialect);
    let mut entry = known.unwrap_or_else(new);
    if entry.sha256 != sha256 {
        entry.accepted.retain(|hash| hash != sha256);
        entry.accepted.push(std::mem::replace(&mut entry.sha256, sha256.into()));
        entry.source.clone_from(&options.from);
        entry.commit = None;
    }
    Entry {
        source: options.source.clone().unwrap_or(entry.source),
        commit: options.commit.clone().or(entry.commit),
        dialect,
        released: options.draft.map_or(entry.released, |draft| !draft),
        ..entry
    }
}

/// Puts an entry at a position of the manifest, in place of the one that the revision may have there.
pub(super) fn place_entry(manifest: &mut Manifest, entry: Entry, position: &Position) -> Result<(), IngestError> {
    let revisions = &mut manifest.revisions;
    let index_of =
        |revisions: &[Entry], wanted: &Revision| revisions.iter().position(|entry| entry.revision == *wanted);
    let old = index_of(revisions, &entry.revision);
    if let Some(old) = old {
        revisions.remove(old);
    }
    let beside = |wanted: &Revision| {
        index_of(revisions, wanted).ok_or_else(|| {
            let known: Vec<_> = revisions.iter().map(|entry| entry.revision.as_str()).collect();
            let known = if known.is_empty() { vec!["none"] } else { known };
            IngestError::NoNeighbour {
                wanted: wanted.clone(),
                known: known.join(", "),
            }
        })
    };
    let index = match position {
        Position::Keep => old.unwrap_or(revisions.len()),
        Position::After(neighbour) => beside(neighbour)? + 1,
        Position::Before(neighbour) => beside(neighbour)?,
    };
    revisions.insert(index, entry);
    Ok(())
}
