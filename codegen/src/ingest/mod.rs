//! Ingests an official schema: fetches it, checks it against the manifest, removes the prose, and writes and records it.

mod annotations;
mod candidate;
mod change;
mod check;
mod conditions;
mod drafts;
mod error;
mod error_codes;
mod extension;
mod fetch;
mod inferred;
mod inherited;
mod inherited_members;
mod inlined;
mod lost;
mod moved_definitions;
mod moved_out;
mod moved_places;
mod namespaces;
mod official;
mod options;
mod renamed;
mod results;
mod same_type;
mod simplify;
mod successor;
mod unsupplied;
mod untagged;
mod withdrawn_values;

use std::path::PathBuf;

pub use candidate::Ingested;
pub(crate) use check::check_loaded;
pub(crate) use drafts::Drafts;
pub use error::IngestError;
pub use extension::{ExtensionOptions, ingest_extension};
pub use fetch::FetchError;
pub(crate) use official::Official;
pub use official::sha256;
pub use options::{IngestOptions, Position};
pub use successor::LeftOut;

use candidate::Candidate;
use error_codes::changed_codes;
use lost::lost;
use renamed::renamed;
use unsupplied::{of_another_type, unsupplied};
use untagged::untagged_results;
use withdrawn_values::{withdrawn_values, withdrawn_variants};

use crate::cache::Cache;
use crate::files::write_file;
use crate::load::{OVERLAY, Revision};
use crate::problem::Problem;
use crate::protocol::Protocol;
use crate::revision_table::RevisionTable;

/// Ingests one revision.
///
/// # Errors
///
/// When the schema can't be read, the manifest doesn't accept it, or crates can't be generated from it. The error then has
/// all problems that [`generate`](crate::generate()) would report, and no file is changed.
pub fn ingest(options: &IngestOptions) -> Result<Ingested, IngestError> {
    let (candidate, passed) = Candidate::passing(options, &Cache::default())?;
    let warnings = warnings_about(&candidate, &passed.checked);
    let mut ingested = candidate.write(passed, &options.schema)?;
    ingested.warnings.extend(warnings);
    Ok(ingested)
}

/// Returns warnings about what a new revision lacks, renames or requires.
fn warnings_about(candidate: &Candidate, protocol: &Protocol) -> Vec<Problem> {
    let mut revisions = protocol.revisions.iter();
    let is_new = |revision: &Revision| candidate.is_new && *revision == candidate.entry.revision;
    let position = revisions.position(|modelled| is_new(&modelled.entry().revision));
    let Some((position, (before, plans))) = position.and_then(|at| Some((at, protocol.before(at)?))) else {
        return Vec::new();
    };
    let after = &protocol.revisions[position];
    let mut warnings = lost(&before.model, &after.model);
    let (renamed, plans) = renamed([before, after], plans);
    warnings.extend(renamed);
    warnings.extend(unsupplied([before, after], &plans));
    warnings.extend(of_another_type([before, after], &plans));
    warnings.extend(withdrawn_values(after, &plans));
    warnings.extend(withdrawn_variants([before, after], &plans));
    warnings.extend(changed_codes(before, after));
    warnings.extend(untagged_results(after));
    warnings
}

/// Returns the tables of all revisions, with the one that [`ingest`] would add, and its warnings about a new revision. No
/// file is changed. A shared cache makes it faster to try many schemas.
///
/// # Errors
///
/// As [`ingest`].
pub fn try_ingest(options: &IngestOptions, cache: &Cache) -> Result<(Vec<RevisionTable>, Vec<Problem>), IngestError> {
    let (candidate, passed) = Candidate::passing(options, cache)?;
    let tables = RevisionTable::of(&passed.checked, &cache.tables);
    Ok((tables, warnings_about(&candidate, &passed.checked)))
}

/// Writes the overlay of a new revision: the entries of the previous revision's overlay that fit the schema, as [`ingest`]
/// would, so that others can be added before the schema is ingested. `None` if the revision isn't new, already has an
/// overlay, or would inherit nothing. A shared cache makes it faster to try many schemas.
///
/// # Errors
///
/// When the schema can't be read, or the overlay can't be written.
pub fn write_overlay(options: &IngestOptions, cache: &Cache) -> Result<Option<PathBuf>, IngestError> {
    let (candidate, Some(mut inherited)) = Candidate::new(options, cache)? else {
        return Ok(None);
    };
    // The problems that remain are those for which entries are added.
    let _ = inherited.reduce(candidate.check(options, cache));
    let Some(text) = inherited.text() else {
        return Ok(None);
    };
    let path = candidate.folder.join(OVERLAY);
    write_file(&path, &text)?;
    Ok(Some(path))
}
