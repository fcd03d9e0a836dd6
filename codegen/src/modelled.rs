//! The first stages of the pipeline: documents in, models out.

use crate::adapt::Rules;
use crate::emit::Docs;
use crate::extension::normalise_extension;
use crate::load::Loaded;
use crate::model::{Shared, build_extensions, build_models, check_shared};
use crate::normalise::normalise_revision;
use crate::overlay::correct_schema;
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;

/// Builds the models of the revisions.
///
/// Files that only later stages need are checked first, so that one run reports the problems of all files.
pub(crate) fn model(loaded: Loaded) -> Result<Protocol, Problems> {
    let (protocol, shared) = models(loaded)?;
    check_shared(&protocol, &shared)?;
    Ok(protocol)
}

/// Builds the models of revisions among which is a draft that sessions may not be able to speak yet.
pub(crate) fn model_draft(loaded: Loaded) -> Result<Protocol, Problems> {
    models(loaded).map(|(protocol, _)| protocol)
}

fn models(loaded: Loaded) -> Result<(Protocol, Shared), Problems> {
    let mut problems = loaded.problems;
    let rules = loaded.revisions.iter().map(|revision| &revision.rules);
    problems.extend(rules.filter_map(|rules| Rules::of(rules.clone()).err()).flatten());
    let docs = loaded.shared.docs().filter_map(|document| Docs::of(document).err());
    problems.extend(docs);
    let shared = Shared::of(&loaded.shared, &mut problems);
    let extensions = loaded.extensions.into_iter();
    let extensions: Vec<_> = extensions
        .filter_map(|extension| passed(normalise_extension(extension), &mut problems))
        .collect();
    let normalise = |revision| {
        let corrected = correct_schema(&revision)?;
        normalise_revision(revision, corrected)
    };
    let revisions = loaded.revisions.into_iter();
    let revisions: Vec<_> = revisions
        .filter_map(|revision| passed(normalise(revision), &mut problems))
        .collect();
    Problems::check(problems)?;
    let mut protocol = build_models((loaded.manifest, loaded.shared), &shared, revisions)?;
    protocol.extensions = build_extensions(&protocol, &shared, extensions)?;
    Ok((protocol, shared))
}

/// What passed a stage; nothing, if it has problems.
fn passed<T>(result: Result<T, Problems>, problems: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|found| problems.extend(found)).ok()
}
