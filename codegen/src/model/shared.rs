//! What is said about all revisions: which lines apply to a model, and which to none.

use std::collections::BTreeMap;

use mcp_wire::json_schema::pointer;
use serde::de::DeserializeOwned;

use super::assign_roles::{assign_roles, declares_member};
use super::capabilities::{Capabilities, bare_place, require_capabilities};
use super::lifecycle::incomplete;
use super::roles::{MEMBER_ROLES, METHOD_ROLES, Roles, is_of_member};
use super::tolerances::{Tolerances, add_tolerances};
use super::types::Model;
use crate::load::OneOrMany;
use crate::load::{Document, SharedDocuments};
use crate::problem::Problem;

/// What is said about all revisions.
pub(crate) struct Shared {
    pub(super) documents: SharedDocuments,
    pub(super) modules: BTreeMap<String, String>,
    capabilities: Capabilities,
    lifecycle: Roles,
    tolerances: Tolerances,
}

impl Shared {
    /// Decodes what is said about all revisions. A document that has another shape is a problem, and says nothing.
    pub(crate) fn of(documents: SharedDocuments, problems: &mut Vec<Problem>) -> Self {
        let modules: Modules = decode(&documents.modules, problems);
        let modules = modules.into_iter().flat_map(|(module, definitions)| {
            let definitions = definitions.into_iter();
            definitions.map(move |definition| (definition, module.clone()))
        });
        Self {
            modules: modules.collect(),
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
        let (known, documents) = (Known { models }, &self.documents);
        let mut problems = Vec::new();
        let capabilities = &documents.capabilities;
        for (line, places) in &self.capabilities {
            let at = pointer::child("#", line);
            let (method, parameter) = line.split_once(' ').unwrap_or((line, ""));
            let parameter = parameter.split('=').next().unwrap_or_default().trim_end_matches('!');
            problems.extend(known.method(capabilities, &at, method));
            problems.extend(known.parameter(capabilities, &at, method, parameter));
            problems.extend(known.members(capabilities, &at, places));
        }
        for (role, names) in &self.lifecycle {
            problems.extend(known.role(&documents.lifecycle, role, names));
        }
        for (index, tolerance) in self.tolerances.iter().enumerate() {
            let at = format!("#/{index}");
            problems.extend(known.members(&documents.tolerances, &at, &tolerance.places()));
        }
        problems.extend(known.definitions(&documents.modules));
        problems
    }
}

fn decode<T: DeserializeOwned + Default>(document: &Document, problems: &mut Vec<Problem>) -> T {
    document.decode_all().unwrap_or_else(|problem| {
        problems.push(problem);
        T::default()
    })
}

/// The definitions of each module.
type Modules = BTreeMap<String, Vec<String>>;

/// What the revisions have.
struct Known<'m> {
    models: &'m [&'m Model],
}

impl Known<'_> {
    fn method(&self, document: &Document, at: &str, method: &str) -> Option<Problem> {
        let is_known = self.models.iter().any(|model| model.method(method).is_some());
        (!is_known).then(|| unknown(document, at, format!("no revision has the method `{method}`")))
    }

    /// What is wrong with the line of a role.
    fn role(&self, document: &Document, role: &str, names: &OneOrMany) -> Vec<Problem> {
        let at = pointer::child("#", role);
        let roles: Vec<&str> = METHOD_ROLES.iter().map(|(role, _)| *role).chain(MEMBER_ROLES).collect();
        if !roles.contains(&role) {
            let problem = document.problem(&at, format!("there is no role `{role}`"));
            return vec![problem.help(format!("the roles are {}", roles.join(", ")))];
        }
        let names = names.iter();
        let unknown_names = names.filter_map(|name| match is_of_member(role) {
            true => {
                let is_known = self.models.iter().any(|model| declares_member(model, name));
                (!is_known).then(|| unknown(document, &at, format!("no revision declares the member `{name}`")))
            }
            false => self.method(document, &at, name),
        });
        let incomplete = self.models.iter().flat_map(|model| incomplete_roles(document, model));
        let incomplete = incomplete.filter_map(|(of, problem)| (of == role).then_some(problem));
        unknown_names.chain(incomplete).collect()
    }

    /// A member of a request's parameters; the empty name means none.
    fn parameter(&self, document: &Document, at: &str, method: &str, parameter: &str) -> Option<Problem> {
        let mut methods = self.models.iter().flat_map(|model| {
            let methods = model.methods.iter().filter(|known| known.name == method);
            methods.map(move |method| (model, method))
        });
        let place = |ty: &str| format!("{ty}.params.{parameter}");
        let is_known = parameter.is_empty() || methods.any(|(model, method)| model.declares(&place(&method.ty)));
        (!is_known).then(|| {
            unknown(
                document,
                at,
                format!("no revision's `{method}` has the parameter `{parameter}`"),
            )
        })
    }

    /// Members of types, each as `Type.member.member`.
    fn members<'p>(&self, document: &'p Document, at: &'p str, places: &'p OneOrMany) -> impl Iterator<Item = Problem> {
        let is_known = |place: &&String| self.models.iter().any(|model| model.declares(bare_place(place)));
        let unknown_places = places.iter().filter(move |place| !is_known(place));
        unknown_places.map(move |place| unknown(document, at, format!("no revision declares `{place}`")))
    }

    fn definitions(&self, modules: &Document) -> Vec<Problem> {
        let members = modules.root().as_object().into_iter().flatten();
        let definitions = members.flat_map(|(module, list)| {
            let list = list.as_array().into_iter().flatten().enumerate();
            list.map(move |(index, name)| (pointer::child(&pointer::child("#", module), &index.to_string()), name))
        });
        let is_known = |name: &str| self.models.iter().any(|model| model.definitions.contains_key(name));
        let unknown_names = definitions.filter_map(|(at, name)| {
            let name = name.as_str().filter(|name| !is_known(name))?;
            Some(unknown(
                modules,
                &at,
                format!("no revision has the definition `{name}`"),
            ))
        });
        unknown_names.collect()
    }
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

fn unknown(document: &Document, at: &str, what: String) -> Problem {
    document
        .problem(at, what)
        .help("correct the name, or remove the line if the protocol has lost it")
}
