//! The stages that all commands run: from documents to models and plans.

use crate::adapt::{Rules, plan_revisions};
use crate::cache::Cache;
use crate::load::{Docs, Loaded, RevisionDocuments};
use crate::model::{Names, Shared, build_extensions, build_models};
use crate::normalise::{NormalisedRevision, normalise_revision};
use crate::problem::Problems;
use crate::protocol::Protocol;

/// Builds the models of the revisions and extensions, and plans the conversions between the revisions.
pub(crate) fn planned(loaded: Loaded, cache: &Cache) -> Result<Protocol, Problems> {
    plan(model(loaded, cache)?, cache)
}

/// Plans the conversions between revisions that have models.
pub(crate) fn plan(mut protocol: Protocol, cache: &Cache) -> Result<Protocol, Problems> {
    let (plans, warnings) = plan_revisions(&protocol.revisions, &cache.plans)?;
    protocol.plans = plans;
    protocol.warnings.extend(warnings);
    Ok(protocol)
}

/// Builds the models of the revisions and extensions.
///
/// Files that only later stages need are checked first, so that one run reports the problems of all files.
pub(crate) fn model(loaded: Loaded, cache: &Cache) -> Result<Protocol, Problems> {
    let (protocol, shared) = models(loaded, cache)?;
    let models: Vec<_> = protocol.all().map(|revision| &revision.model).collect();
    Problems::check(shared.misspelt(&models))?;
    Ok(protocol)
}

/// Builds the models of revisions that include a draft, without checking that sessions can speak it.
pub(crate) fn model_draft(loaded: Loaded, cache: &Cache) -> Result<Protocol, Problems> {
    models(loaded, cache).map(|(protocol, _)| protocol)
}

fn models(loaded: Loaded, cache: &Cache) -> Result<(Protocol, Shared), Problems> {
    let mut problems = loaded.problems;
    let rules = loaded.revisions.iter().map(|revision| &revision.rules);
    problems.extend(rules.filter_map(|rules| Rules::of(rules.clone()).err()).flatten());
    let docs = Docs::of(loaded.shared.docs.clone(), &mut problems);
    let shared = Shared::of(loaded.shared, &mut problems);
    let mut normalised = |documents: RevisionDocuments, core: Option<&NormalisedRevision>| {
        let docs = Docs::of(documents.docs.clone(), &mut problems);
        let schema = normalise_revision(&documents, core, &cache.schemas);
        let schema = schema.map_err(|found| problems.extend(found)).ok()?;
        Some(NormalisedRevision {
            documents,
            schema,
            docs,
        })
    };
    let revisions = loaded.revisions.into_iter();
    let revisions: Vec<_> = revisions.filter_map(|documents| normalised(documents, None)).collect();
    let extensions = loaded.extensions.into_iter().filter_map(|documents| {
        let of = documents.extension.as_ref().map(|extension| extension.of.clone())?;
        // An extension of a revision with problems is skipped.
        let core = revisions.iter().find(|core| core.documents.entry.revision == of)?;
        normalised(documents, Some(core))
    });
    let extensions = extensions.collect();
    Problems::check(problems)?;
    let names = Names::new(loaded.manifest.acronyms.clone());
    let (revisions, warnings) = build_models((&names, &shared), revisions, &cache.revisions)?;
    let extensions = build_extensions((&names, &shared), &revisions, extensions, &cache.extensions)?;
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
