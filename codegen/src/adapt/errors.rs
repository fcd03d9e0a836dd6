//! Plans how error codes change between two revisions, by the method that failed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::error_rules::ErrorRule;
use super::planner::Planner;
use super::report::NoteKind;
use crate::model::ModelledRevision;

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
            self.check_code(rule, self.pair.from, change.from);
            self.check_code(rule, self.pair.to, change.to);
            for method in rule.each_method() {
                if let Some(method) = &method {
                    self.check_method(rule, method);
                }
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

    fn check_code(&mut self, rule: &ErrorRule, side: &ModelledRevision, code: i64) {
        if !side.model.has_error_code(code) {
            let what = format!("revision {} has no error code {code}", side.model.revision);
            let help = "correct the code, or name it under `error_codes` in the overlay of that revision";
            self.problem(&rule.pointer, what, help);
        }
    }

    /// Checks that a rule's method is a request of at least one of the revisions. One is enough: a server responds to
    /// the request with the errors that it has for the other.
    fn check_method(&mut self, rule: &ErrorRule, name: &str) {
        let models = [&self.pair.from.model, &self.pair.to.model];
        if !models.iter().any(|model| model.has_request(name)) {
            let [from, to] = models.map(|model| &model.revision);
            let what = format!("neither revision {from} nor {to} has a request `{name}`");
            self.problem(&rule.pointer, what, "correct the name, or remove it");
        }
    }
}
