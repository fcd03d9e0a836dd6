//! The pipeline: schemas in, files out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::adapt::{PairInput, Plan, Side, plan_conversions, report};
use crate::emit::{
    AdapterTemplates, AdaptersInput, EmitError, EmitInput, RevisionInput, Templates, crate_name, emit_adapters,
    emit_crate,
};
use crate::files::{FileSet, FilesError, Report};
use crate::load::{Document, Entry, Manifest, Revision};
use crate::model::{
    BuildInput, Defect, ErrorCode, MessageKind, Model, Names, add_tolerances, assign_roles, build_model, gate_methods,
};
use crate::overlay::{Facts, Overlay};
use crate::problem::{Problem, Problems};
use crate::sources::{LoadedRevision, Sources};

/// The beginning of the directories that belong to the generator.
const OWNED: &[&str] = &["mcp-adapters", "mcp-types-"];
/// The crate that knows every revision.
const ADAPTERS: &str = "mcp-adapters";

/// Where to read and where to write.
#[derive(Debug, Clone)]
pub struct GenerateOptions {
    /// The directory of the manifest and the schemas.
    pub schema: PathBuf,
    /// The directory that the crates are written to.
    pub out: PathBuf,
    /// The crate `mcp-wire`, as a generated crate's manifest names it.
    pub wire: String,
    /// Write nothing; only say what is not as it should be.
    pub check: bool,
}

