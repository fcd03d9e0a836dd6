//! The state of planning the conversions of a pair: what is planned, what is still to be, and which rules were used.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::report::{Note, NoteKind};
use super::rules::{Action, Place, Rule, Rules};
use super::side::Side;
use super::{StructPlan, VariantPlan};
use crate::model::TypeRef;
use crate::problem::Problem;

/// How many objects within each other are looked through for what is supplied.
const MAX_DEPTH: usize = 8;

/// What a plan is made from.
#[derive(Clone, Copy)]
pub struct PairInput<'m> {
    /// The revision that values come from.
    pub from: Side<'m>,
    /// The revision that they go to.
    pub to: Side<'m>,
    /// The rules between the two.
    pub rules: &'m Rules,
    /// The revision whose directory has the rules.
    pub rules_of: &'m str,
    /// Whether the target is the later of the two.
    pub upward: bool,
}

/// How a type becomes another.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanKind {
    /// Member by member.
    Struct(StructPlan),
    /// Variant by variant; either side may be no union.
    Union(Vec<VariantPlan>),
    /// Value by value; those that the target lacks are refused.
    Strings {
        /// The values that the source knows and the target must not have.
        refused: Vec<String>,
        /// Whether the target refuses values that neither side knows.
        closed: bool,
    },
    /// Method by method, by the types of the messages; `None` where the target has no such method.
    Methods(Vec<(String, Option<String>)>),
    /// Result by result.
    Results(Vec<(TypeRef, Option<TypeRef>)>),
    /// As a value of a type that may also be null.
    Wrapped {
        /// Whether the type is the same otherwise.
        moved: bool,
    },
    /// Out of a type that may also be null, which is refused.
    Unwrapped {
        /// Whether the type is the same otherwise.
        moved: bool,
    },
    /// Written as JSON.
    Opened,
    /// Read from JSON.
    Closed,
}

pub(super) struct Planner<'m> {
    pub(super) from: Side<'m>,
    pub(super) to: Side<'m>,
    pub(super) input: PairInput<'m>,
    pub(super) pending: Vec<(TypeRef, TypeRef)>,
    pub(super) planned: BTreeMap<(TypeRef, TypeRef), PlanKind>,
    pub(super) notes: BTreeSet<Note>,
    pub(super) used: BTreeSet<usize>,
    /// Rules on members, by index, whose types convert without them.
    pub(super) covered: Vec<(usize, (TypeRef, TypeRef))>,
    pub(super) problems: Vec<Problem>,
}

impl<'m> Planner<'m> {
    /// The rule at a place in this direction.
    pub(super) fn rule(&mut self, place: &Place) -> Option<(usize, &'m Action)> {
        let upward = self.input.upward;
        self.find(place, |rule| rule.action(upward))
    }

    /// The rule by which a member that the other revision lacks has this value where nothing is said.
    pub(super) fn implied(&mut self, place: &Place) -> Option<(usize, &'m Value)> {
        self.find(place, |rule| rule.implied.as_ref())
    }

    /// The rule that supplies a member that the other revision lacks.
    pub(super) fn supplied(&mut self, place: &Place) -> Option<(usize, &'m String)> {
        self.find(place, |rule| rule.supplied.as_ref())
    }

    /// What a rule for a place says, one that names its type before one for any type.
    fn find<T>(&mut self, place: &Place, what: impl Fn(&'m Rule) -> Option<T>) -> Option<(usize, T)> {
        let found = self.input.rules.find(place, what)?;
        self.used.insert(found.0);
        Some(found)
    }

    /// Whether every required member of an object can be supplied.
    pub(super) fn is_supplied(&self, side: Side<'_>, ty: &TypeRef, depth: usize) -> bool {
        let object = side.model.struct_of(ty).filter(|_| depth < MAX_DEPTH);
        let Some((object, name)) = object.zip(side.model.resolve(ty).named()) else {
            return false;
        };
        let mut required = object.members.iter().filter(|member| member.required).peekable();
        required.peek().is_some()
            && required.all(|member| {
                let place = Place::member(name, &member.name);
                let found = self.input.rules.find(&place, |rule| rule.supplied.as_ref());
                found.is_some() || self.is_supplied(side, &member.ty, depth + 1)
            })
    }

    pub(super) fn rule_name(&self, index: usize) -> String {
        format!("{} {}", self.input.rules_of, self.input.rules.rules[index].at)
    }

    pub(super) fn wrong_rule(&mut self, index: usize, what: impl Into<String>) {
        let help = "remove the rule, or see `cargo xtask adapters` for what the plan says there";
        self.wrong_rule_with(index, what, help);
    }

    pub(super) fn wrong_rule_with(&mut self, index: usize, what: impl Into<String>, help: &str) {
        let rule = &self.input.rules.rules[index];
        let problem = self.input.rules.problem(rule, format!("{}: {}", rule.at, what.into()));
        self.problem(problem.help(help));
    }

    pub(super) fn problem(&mut self, problem: Problem) {
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

    pub(super) fn ruled(&mut self, at: &str, word: &str, index: usize) {
        let why = self.input.rules.rules[index].why.trim();
        self.note(NoteKind::Rule, at, format!("{word}: {why}"));
    }

    pub(super) fn ruled_error(&mut self, at: &str, what: String) {
        self.note(NoteKind::Rule, at, what);
    }

    fn note(&mut self, kind: NoteKind, at: &str, what: String) {
        let at = at.to_owned();
        self.notes.insert(Note { kind, at, what });
    }

    pub(super) fn name(&self, side: Side<'_>, ty: &TypeRef) -> String {
        match side.model.resolve(ty) {
            TypeRef::Named(name) => name.clone(),
            other => other.to_string(),
        }
    }
}
