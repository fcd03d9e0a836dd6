//! What is said about all revisions: which lines apply to a model, and which to none.

use mcp_wire::json_schema::pointer;
use serde::de::DeserializeOwned;

use super::lifecycle::incomplete;
use super::method::{Capabilities, Tolerances, add_tolerances, bare_place, require_capabilities};
use super::modules::{Modules, is_module_name};
use super::roles::{Roles, assign_roles, declares_member, is_of_member, roles};
use super::types::Model;
use crate::load::{Document, SharedDocuments};
use crate::problem::Problem;

/// What is said about all revisions.
pub(crate) struct Shared {
    pub(super) documents: SharedDocuments,
    pub(super) modules: Modules,
    capabilities: Capabilities,
    lifecycle: Roles,
    tolerances: Tolerances,
}

impl Shared {
    /// Decodes what is said about all revisions. A document that has another shape is a problem, and says nothing.
    pub(crate) fn of(documents: SharedDocuments, problems: &mut Vec<Problem>) -> Self {
        Self {
            modules: decode(&documents.modules, problems),
            capabilities: decode(&documents.capabilities, problems),
            lifecycle: decode(&documents.lifecycle, problems),
            tolerances: decode(&documents.tolerances, problems),
            documents,
        }
    }

    /// Puts into a model what applies to it.
    pub(super) fn apply(&self, model: &mut Model) {
        require_capabilities(model, &self.capabilities);
        assign_roles(model, &self.lifecycle);
        add_tolerances(model, &self.tolerances);
    }

    /// Leaves out of the model of a draft the roles that a session couldn't play in it, and returns what each of them lacks.
    pub(super) fn leave_out_roles(&self, model: &mut Model) -> Vec<Problem> {
        let (mut roles, mut problems) = (self.lifecycle.clone(), Vec::new());
        // One role may need another.
        loop {
            let found = incomplete_roles(&self.documents.lifecycle, model);
            if found.is_empty() {
                return problems;
            }
            for (role, problem) in found {
                roles.remove(&role);
                problems.push(problem);
            }
            assign_roles(model, &roles);
        }
    }

    /// The lines about something that no revision has.
    pub(crate) fn misspelt(&self, models: &[&Model]) -> Vec<Problem> {
        let documents = &self.documents;
        let (mut problems, mut unfit_names) = (Vec::new(), Vec::new());
        let mut known = |document: &Document, at: &str, is_in: &dyn Fn(&Model) -> bool, what: String| {
            if !models.iter().any(|model| is_in(model)) {
                let problem = document.problem(at, what);
                problems.push(problem.help("correct the name, or remove the line if the protocol has lost it"));
            }
        };
        let capabilities = &documents.capabilities;
        for (line, places) in &self.capabilities {
            let at = pointer::child("#", line);
            let (method, parameter) = line.split_once(' ').unwrap_or((line, ""));
            let parameter = parameter.split('=').next().unwrap_or_default().trim_end_matches('!');
            let has_method = |model: &Model| model.method(method).is_some();
            let what = format!("no revision has the method `{method}`");
            known(capabilities, &at, &has_method, what);
            let has_parameter = |model: &Model| {
                let mut methods = model.methods.iter().filter(|known| known.name == method);
                methods.any(|method| model.declares(&format!("{}.params.{parameter}", method.ty)))
            };
            if !parameter.is_empty() {
                let what = format!("no revision's `{method}` has the parameter `{parameter}`");
                known(capabilities, &at, &has_parameter, what);
            }
            for place in places.iter() {
                let declares = |model: &Model| model.declares(bare_place(place));
                known(capabilities, &at, &declares, format!("no revision declares `{place}`"));
            }
        }
        for (index, tolerance) in self.tolerances.iter().enumerate() {
            for place in tolerance.places().iter() {
                let declares = |model: &Model| model.declares(place);
                let what = format!("no revision declares `{place}`");
                known(&documents.tolerances, &format!("#/{index}"), &declares, what);
            }
        }
        for (module, definitions) in &self.modules {
            if !is_module_name(module) {
                let at = pointer::child("#", module);
                let problem = documents
                    .modules
                    .problem(&at, format!("`{module}` can't be the name of a module"));
                let help = "write lower-case letters, digits and `_`; the keywords of Rust and the crate's other files are taken";
                unfit_names.push(problem.help(help));
            }
            for (index, name) in definitions.iter().enumerate() {
                let at = format!("{}/{index}", pointer::child("#", module));
                let defines = |model: &Model| model.definitions.contains_key(name);
                let what = format!("no revision has the definition `{name}`");
                known(&documents.modules, &at, &defines, what);
            }
        }
        for (role, names) in &self.lifecycle {
            let at = pointer::child("#", role);
            if !roles().any(|known| known == role) {
                let problem = documents.lifecycle.problem(&at, format!("there is no role `{role}`"));
                unfit_names.push(problem.help(format!("the roles are {}", Vec::from_iter(roles()).join(", "))));
                continue;
            }
            for name in names.iter() {
                let (is_in, what): (&dyn Fn(&Model) -> bool, &str) = match is_of_member(role) {
                    true => (&|model| declares_member(model, name), "declares the member"),
                    false => (&|model| model.method(name).is_some(), "has the method"),
                };
                known(&documents.lifecycle, &at, is_in, format!("no revision {what} `{name}`"));
            }
        }
        let incomplete = models
            .iter()
            .flat_map(|model| incomplete_roles(&documents.lifecycle, model));
        problems.extend(incomplete.map(|(_, problem)| problem).chain(unfit_names));
        problems
    }
}

fn decode<T: DeserializeOwned + Default>(document: &Document, problems: &mut Vec<Problem>) -> T {
    document.decode_all().unwrap_or_else(|problem| {
        problems.push(problem);
        T::default()
    })
}

/// The roles of a model that a session can't play, and what each of them lacks.
fn incomplete_roles(document: &Document, model: &Model) -> Vec<(String, Problem)> {
    let lacking = incomplete(&model.lifecycle).into_iter().filter_map(|(role, what)| {
        let (name, revision) = (model.lifecycle.names.get(role)?, &model.revision);
        let at = pointer::child("#", role);
        let problem = document.problem(&at, format!("`{name}` of revision {revision} has no {what}"));
        let help = "a session can't do its part without it; see which members the schema declares";
        Some((role.to_owned(), problem.help(help)))
    });
    lacking.collect()
}
