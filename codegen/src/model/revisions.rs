//! The models of all revisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_wire::Validator;
use serde_json::Value;

use super::build::build_model;
use super::check_facts::wrong_facts;
use super::input::{BuildInput, LaterNames, NamesAskedFor};
use super::lock::Lock;
use super::names::Names;
use super::renamed_facts::Successors;
use super::schema::describe_types;
use super::shared::Shared;
use super::types::Model;
use crate::facts::Facts;
use crate::load::{Docs, Entry, RevisionDocuments, SharedDocuments};
use crate::memo::Memo;
use crate::normalise::NormalisedRevision;
use crate::overlay::{ErrorCode, ErrorRole, Overlay};
use crate::problem::{Problem, Problems};

/// A revision or an extension with its model. In an extension's model, types of the revision that it extends are marked
/// as imported.
#[derive(Debug)]
pub(crate) struct ModelledRevision {
    pub(crate) documents: RevisionDocuments,
    pub(crate) model: Model,
    /// The schema that the validator uses.
    pub(crate) schema: Arc<Value>,
    /// The validator of that schema.
    pub(crate) validator: Arc<Validator>,
    /// Facts that the schema can't express.
    pub(crate) overlay: Arc<Overlay>,
    /// Facts about the revision as a whole, including those inherited from earlier revisions.
    pub(crate) facts: Facts,
    /// Its own documentation.
    pub(crate) docs: Docs,
    /// Results that an extension adds to requests of the revision.
    pub(crate) results: Vec<AddedResult>,
}

/// A result that an extension adds to a request of the revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AddedResult {
    pub(crate) method: String,
    pub(crate) definition: String,
    /// The value of the member that identifies the kind of the result.
    pub(crate) kind: Option<String>,
}

impl ModelledRevision {
    /// The manifest's entry.
    pub(crate) fn entry(&self) -> &Entry {
        &self.documents.entry
    }

    /// Whether its names are published.
    pub(crate) fn is_locked(&self) -> bool {
        !self.documents.names.root().is_null()
    }

    /// The HTTP headers that repeat a parameter: the parameter of each method that has the header.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&String, &BTreeMap<String, String>)> {
        self.facts.mirrors.iter().flat_map(|mirrors| &mirrors.params)
    }

    /// Combines a revision with the model that was built from its shapes.
    pub(super) fn of(revision: NormalisedRevision, mut model: Model, facts: Facts) -> Self {
        let schema = revision.schema;
        describe_types(&mut model, &schema.shapes.schema);
        Self {
            documents: revision.documents,
            model,
            schema: Arc::clone(&schema.shapes.schema),
            validator: schema.validator,
            overlay: schema.overlay,
            facts,
            docs: revision.docs,
            results: Vec::new(),
        }
    }
}

/// A cache of revisions with their models, by their input.
pub(crate) type BuiltRevisions = Memo<(RevisionInput, NamesAskedFor), Result<BuiltRevision, Problems>>;

/// The input of a revision's model, except for the names of types in later revisions.
#[derive(Debug, PartialEq)]
pub(crate) struct RevisionInput {
    documents: RevisionDocuments,
    shared: SharedDocuments,
    names: Names,
    /// The facts, including those inherited from earlier revisions.
    facts: Facts,
    /// The results that the overlays of earlier revisions define.
    results: Results,
}

