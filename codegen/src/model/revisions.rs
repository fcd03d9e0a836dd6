//! The models of all revisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_json_schema::Validator;
use serde_json::Value;

use super::build::build_model;
use super::check_facts::wrong_facts;
use super::inherited_names::Successors;
use super::input::{BuildInput, LaterNames, NamesAskedFor};
use super::lock::Lock;
use super::names::Names;
use super::schema::describe_types;
use super::shared::{Shared, SharedNames};
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
    inherited: Inherited,
}

/// What a revision inherits from earlier ones, by its own names.
#[derive(Debug, Clone, Default, PartialEq)]
struct Inherited {
    /// The facts, including its own.
    facts: Facts,
    /// The results that the overlays of earlier revisions define.
    results: Results,
    /// The names of what applies to all revisions.
    shared: SharedNames,
}

/// A built revision, and its problems. The inherited facts and the roles that the warnings concern are left out.
#[derive(Debug, Clone)]
pub(crate) struct BuiltRevision {
    revision: Arc<ModelledRevision>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

/// Builds the models from the latest to the earliest, because earlier revisions take names from later ones. Returns
/// them with the warnings.
pub(crate) fn build_models(
    (names, shared): (&Names, &Shared),
    revisions: Vec<NormalisedRevision>,
    known: &BuiltRevisions,
) -> Result<(Vec<Arc<ModelledRevision>>, Vec<Problem>), Problems> {
    let mut inherited = inherit(&revisions, &shared.names);
    let (mut models, mut problems, mut warnings) = (Vec::<Arc<ModelledRevision>>::new(), Vec::new(), Vec::new());
    let mut later = BTreeMap::new();
    for revision in revisions.into_iter().rev() {
        let input = RevisionInput {
            documents: revision.documents.clone(),
            shared: shared.documents.clone(),
            names: names.clone(),
            inherited: inherited.pop().unwrap_or_default(),
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
        inherited_results: &input.inherited.results,
    };
    let mut model = build_model(&build_input)?;
    let mut problems = lock.broken(&model, &revision.documents.names);
    problems.extend(wrong_results(overlay, &model));
    problems.extend(wrong_errors(overlay, &model));
    problems.extend(sections_of_extensions(overlay));
    let mut facts = input.inherited.facts.clone();
    let wrong = wrong_facts(&facts, overlay, &model).into_iter();
    let (inherited, own): (Vec<_>, Vec<_>) = wrong.partition(|fact| facts.leave_out(&overlay.facts, &fact.pointer));
    problems.extend(own);
    let inherited = inherited.into_iter().map(|problem| state_again(problem, &facts));
    let mut warnings = Vec::from_iter(inherited);
    let names = &input.inherited.shared;
    shared.apply(&mut model, names);
    let incomplete = shared.leave_out_roles(&mut model, &revision.schema, names);
    match model.lifecycle.has_sessions() || !revision.documents.entry.released {
        true => warnings.extend(incomplete),
        false => problems.extend(incomplete.into_iter().map(refused)),
    }
    Ok(BuiltRevision {
        revision: Arc::new(ModelledRevision::of(revision, model, facts)),
        problems,
        warnings,
    })
}

/// Adds the reason why a release is refused.
fn refused(problem: Problem) -> Problem {
    let help = problem.help.clone().unwrap_or_default();
    problem.help(format!(
        "no session could begin without this, which only a draft may lack (`ingest --draft`); {help}"
    ))
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

/// Returns what each revision inherits.
fn inherit(revisions: &[NormalisedRevision], shared: &SharedNames) -> Vec<Inherited> {
    let mut inherited = Inherited {
        shared: shared.clone(),
        ..Inherited::default()
    };
    let mut before = None;
    let each = revisions.iter().map(|revision| {
        if let Some(earlier) = before.replace(revision) {
            let successors = Successors::new(earlier, revision);
            inherited.shared.add_successors(&successors);
            if let Some(mirrors) = &mut inherited.facts.mirrors {
                *mirrors = successors.mirrors(std::mem::take(mirrors));
            }
        }
        let overlay = &revision.schema.overlay;
        inherited.facts = overlay.facts.clone().or(std::mem::take(&mut inherited.facts));
        let of_revision = inherited.clone();
        inherited.results.extend(overlay.results_by_method());
        of_revision
    });
    each.collect()
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
