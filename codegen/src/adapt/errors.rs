//! Plans how error codes change between two revisions.

use std::collections::BTreeMap;

use super::error_rules::{CodeChange, ErrorRule};
use super::plan::ErrorPlan;
use super::planner::Planner;
use super::report::NoteKind;

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
