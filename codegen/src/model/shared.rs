//! The data that applies to all revisions: assigns it to models, and finds lines that no model uses.

use mcp_json_schema::pointer;

use super::assign_roles::{assign_roles, declares};
use super::capabilities::{Capabilities, bare_place, require_capabilities};
use super::check_lifecycle::incomplete;
use super::inherited_names::Successors;
use super::modules::{Modules, is_module_name};
use super::roles::{Roles, is_of_member, roles};
use super::tolerances::{Tolerances, add_tolerances};
use super::types::Model;
use crate::load::{Document, OneOrMany, SharedDocuments};
use crate::normalise::NormalisedSchema;
use crate::problem::Problem;

/// The data that applies to all revisions: modules, capabilities, roles and tolerances.
pub(crate) struct Shared {
    pub(super) documents: SharedDocuments,
    pub(super) modules: Modules,
    pub(super) names: SharedNames,
    tolerances: Tolerances,
}

/// The capabilities that methods require, and the roles of methods and members, by the names of one or all revisions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SharedNames {
    capabilities: Capabilities,
    roles: Roles,
}

impl SharedNames {
    /// Adds the names of a later revision.
    pub(super) fn add_successors(&mut self, successors: &Successors<'_>) {
        for (role, OneOrMany(names)) in &mut self.roles {
            let of_role = |name: &String| match is_of_member(role) {
                true => successors.new_member(name),
                false => successors.new_method(name).map(str::to_owned),
            };
            let new: Vec<String> = names.iter().filter_map(of_role).collect();
            names.extend(new);
        }
        let lines = self.capabilities.iter().filter_map(|(line, places)| {
            let (method, condition) = line.split_at(line.find(' ').unwrap_or(line.len()));
            let method = successors.new_method(method)?;
            Some((format!("{method}{condition}"), places.clone()))
        });
        let mut lines: Capabilities = lines.collect();
        // Existing lines are preferred.
        lines.append(&mut self.capabilities);
        self.capabilities = lines;
    }
}

impl Shared {
    /// Decodes the documents. If that fails for one, it adds the problems to `problems`, and leaves its data empty.
    pub(crate) fn of(documents: SharedDocuments, problems: &mut Vec<Problem>) -> Self {
        Self {
            modules: documents.modules.decode_or_report(problems),
            names: SharedNames {
                capabilities: documents.capabilities.decode_or_report(problems),
                roles: documents.lifecycle.decode_or_report(problems),
            },
            tolerances: documents.tolerances.decode_or_report(problems),
            documents,
        }
    }

    /// Adds the data that applies to a model, by the names of its revision.
    pub(super) fn apply(&self, model: &mut Model, names: &SharedNames) {
        require_capabilities(model, &names.capabilities);
        assign_roles(model, &names.roles);
        add_tolerances(model, &self.tolerances);
    }

    /// Removes the roles that lack something from a model, and returns their problems.
    pub(super) fn leave_out_roles(
        &self,
        model: &mut Model,
        schema: &NormalisedSchema,
        names: &SharedNames,
    ) -> Vec<Problem> {
        let (mut roles, mut problems) = (names.roles.clone(), Vec::new());
        // One role can depend on another.
        loop {
            let before = problems.len();
            for (role, what, help) in incomplete(model, schema, &self.names.roles) {
                let what = format!(
                    "`{}` of revision {} has no {what}",
                    model.lifecycle.names[role], model.revision
                );
                let at = pointer::child("#", role);
                problems.push(self.documents.lifecycle.problem(&at, what).help(help));
                roles.remove(role);
            }
            if problems.len() == before {
                return problems;
            }
            assign_roles(model, &roles);
        }
    }

    /// Returns a problem for each line about something that no revision has.
    pub(crate) fn misspelt(&self, models: &[&Model]) -> Vec<Problem> {
        let problems = Vec::new();
        let mut check = Check { models, problems };
        self.check_capabilities(&mut check);
        self.check_tolerances(&mut check);
        self.check_modules(&mut check);
        self.check_roles(&mut check);
        check.problems
    }

    fn check_capabilities(&self, check: &mut Check<'_>) {
        let document = &self.documents.capabilities;
        for (line, places) in &self.names.capabilities {
            let at = pointer::child("#", line);
            let (method, parameter) = line.split_once(' ').unwrap_or((line, ""));
            let parameter = parameter.split('=').next().unwrap_or_default().trim_end_matches('!');
            let has_method = |model: &Model| model.method(method).is_some();
            let has_parameter = |model: &Model| {
                let mut methods = model.methods.iter().filter(|known| known.name == method);
                methods.any(|method| model.declares(&format!("{}.params.{parameter}", method.ty)))
            };
            let problem = format!("no revision has the method `{method}`");
            check.any(document, &at, has_method, problem);
            if !parameter.is_empty() {
                let problem = format!("no revision's `{method}` has the parameter `{parameter}`");
                check.any(document, &at, has_parameter, problem);
            }
            check.declared(document, &at, places);
        }
    }

    fn check_tolerances(&self, check: &mut Check<'_>) {
        for (index, tolerance) in self.tolerances.iter().enumerate() {
            check.declared(&self.documents.tolerances, &format!("#/{index}"), &tolerance.places());
        }
    }

    fn check_modules(&self, check: &mut Check<'_>) {
        let document = &self.documents.modules;
        for (module, definitions) in &self.modules {
            let at = pointer::child("#", module);
            if !is_module_name(module) {
                let problem = document.problem(&at, format!("`{module}` can't be the name of a module"));
                let help = "write lower-case letters, digits and `_`; the keywords of Rust and the crate's other files are taken";
                check.problems.push(problem.help(help));
            }
            for (index, name) in definitions.iter().enumerate() {
                let defines = |model: &Model| model.definitions.contains_key(name);
                let at = format!("{at}/{index}");
                let problem = format!("no revision has the definition `{name}`");
                check.any(document, &at, defines, problem);
            }
        }
    }

    fn check_roles(&self, check: &mut Check<'_>) {
        let document = &self.documents.lifecycle;
        for (role, names) in &self.names.roles {
            let at = pointer::child("#", role);
            if !roles().any(|known| known == role) {
                let problem = document.problem(&at, format!("there is no role `{role}`"));
                let help = format!("the roles are {}", Vec::from_iter(roles()).join(", "));
                check.problems.push(problem.help(help));
                continue;
            }
            let has = match is_of_member(role) {
                true => "declares the member",
                false => "has the method",
            };
            for name in names.iter() {
                let problem = format!("no revision {has} `{name}`");
                check.any(document, &at, |model| declares(model, role, name), problem);
            }
        }
    }
}

/// The search for lines about something that no revision has.
struct Check<'m> {
    models: &'m [&'m Model],
    problems: Vec<Problem>,
}

impl Check<'_> {
    /// Checks that a revision meets a condition.
    fn any(&mut self, document: &Document, at: &str, is_in: impl Fn(&Model) -> bool, problem: String) {
        if !self.models.iter().any(|model| is_in(model)) {
            let problem = document.problem(at, problem);
            let help = "correct the name, or remove the line if the protocol has lost it";
            self.problems.push(problem.help(help));
        }
    }

    /// Checks that a revision declares each member, written as `Type.member.member`.
    fn declared(&mut self, document: &Document, at: &str, places: &[String]) {
        for place in places {
            let declares = |model: &Model| model.declares(bare_place(place));
            self.any(document, at, declares, format!("no revision declares `{place}`"));
        }
    }
}
