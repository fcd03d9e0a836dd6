//! What a schema directory says: the manifest, each revision, and what is said about all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::adapt::Rules;
use crate::adapt::rules::FUNCTIONS;
use crate::emit::{Docs, callable_functions};
use crate::load::{Document, Manifest, Revision, check_document, load_document, without_unused_definitions};
use crate::model::{Capabilities, Lifecycle, Tolerances};
use crate::normalise::{Shapes, normalise_schema};
use crate::overlay::{Overlay, apply_overlay};
use crate::problem::{Problem, Problems};

/// The file of a revision's directory that holds its schema.
const SCHEMA: &str = "schema.json";
/// The file of the schema directory that holds documentation in our own words.
const DOCS: &str = "docs.yaml";
/// The file of the schema directory that says which definitions belong together.
const MODULES: &str = "modules.yaml";
/// The file of the schema directory that says which capability each method needs.
const CAPABILITIES: &str = "capabilities.yaml";
/// The file of the schema directory that says which methods a session deals with by itself.
const LIFECYCLE: &str = "lifecycle.yaml";
/// The file of the schema directory that says what is tolerated in results.
const TOLERANCES: &str = "tolerances.yaml";

/// Everything that crates are generated from.
pub(crate) struct Sources {
    pub manifest: Manifest,
    /// In the manifest's order.
    pub revisions: Vec<LoadedRevision>,
    pub docs: Docs,
    /// The module that each definition is in.
    pub modules: BTreeMap<String, String>,
    pub capabilities: Capabilities,
    pub lifecycle: Lifecycle,
    pub tolerances: Tolerances,
}

/// A revision, ready to be modelled.
pub(crate) struct LoadedRevision {
    pub document: Document,
    pub overlay: Overlay,
    pub rules: Rules,
    /// The functions that the rules call.
    pub functions: Option<String>,
    pub shapes: Shapes,
}

impl Sources {
    /// Reads a schema directory.
    ///
    /// # Errors
    /// Everything that is wrong with any of its files alone.
    pub fn load(schema: &Path) -> Result<Self, Problems> {
        Self::load_with(schema, Manifest::load(schema)?, None)
    }

    /// Reads a schema directory as it will be: with this manifest, and with this document as the schema of one revision.
    ///
    /// # Errors
    /// Everything that is wrong with any of its files alone.
    pub fn load_with(schema: &Path, manifest: Manifest, new: Option<(&Revision, &Document)>) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut revisions = Vec::new();
        for entry in &manifest.revisions {
            let document = new.filter(|(revision, _)| **revision == entry.revision);
            match load_revision(
                &schema.join(entry.revision.as_str()),
                document.map(|(_, document)| document),
            ) {
                Ok(revision) => revisions.push(revision),
                Err(found) => problems.extend(found),
            }
        }
        Problems::check(problems)?;
        Ok(Self {
            revisions,
            docs: Docs::new(load_map(&schema.join(DOCS))?),
            modules: load_modules(&schema.join(MODULES))?,
            capabilities: load_map(&schema.join(CAPABILITIES))?,
            lifecycle: load_map(&schema.join(LIFECYCLE))?,
            tolerances: load_map(&schema.join(TOLERANCES))?,
            manifest,
        })
    }
}

/// Reads what a revision's directory holds; its schema is `document`, if there is one.
fn load_revision(directory: &Path, document: Option<&Document>) -> Result<LoadedRevision, Problems> {
    let document = match document {
        Some(document) => document.clone(),
        None => load_document(&directory.join(SCHEMA))?,
    };
    let overlay = Overlay::load(directory)?;
    let rules = Rules::load(directory)?;
    let functions = load_functions(&directory.join(FUNCTIONS), &rules)?;
    let corrected = without_unused_definitions(apply_overlay(&document, &overlay)?);
    check_document(&corrected)?;
    let shapes = normalise_schema(corrected.root());
    check_validator(&corrected, &shapes.schema)?;
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

/// The validator of the generated crate must be able to honour the schema.
fn check_validator(document: &Document, schema: &Value) -> Result<(), Problems> {
    let Err(error) = mcp_wire::Validator::new(schema) else {
        return Ok(());
    };
    let problem = |problem: &mcp_wire::validator::Problem| document.problem(&problem.pointer, problem.message.clone());
    Problems::check(error.problems().iter().map(problem).collect())
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