/// A built revision, and its problems. Problems of drafts that aren't errors are warnings.
#[derive(Debug, Clone)]
pub(crate) struct BuiltRevision {
    revision: Arc<ModelledRevision>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

/// Builds the models from the latest to the earliest, because earlier revisions take names from later ones. Returns
/// them with the warnings about drafts.
pub(crate) fn build_models(
    (names, shared): (&Names, &Shared),
    revisions: Vec<NormalisedRevision>,
    known: &BuiltRevisions,
) -> Result<(Vec<Arc<ModelledRevision>>, Vec<Problem>), Problems> {
    let mut inherited = inherit(&revisions);
    let (mut models, mut problems, mut warnings) = (Vec::<Arc<ModelledRevision>>::new(), Vec::new(), Vec::new());
    let mut later = BTreeMap::new();
    for revision in revisions.into_iter().rev() {
        let (facts, results) = inherited.pop().unwrap_or_default();
        let input = RevisionInput {
            documents: revision.documents.clone(),
            shared: shared.documents.clone(),
            names: names.clone(),
            facts,
            results,
        };
        let is_same = |(other, asked): &(RevisionInput, NamesAskedFor)| {
            let mut asked = asked.iter();
            *other == input && asked.all(|(position, name)| later.get(position) == name.as_ref())
        };
        let built = known.find(is_same).unwrap_or_else(|| {
            let later = LaterNames::new(&later);
            let built = build_revision(revision, &input, shared, &later);
            known.keep((input, later.into_asked()), built)
        });
        match built {
            Ok(built) => {
                problems.extend(built.problems);
                warnings.extend(built.warnings);
                later.extend(built.revision.model.positions.clone());
                models.push(built.revision);
            }
            Err(found) => problems.extend(found),
        }
    }
    Problems::check(problems)?;
    models.reverse();
    Ok((models, warnings))
}

/// Builds the model of a revision.
fn build_revision(
    revision: NormalisedRevision,
    input: &RevisionInput,
    shared: &Shared,
    later: &LaterNames<'_>,
) -> Result<BuiltRevision, Problems> {
    let overlay = &revision.schema.overlay;
    let lock = Lock::of(&revision.documents.names)?;
    let build_input = BuildInput {
        revision: input.documents.entry.revision.as_str(),
        schema: &revision.schema,
        names: &input.names,
        later,
        lock: &lock,
        modules: &shared.modules,
        inherited_results: &input.results,
    };
    let mut model = build_model(&build_input)?;
    let mut problems = lock.broken(&model, &revision.documents.names);
    problems.extend(wrong_results(overlay, &model));
    problems.extend(wrong_errors(overlay, &model));
    problems.extend(sections_of_extensions(overlay));
    let mut facts = input.facts.clone();
    let is_draft = !revision.documents.entry.released;
    let wrong = wrong_facts(&facts, overlay, &model).into_iter();
    let (inherited, own): (Vec<_>, Vec<_>) =
        wrong.partition(|fact| facts.leave_out(&overlay.facts, &fact.problem.pointer));
    problems.extend(own.into_iter().map(|fact| fact.problem));
    let mut warnings = Vec::new();
    for fact in inherited {
        let problem = state_again(fact.problem, &facts);
        match is_draft || fact.is_of_no_request {
            true => warnings.push(problem),
            false => problems.push(problem),
        }
    }
    shared.apply(&mut model);
    if is_draft {
        warnings.extend(shared.leave_out_roles(&mut model));
    }
    Ok(BuiltRevision {
        revision: Arc::new(ModelledRevision::of(revision, model, facts)),
        problems,
        warnings,
    })
}

/// Adds the line by which an overlay states an inherited fact without what doesn't fit.
fn state_again(problem: Problem, fitting: &Facts) -> Problem {
    let facts = serde_json::to_value(fitting).unwrap_or_default();
    let name = problem.pointer.split('/').nth(2).unwrap_or_default().to_owned();
    problem.help(format!(
        "state the fact with the names of this revision; without what doesn't fit, it is this line under `facts` in the \
         revision's overlay.yaml: {name}: {}",
        facts[&name]
    ))
}

/// Results of requests, by method.
type Results = BTreeMap<String, Vec<String>>;

/// Returns the facts of each revision, and the results that the overlays of earlier revisions define.
fn inherit(revisions: &[NormalisedRevision]) -> Vec<(Facts, Results)> {
    let (mut facts, mut earlier, mut before) = (Facts::default(), Results::new(), None);
    let inherited = revisions.iter().map(|revision| {
        if let (Some(earlier), Some(mirrors)) = (before.replace(revision), &mut facts.mirrors) {
            *mirrors = Successors::new(earlier, revision).mirrors(std::mem::take(mirrors));
        }
        facts = revision.schema.overlay.facts.clone().or(std::mem::take(&mut facts));
        let inherited = earlier.clone();
        earlier.extend(revision.schema.overlay.results_by_method());
        (facts.clone(), inherited)
    });
    inherited.collect()
}

fn sections_of_extensions(overlay: &Overlay) -> Vec<Problem> {
    let sections = [
        ("settings", overlay.settings.is_some()),
        ("meta", !overlay.meta.is_empty()),
        ("core", overlay.core.is_some()),
    ];
    let found = sections.into_iter().filter(|(_, is_there)| *is_there);
    let problem = |(section, _)| {
        let problem = overlay.problem(&format!("#/{section}"), format!("a revision has no `{section}`"));
        problem.help("only extensions have it: remove it")
    };
    found.map(problem).collect()
}

/// Checks that the overlay's entries for results refer to requests and definitions of the revision.
fn wrong_results(overlay: &Overlay, model: &Model) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, entry) in overlay.results.iter().enumerate() {
        let unknown = entry
            .definitions()
            .filter(|name| !model.definitions.contains_key(*name));
        let wrong = no_requests(&entry.methods, model).chain(unknown.map(|name| no_definition(name)));
        problems.extend(wrong.map(|what| wrong_entry(overlay, &format!("#/results/{index}"), what)));
    }
    problems
}

