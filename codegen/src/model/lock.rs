//! The published names, which neither a later revision nor a correction may change.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::is_module_name;
use super::names::is_type_name;
use super::types::Model;
use crate::load::Document;
use crate::problem::{Problem, Problems};

const HEADER: &str = "\
# The published names of this revision's types: where the schema has a type, and its path in the crate.
# `cargo xtask lock` adds lines. To remove or change one breaks code that uses the name.
";

/// The published names of a revision.
#[derive(Debug, Default)]
pub(crate) struct Lock {
    /// The module and the name of each type, by its pointer in the schema.
    paths: BTreeMap<String, (String, String)>,
}

impl Lock {
    /// Decodes `names.yaml`.
    pub(crate) fn of(document: &Document) -> Result<Self, Problems> {
        let lines: BTreeMap<String, String> = document.decode_all()?;
        let (mut paths, mut problems) = (BTreeMap::new(), Vec::new());
        for (pointer, path) in lines {
            match path.split_once("::") {
                Some((module, name)) if is_module_name(module) && is_type_name(name) => {
                    paths.insert(pointer, (module.to_owned(), name.to_owned()));
                }
                _ => problems.push(
                    problem(document, &pointer, format!("`{path}` isn't a path of a type"))
                        .help("write `module::Type`"),
                ),
            }
        }
        Problems::check(problems)?;
        Ok(Self { paths })
    }

    /// Returns these names, with those of a revision's crate for the definitions at the imported pointers and the
    /// schemas inside them.
    pub(super) fn with(mut self, core: &Model, imported: &BTreeSet<String>) -> Self {
        let definition = |at: &str| at.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        for (at, name) in core.places.iter().filter(|(at, _)| imported.contains(&definition(at))) {
            if let Some(ty) = core.types.get(name) {
                self.paths.insert(at.clone(), (ty.module.clone(), name.clone()));
            }
        }
        self
    }

    /// Returns the name of the type at a pointer.
    pub(super) fn name(&self, pointer: &str) -> Option<&str> {
        self.paths.get(pointer).map(|(_, name)| name.as_str())
    }

    /// Puts the types into the modules in which they were published.
    pub(super) fn apply_modules(&self, model: &mut Model) {
        for (module, name) in self.paths.values() {
            if let Some(ty) = model.types.get_mut(name) {
                ty.module.clone_from(module);
            }
        }
    }

    /// Returns a problem for each published name that a model lacks.
    pub(super) fn broken(&self, model: &Model, document: &Document) -> Vec<Problem> {
        let lost = self
            .paths
            .iter()
            .filter(|(_, (_, name))| !model.types.contains_key(name));
        let problems = lost.map(|(pointer, (module, name))| {
            let published = format!("`{module}::{name}` is published");
            match path_at(model, pointer) {
                Some(path) => problem(document, pointer, format!("{published}, and would now be `{path}`"))
                    .help("undo the change, or name the type by `x-name` in overlay.yaml; for a breaking release, change this line"),
                None => problem(document, pointer, format!("{published}, and there is no such type any more"))
                    .help("restore what was there in overlay.yaml; for a breaking release, remove this line"),
            }
        });
        problems.collect()
    }
}

/// Returns the text of `names.yaml` for a model.
pub(crate) fn names_yaml(model: &Model) -> Result<String, yaml_serde::Error> {
    let paths = model
        .places
        .keys()
        .filter_map(|pointer| Some((pointer, path_at(model, pointer)?)));
    let paths: BTreeMap<&String, String> = paths.collect();
    Ok(format!("{HEADER}\n{}", yaml_serde::to_string(&paths)?))
}

/// Returns the path of the type at a pointer.
fn path_at(model: &Model, pointer: &str) -> Option<String> {
    let name = model.places.get(pointer)?;
    let module = &model.types.get(name)?.module;
    Some(format!("{module}::{name}"))
}

/// Returns a problem of the line about a pointer.
fn problem(document: &Document, pointer: &str, what: String) -> Problem {
    let line = mcp_json_schema::pointer::child("#", pointer);
    document.problem(&line, what).pointer(pointer)
}
