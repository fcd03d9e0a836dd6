//! The stages that every command goes through: documents in, models and plans out.

use crate::adapt::{Rules, plan_revisions};
use crate::extension::normalise_extension;
use crate::load::{Docs, Loaded};
use crate::model::{Names, Shared, build_extensions, build_models};
use crate::normalise::normalise_revision;
use crate::overlay::correct_schema;
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;

/// Builds the models of the revisions, and plans the conversions between them.
pub(crate) fn planned(loaded: Loaded) -> Result<Protocol, Problems> {
    plan(model(loaded)?)
}

/// Plans the conversions between revisions that have models.
pub(crate) fn plan(mut protocol: Protocol) -> Result<Protocol, Problems> {
    let (plans, warnings) = plan_revisions(&protocol.revisions)?;
    protocol.plans = plans;
    protocol.warnings.extend(warnings);
    Ok(protocol)
}

/// Builds the models of the revisions.
///
/// Files that only later stages need are checked first, so that one run reports the problems of all files.
pub(crate) fn model(loaded: Loaded) -> Result<Protocol, Problems> {
    let (protocol, shared) = models(loaded)?;
    let models: Vec<_> = protocol.all().map(|revision| &revision.model).collect();
    Problems::check(shared.misspelt(&models))?;
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
    let docs = Docs::of(loaded.shared.docs.clone(), &mut problems);
    let shared = Shared::of(loaded.shared, &mut problems);
    let extensions = loaded.extensions.into_iter().filter_map(|documents| {
        let docs = Docs::of(documents.own.docs.clone(), &mut problems);
        passed(normalise_extension(documents, docs), &mut problems)
    });
    let extensions: Vec<_> = extensions.collect();
    let revisions = loaded.revisions.into_iter().filter_map(|documents| {
        let docs = Docs::of(documents.docs.clone(), &mut problems);
        let corrected = correct_schema(&documents);
        let normalised = corrected.and_then(|corrected| normalise_revision(documents, corrected, docs));
        passed(normalised, &mut problems)
    });
    let revisions: Vec<_> = revisions.collect();
    Problems::check(problems)?;
    let names = Names::new(loaded.manifest.acronyms.clone());
    let (revisions, warnings) = build_models((&names, &shared), revisions)?;
    let extensions = build_extensions((&names, &shared), &revisions, extensions)?;
    let protocol = Protocol {
        manifest: loaded.manifest,
        docs,
        revisions,
        extensions,
        plans: Vec::new(),
        warnings,
    };
    Ok((protocol, shared))
}

/// What passed a stage; nothing, if it has problems.
fn passed<T>(result: Result<T, Problems>, problems: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|found| problems.extend(found)).ok()
}