/// Returns a problem of an entry of the overlay that refers to something unknown.
pub(super) fn wrong_entry(overlay: &Overlay, at: &str, what: String) -> Problem {
    overlay.problem(at, what).help("correct the name, or remove the entry")
}

pub(super) fn no_definition(name: &str) -> String {
    format!("the schema has no definition `{name}`")
}

/// Returns a message for each method that isn't a request of the revision.
fn no_requests(methods: &[String], model: &Model) -> impl Iterator<Item = String> {
    let unknown = methods.iter().filter(|name| !model.has_request(name));
    unknown.map(|name| format!("the revision has no request `{name}`"))
}

/// Checks that errors have names that are valid for constants, and refer to requests of the revision, and that errors
/// with a role declare the members of their data that a session needs.
pub(super) fn wrong_errors(overlay: &Overlay, model: &Model) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, error) in overlay.error_codes.iter().enumerate() {
        let mut wrong = |what: String, help: &str| {
            let problem = overlay.problem(&format!("#/error_codes/{index}"), what);
            problems.push(problem.help(help));
        };
        let name = &error.name;
        if !is_constant_name(name) {
            let help = "write upper-case letters, digits and `_`, with a letter first, as in HEADER_MISMATCH";
            wrong(format!("{name:?} can't be the name of a constant"), help);
        }
        if overlay.error_codes[..index].iter().any(|other| other.name == *name) {
            wrong(format!("another error is called {name}"), "rename one of the two");
        }
        if let Some(what) = lacking(error, model) {
            wrong(what, "correct the schema by the overlay, or remove the role");
        }
        for what in no_requests(&error.methods, model) {
            wrong(what, "correct the name, or remove it");
        }
    }
    problems
}

fn is_constant_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_part)
}

/// Returns a message if an error with a role lacks something that a session needs.
fn lacking(error: &ErrorCode, model: &Model) -> Option<String> {
    let data = model.error_data.get(&error.code);
    let has = |member: &str| data.is_some_and(|data| data.contains_key(member));
    let name = &error.name;
    let what = match error.role? {
        ErrorRole::InputRequired => {
            let asks = error.asks.as_ref().filter(|asks| model.method(&asks.method).is_some());
            return asks
                .is_none()
                .then(|| format!("{name} has no `asks` with a method of the revision"));
        }
        ErrorRole::UnsupportedVersion if !has("versions") || !has("name") => {
            "a list of texts and a required text, for the revisions"
        }
        ErrorRole::MissingCapability if !has("capabilities") => "the capabilities of a client",
        _ => return None,
    };
    Some(format!(
        "no definition with the constant `code` of {name} has `data` with {what}"
    ))
}
