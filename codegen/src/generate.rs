//! The pipeline: schemas in, files out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::adapt::rules::FUNCTIONS;
use crate::adapt::{PairInput, Plan, Rules, Side, plan_conversions, report};
use crate::emit::{
    AdapterTemplates, AdaptersInput, Docs, EmitError, EmitInput, RevisionInput, Templates, callable_functions,
    crate_name, emit_adapters, emit_crate,
};
use crate::files::{FileSet, FilesError, Report};
use crate::load::{Document, Entry, Manifest, check_document, load_document};
use crate::model::{BuildInput, Capabilities, Defect, ErrorCode, MessageKind, Model, Names, build_model, gate_methods};
use crate::normalise::{Shapes, normalise_schema};
use crate::overlay::{Facts, Overlay, apply_overlay};
use crate::problem::{Problem, Problems};

/// The file of a revision's directory that holds its schema.
const SCHEMA: &str = "schema.json";
/// The file of the schema directory that holds documentation in our own words.
const DOCS: &str = "docs.yaml";
/// The file of the schema directory that says which definitions belong together.
const MODULES: &str = "modules.yaml";
/// The file of the schema directory that says which capability each method needs.
const CAPABILITIES: &str = "capabilities.yaml";
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
    /// The documentation that each revision lacks, by key.
    pub undocumented: BTreeMap<String, BTreeSet<String>>,
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
    let manifest = Manifest::load(&options.schema)?;
    let revisions = load_revisions(&options.schema, &manifest)?;
    let models = build_models(&options.schema, &manifest, &revisions)?;
    let plans = plan_all(&revisions, &models)?;
    let docs = Docs::new(load_map(&options.schema.join(DOCS))?);
    let templates = Templates::new()?;
    let mut files = FileSet::default();
    let mut undocumented = BTreeMap::new();
    let mut shells = Vec::new();
    for ((entry, revision), model) in manifest.revisions.iter().zip(&revisions).zip(&models) {
        let link = |definition: &str| manifest.link(entry, definition).unwrap_or_else(|| entry.source.clone());
        let emitted = emit_crate(
            &EmitInput {
                model,
                schema: &revision.shapes.schema,
                sha256: &entry.sha256,
                docs: &docs,
                link: &link,
                wire: &options.wire,
            },
            &templates,
        )?;
        let folder = PathBuf::from(crate_name(&model.revision));
        for (path, contents) in emitted.files {
            files.insert(folder.join(path), contents)?;
        }
        undocumented.insert(model.revision.clone(), emitted.undocumented);
        shells.push(emitted.shells);
    }
    if let Some(hub) = manifest.hub() {
        // A revision that nobody has said anything about is taken to be like the one before.
        let mut facts = Facts::default();
        let mut inputs = Vec::new();
        let entries = manifest.revisions.iter().zip(&revisions);
        for ((entry, revision), (model, shells)) in entries.zip(models.iter().zip(&shells)) {
            facts = revision.overlay.facts.unwrap_or(facts);
            let functions = revision.functions.as_deref();
            inputs.push(RevisionInput::new(model, shells, functions, facts, entry.released));
        }
        let input = AdaptersInput {
            revisions: &inputs,
            plans: &plans,
            hub: hub.as_str(),
            wire: &options.wire,
        };
        for (path, contents) in emit_adapters(&input, &AdapterTemplates::new()?)? {
            files.insert(Path::new(ADAPTERS).join(path), contents)?;
        }
    }
    let files = if options.check {
        files.check(&options.out, OWNED)?
    } else {
        files.write(&options.out, OWNED)?
    };
    Ok(Generated { files, undocumented })
}

/// The model of a revision as YAML, to be read by people.
///
/// # Errors
/// Everything that is wrong with the input, at once, or a revision that isn't there.
pub fn model_yaml(schema: &Path, revision: &str) -> Result<String, GenerateError> {
    let manifest = Manifest::load(schema)?;
    let revisions = load_revisions(schema, &manifest)?;
    let models = build_models(schema, &manifest, &revisions)?;
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
    let manifest = Manifest::load(schema)?;
    let revisions = load_revisions(schema, &manifest)?;
    let models = build_models(schema, &manifest, &revisions)?;
    Ok(report(&plan_all(&revisions, &models)?))
}