/// What was generated.
#[derive(Debug)]
pub struct Generated {
    /// How the files compare to those that were there.
    pub files: Report,
    /// How many types the revisions have.
    pub types: usize,
    /// The documentation that each revision lacks, by key.
    pub undocumented: Undocumented,
}

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// Something is wrong with the schemas or what goes with them.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// Files can't be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The generator met its own limits.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A built-in template doesn't parse.
    #[error(transparent)]
    Template(#[from] Box<handlebars::TemplateError>),
    /// The manifest has no such revision.
    #[error("revisions.yaml has no revision {wanted}; it has {}", known.join(", "))]
    UnknownRevision {
        /// The revision that was asked for.
        wanted: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The model can't be written as YAML.
    #[error(transparent)]
    Yaml(#[from] yaml_serde::Error),
    /// The model can't be written at all.
    #[error(transparent)]
    Model(#[from] serde_json::Error),
}

/// Generates the crates of all revisions.
///
/// # Errors
/// Everything that is wrong with the input, at once; then nothing is written.
pub fn generate(options: &GenerateOptions) -> Result<Generated, GenerateError> {
    let sources = Sources::load(&options.schema)?;
    let Made {
        files,
        types,
        undocumented,
    } = make_files(&sources, &options.wire)?;
    let files = if options.check {
        files.check(&options.out, OWNED)?
    } else {
        files.write(&options.out, OWNED)?
    };
    Ok(Generated {
        files,
        types,
        undocumented,
    })
}

/// Says what would stop [`generate`] if `document` were the schema of a revision, and `manifest` the manifest.
///
/// If `generate` stops already as things are, the revision is judged alone.
pub(crate) fn check_generates(
    schema: &Path,
    manifest: &Manifest,
    revision: &Revision,
    document: &Document,
) -> Result<(), GenerateError> {
    let check = |manifest: &Manifest| -> Result<(), GenerateError> {
        let sources = Sources::load_with(schema, manifest.clone(), Some((revision, document)))?;
        make_files(&sources, "").map(|_| ())
    };
    let stops_already = || match Sources::load(schema) {
        Ok(sources) => make_files(&sources, "").is_err(),
        Err(_) => true,
    };
    match check(manifest) {
        Err(_) if stops_already() => check(&Manifest {
            revisions: manifest.entry(revision.as_str()).cloned().into_iter().collect(),
            hub: None,
            ..manifest.clone()
        }),
        done => done,
    }
}

/// The documentation that each revision lacks, by key.
type Undocumented = BTreeMap<String, BTreeSet<String>>;

/// Everything that is generated, in memory.
struct Made {
    files: FileSet,
    types: usize,
    undocumented: Undocumented,
}

fn make_files(sources: &Sources, wire: &str) -> Result<Made, GenerateError> {
    let Sources {
        manifest,
        revisions,
        docs,
        ..
    } = sources;
    let models = build_models(sources)?;
    let plans = plan_all(revisions, &models)?;
    let templates = Templates::new()?;
    let mut files = FileSet::default();
    let mut undocumented = BTreeMap::new();
    let mut items = Vec::new();
    for ((entry, revision), model) in manifest.revisions.iter().zip(revisions).zip(&models) {
        let link = |definition: &str| manifest.link(entry, definition).unwrap_or_else(|| entry.source.clone());
        let emitted = emit_crate(
            &EmitInput {
                model,
                schema: &revision.shapes.schema,
                sha256: &entry.sha256,
                docs,
                link: &link,
                wire,
            },
            &templates,
        )?;
        let folder = PathBuf::from(crate_name(&model.revision));
        for (path, contents) in emitted.files {
            files.insert(folder.join(path), contents)?;
        }
        undocumented.insert(model.revision.clone(), emitted.undocumented);
        items.push(emitted.items);
    }
    if let Some(hub) = manifest.hub() {
        let mut facts = Facts::default();
        let mut inputs = Vec::new();
        let entries = manifest.revisions.iter().zip(revisions);
        for ((entry, revision), (model, items)) in entries.zip(models.iter().zip(&items)) {
            facts = revision.overlay.facts.or(facts);
            let functions = revision.functions.as_deref();
            inputs.push(RevisionInput::new(model, items, functions, facts, entry.released));
        }
        let input = AdaptersInput {
            revisions: &inputs,
            plans: &plans,
            hub: hub.as_str(),
            wire,
        };
        for (path, contents) in emit_adapters(&input, &AdapterTemplates::new()?)? {
            files.insert(Path::new(ADAPTERS).join(path), contents)?;
        }
    }
    Ok(Made {
        files,
        types: models.iter().map(|model| model.types.len()).sum(),
        undocumented,
    })
}

/// The model of a revision as YAML, to be read by people.
///
/// # Errors
/// Everything that is wrong with the input, at once, or a revision that isn't there.
pub fn model_yaml(schema: &Path, revision: &str) -> Result<String, GenerateError> {
    let models = build_models(&Sources::load(schema)?)?;
    match models.iter().find(|model| model.revision == revision) {
        Some(model) => Ok(yaml_serde::to_string(&serde_json::to_value(model)?)?),
        None => Err(GenerateError::UnknownRevision {
            wanted: revision.to_owned(),
            known: models.into_iter().map(|model| model.revision).collect(),
        }),
    }
}

/// What is automatic between each two adjacent revisions, what a rule covers and what is refused, as Markdown.
///
/// # Errors
/// Everything that is wrong with the input, at once.
pub fn adapters_report(schema: &Path) -> Result<String, GenerateError> {
    let sources = Sources::load(schema)?;
    let models = build_models(&sources)?;
    Ok(report(&plan_all(&sources.revisions, &models)?))
}

/// The plans between adjacent revisions: for each pair the way up, then the way down.
fn plan_all(revisions: &[LoadedRevision], models: &[Model]) -> Result<Vec<Plan>, Problems> {
    let side = |at: usize| Side {
        model: &models[at],
        schema: &revisions[at].shapes.schema,
    };
    let mut plans = Vec::new();
    let mut problems = Vec::new();
    for later in 1..models.len() {
        for upward in [true, false] {
            let (from, to) = if upward { (later - 1, later) } else { (later, later - 1) };
            let (plan, found) = plan_conversions(PairInput {
                from: side(from),
                to: side(to),
                rules: &revisions[later].rules,
                rules_of: &models[later].revision,
                upward,
            });
            plans.push(plan);
            problems.extend(found);
        }
    }
    Problems::check(problems)?;
    Ok(plans)
}

/// Builds the models from the latest to the earliest, because names come from later revisions.
fn build_models(sources: &Sources) -> Result<Vec<Model>, Problems> {
    let Sources {
        manifest,
        revisions,
        modules,
        capabilities,
        lifecycle,
        tolerances,
        ..
    } = sources;
    let names = Names::new(manifest.acronyms.clone());
    let mut models: Vec<Model> = Vec::new();
    let mut problems = Vec::new();
    let inherited = inherited_results(revisions);
    let revisions = manifest.revisions.iter().zip(revisions);
    for ((entry, revision), inherited) in revisions.zip(&inherited).rev() {
        match build(entry, revision, &names, modules, models.last(), inherited) {
            Ok(mut model) => {
                gate_methods(&mut model, capabilities);
                assign_roles(&mut model, lifecycle);
                add_tolerances(&mut model, tolerances);
                models.push(model);
            }
            Err(found) => problems.extend(found),
        }
    }
    Problems::check(problems)?;
    models.reverse();
    Ok(models)
}

/// Results of requests, by method.
type Results = BTreeMap<String, Vec<String>>;

/// The results that a revision's own overlay states.
fn results_of(revision: &LoadedRevision) -> Results {
    let entries = revision.overlay.results.iter();
    let by_method = entries.flat_map(|entry| {
        let results: Vec<String> = entry.definitions().cloned().collect();
        entry
            .methods
            .iter()
            .map(move |method| (method.clone(), results.clone()))
    });
    by_method.collect()
}

/// For each revision, the results that the overlays of the earlier ones state.
fn inherited_results(revisions: &[LoadedRevision]) -> Vec<Results> {
    let earlier = revisions.iter().scan(Results::new(), |earlier, revision| {
        let inherited = earlier.clone();
        earlier.extend(results_of(revision));
        Some(inherited)
    });
    earlier.collect()
}

fn build(
    entry: &Entry,
    revision: &LoadedRevision,
    names: &Names,
    modules: &BTreeMap<String, String>,
    later: Option<&Model>,
    inherited_results: &Results,
) -> Result<Model, Vec<Problem>> {
    let error_codes: Vec<ErrorCode> = revision
        .overlay
        .error_codes
        .iter()
        .map(|code| ErrorCode {
            name: code.name.clone(),
            code: code.code,
            meaning: code.why.clone(),
            link: code.link.clone(),
        })
        .collect();
    let input = BuildInput {
        revision: entry.revision.as_str(),
        shapes: &revision.shapes,
        names,
        later,
        modules,
        results: &results_of(revision),
        inherited_results,
        error_codes: &error_codes,
    };
    let problem = |defect: Defect| {
        revision
            .document
            .problem(&defect.pointer, defect.what)
            .help(defect.help)
    };
    let model = build_model(&input).map_err(|defects| defects.into_iter().map(problem).collect::<Vec<_>>())?;
    check_results(&revision.overlay, &model)?;
    Ok(model)
}

/// Each entry of the overlay's results must be about a request and definitions of the revision.
fn check_results(overlay: &Overlay, model: &Model) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for (index, entry) in overlay.results.iter().enumerate() {
        let requests = || {
            model
                .methods
                .iter()
                .filter(|method| method.kind == MessageKind::Request)
        };
        let no_request = entry
            .methods
            .iter()
            .filter(|name| requests().all(|method| method.name != **name));
        let no_definition = entry
            .definitions()
            .filter(|name| !model.definitions.contains_key(*name));
        let wrong = no_request.map(|name| format!("the revision has no request `{name}`"));
        let wrong = wrong.chain(no_definition.map(|name| format!("the schema has no definition `{name}`")));
        problems.extend(wrong.map(|what| {
            let problem = overlay.problem(&format!("#/results/{index}"), what);
            problem.help("correct the name, or remove the entry")
        }));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
