//! State of planning the conversions between two revisions.

use std::collections::BTreeSet;

use super::pairing::Pairing;
use super::plan::{Pair, Plan};
use super::report::{Note, NoteKind};
use super::rules::{Action, Rule};
use crate::problem::Problem;

/// State of planning the conversions between two revisions: the plan so far, pending conversions, and the problems found.
pub(super) struct Planner<'m> {
    pub(super) pair: Pairing<'m>,
    pub(super) plan: Plan,
    pub(super) pending: Vec<Pair>,
    pub(super) used: BTreeSet<usize>,
    /// Rules on members, by index, whose types convert without them.
    pub(super) covered: Vec<(usize, Pair)>,
    pub(super) problems: Vec<Problem>,
}

impl<'m> Planner<'m> {
    pub(super) fn new(pair: Pairing<'m>) -> Self {
        let plan = Plan {
            from: pair.from.model.revision.clone(),
            to: pair.to.model.revision.clone(),
            ..Plan::default()
        };
        Self {
            pair,
            plan,
            pending: Vec::new(),
            used: BTreeSet::new(),
            covered: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Returns the action of the rule at a place in this direction.
    pub(super) fn rule(&mut self, place: &str) -> Option<(usize, &'m Action)> {
        let upward = self.pair.upward;
        self.find(place, |rule| rule.action(upward))
    }

    /// Returns a part of a rule for a place; one that names the type precedes one for any type.
    pub(super) fn find<T>(&mut self, place: &str, what: impl Fn(&'m Rule) -> Option<T>) -> Option<(usize, T)> {
        let found = self.pair.rules.find(place, what)?;
        self.used.insert(found.0);
        Some(found)
    }

    pub(super) fn wrong_rule(&mut self, index: usize, what: impl Into<String>) {
        let help = "remove the rule, or see with `cargo xtask adapters` what is planned there";
        self.wrong_rule_with(index, what, help);
    }

    pub(super) fn wrong_action(&mut self, index: usize, action: &Action, place: &str) {
        self.wrong_rule(index, format!("`{}` can't be done with {place}", action.word()));
    }

    pub(super) fn wrong_rule_with(&mut self, index: usize, what: impl Into<String>, help: &str) {
        let rule = &self.pair.rules.rules[index];
        self.problem(&rule.pointer, format!("{}: {}", rule.at, what.into()), help);
    }

    /// Reports a problem at a pointer into the file of the rules.
    pub(super) fn problem(&mut self, pointer: &str, what: String, help: &str) {
        let problem = self.pair.rules.document.problem(pointer, what).help(help);
        // A type that has several counterparts is planned several times.
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn automatic(&mut self, at: &str, what: &str) {
        self.note(NoteKind::Automatic, at, what.to_owned());
    }

    pub(super) fn refused(&mut self, at: &str, what: &str) {
        self.note(NoteKind::Refused, at, what.to_owned());
    }

    pub(super) fn refused_by_schema(&mut self, at: &str) {
        self.refused(at, "a value that only the target's schema refuses");
    }

    /// Notes what a rule does.
    pub(super) fn ruled(&mut self, at: &str, word: &str, index: usize) {
        self.used.insert(index);
        let why = self.pair.rules.rules[index].why.trim();
        self.note(NoteKind::Rule, at, format!("{word}: {why}"));
    }

    pub(super) fn note(&mut self, kind: NoteKind, at: &str, what: String) {
        let at = at.to_owned();
        self.plan.notes.insert(Note { kind, at, what });
    }
}
