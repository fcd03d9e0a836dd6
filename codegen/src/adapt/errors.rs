//! Rules about errors, the section `errors` of `adapt.yaml`, and how error codes change by them between two revisions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::planner::Planner;
use super::report::NoteKind;
use super::rows::split;
use crate::load::OneOrMany;
use crate::problem::Problem;

/// Prefix of every condition. All errors have a code and a message, so conditions are only about the data.
const DATA: &str = "data.";

/// A rule about the errors of some methods.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorRule {
    /// The methods; `None` for all of them.
    #[serde(rename = "method")]
    pub(crate) methods: Option<OneOrMany>,
    /// The code when the error goes to the earlier revision.
    pub(crate) down: Option<CodeChange>,
    /// The code when the error goes to the later revision.
    pub(crate) up: Option<CodeChange>,
    pub(crate) why: String,
    /// Link to the part of the specification, or the discussion, that justifies the rule.
    #[serde(rename = "link")]
    pub(super) _link: String,
    /// The pointer of the rule in its file.
    #[serde(skip)]
    pub(crate) pointer: String,
}

/// An error code, and its replacement in the other revision.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeChange {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// The member that the error must have, such as `data.uri`.
    #[serde(rename = "if")]
    pub(crate) condition: Option<String>,
}

impl ErrorRule {
    pub(super) fn change(&self, upward: bool) -> Option<&CodeChange> {
        let change = if upward { &self.up } else { &self.down };
        change.as_ref()
    }

    /// Returns the problem of an invalid rule, with a suggestion.
    pub(super) fn wrong(&self) -> Option<Problem> {
        let mut changes = self.down.iter().chain(&self.up);
        let is_wrong = |change: &CodeChange| {
            let data = change.data();
            change.condition.is_some() && (data.is_empty() || data.iter().any(String::is_empty))
        };
        let (what, help) = if self.down.is_none() && self.up.is_none() {
            ("the rule does nothing", "give it `down`, `up` or both")
        } else if changes.clone().any(|change| change.from == change.to) {
            ("the code doesn't change", "such errors need no rule")
        } else if changes.any(is_wrong) {
            (
                "`if` names no member of the error's data",
                "write its path, such as `data.uri`",
            )
        } else {
            return None;
        };
        Some(Problem::at_pointer(&self.pointer, what).help(help))
    }
}

impl CodeChange {
    /// Returns the path, within the data, of the member that the error must have.
    pub(super) fn data(&self) -> Vec<String> {
        let path = self.condition.as_deref().and_then(|path| path.strip_prefix(DATA));
        path.map(split).unwrap_or_default()
    }
}

/// A rule about the errors of one method in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ErrorPlan {
    /// The method; `None` for all of them.
    pub(crate) method: Option<String>,
    pub(crate) from: i64,
    /// The path of the member that the error's data must have; empty if there is no condition.
    pub(crate) data: Vec<String>,
    pub(crate) to: i64,
    /// The name of the rule in losses.
    pub(crate) rule: String,
}

impl Planner<'_> {
    /// Plans the rules about errors in this direction. Rules for one method come before those for all, and rules with a
    /// condition before those without.
    pub(super) fn plan_errors(&mut self) {
        let rules = self.pair.rules;
        let mut known: BTreeMap<(Option<String>, i64, Vec<String>), &str> = BTreeMap::new();
        for rule in &rules.errors {
            let Some(change) = rule.change(self.pair.upward) else {
                continue;
            };
            self.check_error_rule(rule, change);
            // A single `None` means all methods.
            let methods = rule.methods.as_deref();
            let methods = methods.map_or(vec![None], |methods| methods.iter().cloned().map(Some).collect());
            for method in methods {
                let key = (method.clone(), change.from, change.data());
                if let Some(other) = known.insert(key, &rule.pointer) {
                    let what = format!("{other} is about the same errors");
                    self.problem(&rule.pointer, what, "remove one of the two");
                }
                let place = match &method {
                    Some(method) => format!("{method} error {}", change.from),
                    None => format!("error {}", change.from),
                };
                let condition = change.condition.as_ref();
                let condition = condition.map_or_else(String::new, |member| format!(" if there is `{member}`"));
                let what = format!("code {}{condition}: {}", change.to, rule.why.trim());
                self.note(NoteKind::Rule, &place, what);
                self.plan.errors.push(ErrorPlan {
                    method,
                    from: change.from,
                    data: change.data(),
                    to: change.to,
                    rule: format!("{} {place}", self.pair.rules_of()),
                });
            }
        }
        let order = |plan: &ErrorPlan| (plan.method.is_none(), plan.data.is_empty());
        self.plan.errors.sort_by_key(order);
    }

    /// Checks that the revisions have the codes of a rule, and that its methods are requests of at least one of them. One
    /// is enough: a server responds to the request with the errors that it has for the other.
    fn check_error_rule(&mut self, rule: &ErrorRule, change: &CodeChange) {
        let models = [&self.pair.from.model, &self.pair.to.model];
        for (model, code) in models.into_iter().zip([change.from, change.to]) {
            if !model.has_error_code(code) {
                let what = format!("revision {} has no error code {code}", model.revision);
                let help = "correct the code, or name it under `error_codes` in the overlay of that revision";
                self.problem(&rule.pointer, what, help);
            }
        }
        let methods = rule.methods.iter().flat_map(|methods| methods.iter());
        for name in methods.filter(|name| !models.iter().any(|model| model.has_request(name))) {
            let [from, to] = models.map(|model| &model.revision);
            let what = format!("neither revision {from} nor {to} has a request `{name}`");
            self.problem(&rule.pointer, what, "correct the name, or remove it");
        }
    }
}