/// A revision, ready to be modelled.
struct LoadedRevision {
    document: Document,
    overlay: Overlay,
    rules: Rules,
    /// The functions that the rules call.
    functions: Option<String>,
    shapes: Shapes,
}

fn load_revisions(schema: &Path, manifest: &Manifest) -> Result<Vec<LoadedRevision>, Problems> {
    let mut problems = Vec::new();
    let mut revisions = Vec::new();
    for entry in &manifest.revisions {
        match load_revision(&schema.join(entry.revision.as_str())) {
            Ok(revision) => revisions.push(revision),
            Err(found) => problems.extend(found.iter().cloned()),
        }
    }
    Problems::check(problems)?;
    Ok(revisions)
}

fn load_revision(directory: &Path) -> Result<LoadedRevision, Problems> {
    let document = load_document(&directory.join(SCHEMA))?;
    check_document(&document)?;
    let overlay = Overlay::load(directory)?;
    let rules = Rules::load(directory)?;
    let functions = load_functions(&directory.join(FUNCTIONS), &rules)?;
    let corrected = apply_overlay(&document, &overlay)?;
    check_document(&corrected)?;
    let shapes = normalise_schema(corrected.root());
    check_judge(&corrected, &shapes.schema)?;
    Ok(LoadedRevision {
        document,
        overlay,
        rules,
        functions,
        shapes,
    })
}

/// The hand-written functions that rules call: a Rust file that becomes a module of the adapters.
fn load_functions(path: &Path, rules: &Rules) -> Result<Option<String>, Problems> {
    let text = crate::load::read_text(path)?;
    let functions = match &text {
        Some(text) => callable_functions(text).map_err(|(place, what)| {
            let problem = Problem::new(path.display().to_string(), what).at(place);
            problem.help("the file becomes a module of the adapters, so it must be Rust")
        })?,
        None => BTreeSet::new(),
    };
    Problems::check(rules.calls_of_others(&functions))?;
    Ok(text)
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

/// The judge that the generated crate will embed must be able to honour the schema.
fn check_judge(document: &Document, schema: &Value) -> Result<(), Problems> {
    let Err(error) = mcp_wire::Judge::new(schema) else {
        return Ok(());
    };
    let problem = |problem: &mcp_wire::judge::Problem| document.problem(&problem.pointer, problem.message.clone());
    Problems::check(error.problems().iter().map(problem).collect())
}

/// Builds the models from the latest to the earliest, because names come from later revisions.
fn build_models(schema: &Path, manifest: &Manifest, revisions: &[LoadedRevision]) -> Result<Vec<Model>, Problems> {
    let names = Names::new(manifest.acronyms.clone());
    let modules = load_modules(&schema.join(MODULES))?;
    let capabilities: Capabilities = load_map(&schema.join(CAPABILITIES))?;
    let mut models: Vec<Model> = Vec::new();
    let mut problems = Vec::new();
    let inherited = inherited_results(revisions);
    let revisions = manifest.revisions.iter().zip(revisions);
    for ((entry, revision), inherited) in revisions.zip(&inherited).rev() {
        match build(entry, revision, &names, &modules, models.last(), inherited) {
            Ok(mut model) => {
                gate_methods(&mut model, &capabilities);
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

/// A YAML file of texts by key; a file that isn't there has none.
fn load_map<T: serde::de::DeserializeOwned + Default>(path: &Path) -> Result<T, Problems> {
    if !path.exists() {
        return Ok(T::default());
    }
    let document = load_document(path)?;
    if *document.root() == Value::Null {
        return Ok(T::default());
    }
    Ok(document.decode("#")?)
}

/// Which module each definition is in, from the list of each module's definitions.
fn load_modules(path: &Path) -> Result<BTreeMap<String, String>, Problems> {
    let modules: BTreeMap<String, Vec<String>> = load_map(path)?;
    let of_module = |(module, definitions): (String, Vec<String>)| {
        definitions
            .into_iter()
            .map(move |definition| (definition, module.clone()))
            .collect::<Vec<_>>()
    };
    Ok(modules.into_iter().flat_map(of_module).collect())
}
