//! State of planning the conversions between two revisions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::pairing::Pairing;
use super::plan::Plan;
use super::report::{Note, NoteKind};
use super::rows::Row;
use super::rules::{Action, Rule};
use crate::model::TypeRef;
use crate::problem::Problem;

/// The types of a value on both sides.
pub(super) type Pair = (TypeRef, TypeRef);

/// The planned conversion of a type into another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversion {
    /// Its row in the table.
    pub(crate) row: Row,
    /// Whether the target's schema refuses values that the source's accepts, or that a rule sets, by assertions that
    /// types don't express.
    pub(crate) narrower: bool,
    /// Whether it may lose or refuse something of the value itself, apart from its parts.
    pub(super) lossy: bool,
    /// Whether the target declares members that the source doesn't: an undeclared one may be dropped, or renamed.
    pub(super) adds_members: bool,
    /// The types of the value's parts, whose conversions may lose something too.
    pub(super) parts: Vec<Pair>,
    /// The members that the target's schema asserts something about, although the conversion doesn't validate them: name
    /// in the target, types, and the check that would validate the value.
    pub(super) unchecked_members: Vec<(String, Pair, Value)>,
}

impl Conversion {
    pub(super) fn implied(lossy: bool) -> Self {
        Self {
            lossy,
            ..Self::default()
        }
    }

    /// Returns the conversion of a value with these parts; `None` is a part that the target lacks.
    pub(super) fn of(parts: impl Iterator<Item = (TypeRef, Option<TypeRef>)>) -> Self {
        let mut conversion = Self::default();
        for (source, target) in parts {
            match target {
                Some(target) => conversion.parts.push((source, target)),
                None => conversion.lossy = true,
            }
        }
        conversion
    }
}

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
