//! The first stages of the pipeline: documents in, models out.

use crate::adapt::Rules;
use crate::emit::Docs;
use crate::extension::normalise_extension;
use crate::load::{Loaded, RevisionDocuments};
use crate::model::{Shared, build_extensions, build_models, check_shared};
use crate::normalise::normalise_revision;
use crate::overlay::correct_schema;
use crate::problem::{Problem, Problems};
use crate::protocol::{ModelledRevision, Protocol};

/// Builds the models of the revisions.
///
/// Files that only later stages need are checked first, so that one run reports the problems of all files.
pub(crate) fn model(loaded: Loaded) -> Result<Protocol<ModelledRevision>, Problems> {
    let protocol = model_draft(loaded)?;
    check_shared(&protocol)?;
    Ok(protocol)
}

/// Builds the models of revisions among which is a draft that sessions may not be able to speak yet.
pub(crate) fn model_draft(loaded: Loaded) -> Result<Protocol<ModelledRevision>, Problems> {
    let Loaded {
        protocol,
        extensions,
        mut problems,
    } = loaded;
    problems.extend(undecodable(&protocol));
    let mut normalised_extensions = Vec::new();
    for extension in extensions {
        match normalise_extension(extension) {
            Ok(extension) => normalised_extensions.push(extension),
            Err(found) => problems.extend(found),
        }
    }
    let normalised = protocol.try_map(|revision| {
        let corrected = correct_schema(&revision)?;
        normalise_revision(revision, corrected)
    });
    let mut modelled = build_models(Problems::join(problems, normalised)?)?;
    modelled.extensions = build_extensions(&modelled, normalised_extensions)?;
    Ok(modelled)
}

/// The problems of the files that only later stages need.
fn undecodable(protocol: &Protocol<RevisionDocuments>) -> Vec<Problem> {
    let revisions = protocol.revisions.iter();
    let rules = revisions.filter_map(|revision| Rules::of(revision.rules.clone()).err());
    let shared = Shared::of(&protocol.shared).err();
    let docs = protocol.shared.docs().filter_map(|document| Docs::of(document).err());
    rules.chain(shared).flatten().chain(docs).collect()
}
