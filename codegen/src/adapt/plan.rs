//! The plan between two adjacent revisions in one direction: found by walking from the messages through the members.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::matching::{Candidate, Typed, candidates, likeness};
use super::members::{StructPlan, Taking, ValuePlan};
use super::report::{Note, NoteKind};
use super::rules::{Action, Place, Rule, Rules};
use super::{AUTOMATIC, Fate, Refusal, VariantPlan};
use crate::model::{JsonKind, Model, TypeKind, TypeRef};
use crate::problem::Problem;

/// The error code of what can't be represented, unless a rule says otherwise: JSON-RPC's "invalid params".
const INVALID_PARAMS: i64 = -32602;

/// Keywords that say more about a value than its Rust type does.
const ASSERTIONS: [&str; 14] = [
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "propertyNames",
];

/// How many references are followed to a schema.
const MAX_REFERENCES: usize = 16;

/// A revision on one side of a conversion.
#[derive(Clone, Copy)]
pub struct Side<'m> {
    /// Its model.
    pub model: &'m Model,
    /// The schema that its judge keeps.
    pub schema: &'m Value,
}

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

/// The conversions from one revision to an adjacent one.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The revision that values come from.
    pub from: String,
    /// The revision that they go to.
    pub to: String,
    /// The pairs of types, and how one becomes the other.
    pub conversions: BTreeMap<(TypeRef, TypeRef), How>,
    /// Which definition of the target each definition of the source becomes, by the names of [`Model::named_types`].
    pub definitions: BTreeMap<String, String>,
    /// What isn't simply moved.
    pub notes: Vec<Note>,
}

/// How a type becomes another.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
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
    /// Written as JSON.
    Opened,
    /// Read from JSON.
    Closed,
}

/// How values of two types relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// The same Rust type.
    Same,
    /// A conversion exists, or will be planned.
    Converts,
    /// There is none.
    Impossible,
}

/// Plans every conversion between two revisions in one direction.
///
/// # Errors
/// Every rule that matches nothing, or shadows what is automatic.
pub fn plan_conversions(input: PairInput<'_>) -> (Plan, Vec<Problem>) {
    let mut planner = Planner {
        from: input.from,
        to: input.to,
        input,
        pending: Vec::new(),
        planned: BTreeMap::new(),
        notes: BTreeSet::new(),
        used: BTreeSet::new(),
        problems: Vec::new(),
    };
    planner.walk();
    planner.report_unused();
    let definitions = planner.definitions();
    let plan = Plan {
        from: input.from.model.revision.clone(),
        to: input.to.model.revision.clone(),
        conversions: planner.planned,
        definitions,
        notes: planner.notes.into_iter().collect(),
    };
    (plan, planner.problems)
}

impl Plan {
    /// The hand-written functions that the plan calls.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        let structs = self.conversions.values().filter_map(|how| match how {
            How::Struct(plan) => Some(plan),
            _ => None,
        });
        structs.flat_map(|plan| &plan.members).filter_map(|member| match &member.value {
            ValuePlan::Taken(_, Taking::Called { function }) => Some(function.as_str()),
            _ => None,
        })
    }
}

pub(super) struct Planner<'m> {
    pub(super) from: Side<'m>,
    pub(super) to: Side<'m>,
    input: PairInput<'m>,
    pending: Vec<(TypeRef, TypeRef)>,
    planned: BTreeMap<(TypeRef, TypeRef), How>,
    notes: BTreeSet<Note>,
    used: BTreeSet<usize>,
    problems: Vec<Problem>,
}

impl<'m> Planner<'m> {
    fn walk(&mut self) {
        let (from, to) = (self.from.model, self.to.model);
        for method in &from.methods {
            let Some(other) = to.methods.iter().find(|other| other.name == method.name && other.kind == method.kind)
            else {
                self.refused(&method.name, "the method: the target has none of that name");
                continue;
            };
            self.relate(&TypeRef::Named(method.ty.clone()), &TypeRef::Named(other.ty.clone()));
        }
        // Unions of messages, and types that nothing refers to, are found by name.
        let others = to.named_types();
        for (name, ty) in from.named_types() {
            if let Some(other) = others.get(name) {
                self.relate(&ty, other);
            }
        }
        while let Some((source, target)) = self.pending.pop() {
            if !self.planned.contains_key(&(source.clone(), target.clone())) {
                // A type may contain itself.
                self.planned.insert((source.clone(), target.clone()), How::Opened);
                let how = self.plan_pair(&source, &target);
                self.planned.insert((source, target), how);
            }
        }
    }

    fn plan_pair(&mut self, source: &TypeRef, target: &TypeRef) -> How {
        if matches!(target, TypeRef::Any | TypeRef::OpenObject) {
            return How::Opened;
        }
        if matches!(source, TypeRef::Any | TypeRef::OpenObject) {
            let at = self.name(self.to, target);
            self.refused(&at, "JSON that the source leaves open and the target's type can't hold");
            return How::Closed;
        }
        let (from, to) = (self.from.model, self.to.model);
        let kind = |model: &'m Model, ty: &TypeRef| match ty {
            TypeRef::Named(name) => model.types.get(name).map(|ty| &ty.kind),
            _ => None,
        };
        match (kind(from, source), kind(to, target)) {
            (Some(TypeKind::Struct(object)), Some(TypeKind::Struct(other))) => {
                let (name, other_name) = (self.name(self.from, source), self.name(self.to, target));
                How::Struct(self.plan_struct(&name, object, &other_name, other))
            }
            (Some(TypeKind::Methods(methods)), Some(TypeKind::Methods(others))) => How::Methods(
                methods
                    .iter()
                    .map(|(method, ty)| {
                        let other = others.iter().find(|(other, _)| other == method);
                        (ty.clone(), other.map(|(_, ty)| ty.clone()))
                    })
                    .collect(),
            ),
            (Some(TypeKind::Results(results)), Some(TypeKind::Results(others))) => {
                let union = self.name(self.from, source);
                How::Results(self.plan_results(&union, results, others))
            }
            (Some(TypeKind::Strings { values, .. }), Some(TypeKind::Strings { values: others, .. })) => {
                let at = self.name(self.from, source);
                let closed = self.to.is_enumeration(target);
                let missing = values.iter().filter(|value| closed && !others.contains(value));
                let refused: Vec<String> = missing.cloned().collect();
                for value in &refused {
                    self.refused(&format!("{at}[{value}]"), "the value: the target doesn't declare it");
                }
                // A value that the source refuses too is passed on: it was never valid, and nothing is to be hidden.
                let closed = closed && !self.from.is_enumeration(source);
                How::Strings { refused, closed }
            }
            (Some(TypeKind::Strings { .. }), None) | (None, Some(TypeKind::Strings { .. })) => How::Strings {
                refused: Vec::new(),
                closed: self.to.is_enumeration(target),
            },
            _ => {
                let place = Place {
                    ty: self.name(self.from, source),
                    member: None,
                    variant: None,
                };
                How::Union(self.plan_variants(&place, source, target))
            }
        }
    }

    /// Each type of result, by the methods that give it.
    fn plan_results(
        &mut self,
        union: &str,
        results: &[(String, Vec<TypeRef>)],
        others: &[(String, Vec<TypeRef>)],
    ) -> Vec<(TypeRef, Option<TypeRef>)> {
        let mut planned: BTreeMap<TypeRef, Option<TypeRef>> = BTreeMap::new();
        for (method, types) in results {
            let targets = others.iter().find(|(other, _)| other == method).map(|(_, types)| types);
            let siblings: Vec<Candidate> =
                types.iter().map(|ty| Candidate::alone(self.from.model.resolve(ty).clone())).collect();
            for ty in types {
                let found = targets.and_then(|targets| {
                    let to = targets.iter().map(|target| self.to.model.resolve(target).clone());
                    let to: Vec<Candidate> = to.map(Candidate::alone).collect();
                    self.best(self.from.model.resolve(ty), &siblings, &to).map(|at| targets[at].clone())
                });
                if let Some(found) = &found {
                    self.relate(ty, found);
                }
                let entry = planned.entry(ty.clone()).or_default();
                if entry.is_none() {
                    *entry = found;
                }
            }
        }
        for (ty, found) in &planned {
            if found.is_none() {
                let at = format!("{union}[{}]", self.name(self.from, ty));
                self.refused(&at, "the result: no method of the target gives it on this side");
            }
        }
        planned.into_iter().collect()
    }

    /// The variants of a member's value, if rules say something about them at this member alone.
    pub(super) fn plan_scoped(&mut self, place: &Place, source: &TypeRef, target: &TypeRef) -> Option<Vec<VariantPlan>> {
        let is_scoped = |rule: &Rule| {
            rule.at.variant.is_some()
                && rule.at.ty == place.ty
                && rule.at.member == place.member
                && self.action(rule).is_some()
        };
        self.input.rules.rules.iter().any(is_scoped).then(|| {
            let (source, target) = (self.from.model.resolve(source).clone(), self.to.model.resolve(target).clone());
            self.plan_variants(place, &source, &target)
        })
    }

    fn plan_variants(&mut self, place: &Place, source: &TypeRef, target: &TypeRef) -> Vec<VariantPlan> {
        let targets = candidates(self.to.model, target);
        let sources = candidates(self.from.model, source);
        let union = self.name(self.from, source);
        let siblings = sources.clone();
        sources
            .into_iter()
            .map(|candidate| {
                let fate = self.plan_variant(place, &union, &candidate, &siblings, &targets);
                VariantPlan {
                    variant: candidate.name,
                    from: candidate.ty,
                    boxed: candidate.boxed,
                    fate,
                }
            })
            .collect()
    }

    fn plan_variant(
        &mut self,
        place: &Place,
        union: &str,
        candidate: &Candidate,
        siblings: &[Candidate],
        targets: &[Candidate],
    ) -> Fate {
        let names = self.variant_names(candidate);
        let at = format!("{place}[{}]", names.first().map_or("", String::as_str));
        let mut rule = None;
        for name in &names {
            let variant = Some(name.clone());
            let own = Place { variant: variant.clone(), ..place.clone() };
            let general = Place { ty: union.to_owned(), member: None, variant };
            rule = rule.or_else(|| self.rule(&own)).or_else(|| self.rule(&general));
        }
        let best = self.best(&candidate.ty, siblings, targets);
        if let Some((index, action)) = rule {
            if best.is_some() {
                self.wrong_rule(index, "the target has this variant, and it is converted automatically");
            }
            self.ruled(&at, action, index);
            let rule = self.rule_name(index);
            return match action {
                Action::Replace(template) => Fate::Replaced {
                    template: template.to_string(),
                    rule,
                },
                Action::Refuse(refuse) => Fate::Refused(Refusal {
                    code: refuse.code,
                    because: refuse.because.clone(),
                    rule,
                }),
                other => {
                    self.wrong_rule(index, format!("`{}` can't be done with a variant", other.word()));
                    Fate::Refused(Refusal::automatic(String::new()))
                }
            };
        }
        match best {
            Some(index) => {
                let target = &targets[index];
                Fate::Held {
                    variant: target.name.clone(),
                    boxed: target.boxed,
                    moved: self.relate(&candidate.ty, &target.ty) == Relation::Same,
                }
            }
            None => {
                self.refused(&at, "the variant: the target has none that corresponds");
                Fate::Refused(Refusal::automatic(format!("the target revision has no counterpart of {at}")))
            }
        }
    }

    /// The candidate that a type corresponds to best, if one does so better than all others.
    fn best(&self, source: &TypeRef, siblings: &[Candidate], targets: &[Candidate]) -> Option<usize> {
        let from = Typed {
            model: self.from.model,
            ty: source,
        };
        let mut found: Vec<_> = targets
            .iter()
            .enumerate()
            .filter(|(_, target)| self.relation(source, &target.ty, 0) != Relation::Impossible)
            .filter_map(|(index, target)| {
                let to = Typed {
                    model: self.to.model,
                    ty: &target.ty,
                };
                likeness(from, to, siblings, targets).map(|likeness| (likeness, index))
            })
            .collect();
        found.sort_unstable();
        match found.as_slice() {
            [] => None,
            [(_, only)] => Some(*only),
            [.., (second, _), (first, index)] => (first > second).then_some(*index),
        }
    }

    /// What a rule may call a variant: by its tag, by the type that it holds, or by its JSON type.
    fn variant_names(&self, candidate: &Candidate) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(object) = self.from.model.struct_of(&candidate.ty) {
            let strings = object.constants.iter().filter(|constant| constant.required || object.constants.len() == 1);
            names.extend(strings.filter_map(|constant| match &constant.value {
                crate::normalise::Scalar::String(text) => Some(text.clone()),
                _ => None,
            }));
        }
        match (&candidate.ty, candidate.kind) {
            (TypeRef::Named(name), _) => names.insert(usize::from(self.is_tagged(name)), name.clone()),
            (_, Some(kind)) => names.push(kind_name(kind).to_owned()),
            (other, None) => names.push(format!("{other:?}").to_lowercase()),
        }
        names
    }

    /// Whether no other type of the source has the same constants.
    fn is_tagged(&self, name: &str) -> bool {
        let constants = |name: &str| match self.from.model.types.get(name).map(|ty| &ty.kind) {
            Some(TypeKind::Struct(object)) => Some(&object.constants),
            _ => None,
        };
        let Some(own) = constants(name).filter(|own| !own.is_empty()) else {
            return false;
        };
        let mut others = self.from.model.types.keys().filter(|other| *other != name);
        !others.any(|other| constants(other) == Some(own))
    }

    /// How two types relate; what must be planned is planned.
    pub(super) fn relate(&mut self, source: &TypeRef, target: &TypeRef) -> Relation {
        let relation = self.relation(source, target, 0);
        if relation == Relation::Converts {
            self.need(source, target);
        }
        relation
    }

    fn need(&mut self, source: &TypeRef, target: &TypeRef) {
        let (source, target) = (self.from.model.resolve(source), self.to.model.resolve(target));
        match (source, target) {
            (TypeRef::List(source), TypeRef::List(target))
            | (TypeRef::Map(source), TypeRef::Map(target))
            | (TypeRef::Nullable(source), TypeRef::Nullable(target)) => {
                let (source, target) = (source.clone(), target.clone());
                self.need(&source, &target);
            }
            _ if source.named().is_some() || target.named().is_some() => {
                self.pending.push((source.clone(), target.clone()));
            }
            _ => {}
        }
    }

    fn relation(&self, source: &TypeRef, target: &TypeRef, depth: usize) -> Relation {
        let (source, target) = (self.from.model.resolve(source), self.to.model.resolve(target));
        if source == target && source.named().is_none() {
            return Relation::Same;
        }
        let convertible = |yes: bool| if yes { Relation::Converts } else { Relation::Impossible };
        match (source, target) {
            (TypeRef::List(source), TypeRef::List(target))
            | (TypeRef::Map(source), TypeRef::Map(target))
            | (TypeRef::Nullable(source), TypeRef::Nullable(target)) => self.relation(source, target, depth),
            (TypeRef::Integer, TypeRef::Number) | (TypeRef::Number, TypeRef::Integer) => Relation::Converts,
            (TypeRef::Any, TypeRef::OpenObject) | (TypeRef::OpenObject, TypeRef::Any) => Relation::Converts,
            (TypeRef::Named(_), TypeRef::Any) | (TypeRef::Any, TypeRef::Named(_)) => Relation::Converts,
            (TypeRef::Named(name), TypeRef::OpenObject) => convertible(is_object(self.from.model, name)),
            (TypeRef::OpenObject, TypeRef::Named(name)) => convertible(is_object(self.to.model, name)),
            (TypeRef::Named(name), other) | (other, TypeRef::Named(name))
                if !matches!(other, TypeRef::Named(_)) && self.is_text(name, source, target) =>
            {
                convertible(*other == TypeRef::String)
            }
            (TypeRef::Named(name), TypeRef::Named(other)) => {
                let kinds = (self.from.model.types.get(name), self.to.model.types.get(other));
                let (Some(source_type), Some(target_type)) = kinds else {
                    return Relation::Impossible;
                };
                match (&source_type.kind, &target_type.kind) {
                    (TypeKind::Struct(_), TypeKind::Struct(_))
                    | (TypeKind::Strings { .. }, TypeKind::Strings { .. })
                    | (TypeKind::Methods(_), TypeKind::Methods(_))
                    | (TypeKind::Results(_), TypeKind::Results(_)) => Relation::Converts,
                    (TypeKind::Union(_), _) | (_, TypeKind::Union(_)) => self.unions(source, target, depth),
                    _ => Relation::Impossible,
                }
            }
            (TypeRef::Named(_), _) | (_, TypeRef::Named(_)) => self.unions(source, target, depth),
            _ => Relation::Impossible,
        }
    }

    /// Whether the named of two types is an enumeration of strings.
    fn is_text(&self, name: &str, source: &TypeRef, target: &TypeRef) -> bool {
        let strings = |model: &Model, ty: &TypeRef| {
            *ty == TypeRef::Named(name.to_owned())
                && matches!(model.types.get(name).map(|ty| &ty.kind), Some(TypeKind::Strings { .. }))
        };
        strings(self.from.model, source) || strings(self.to.model, target)
    }

    /// A union relates to whatever one of its variants relates to.
    fn unions(&self, source: &TypeRef, target: &TypeRef, depth: usize) -> Relation {
        if depth > 8 {
            return Relation::Impossible;
        }
        let is_union = |model: &Model, ty: &TypeRef| match ty {
            TypeRef::Named(name) => matches!(model.types.get(name).map(|ty| &ty.kind), Some(TypeKind::Union(_))),
            _ => false,
        };
        if !is_union(self.from.model, source) && !is_union(self.to.model, target) {
            return Relation::Impossible;
        }
        let targets = candidates(self.to.model, target);
        let found = candidates(self.from.model, source).iter().any(|candidate| {
            targets
                .iter()
                .any(|target| self.relation(&candidate.ty, &target.ty, depth + 1) != Relation::Impossible)
        });
        if found { Relation::Converts } else { Relation::Impossible }
    }

    /// The rule at a place in this direction.
    pub(super) fn rule(&mut self, place: &Place) -> Option<(usize, &'m Action)> {
        let rules: &'m Rules = self.input.rules;
        let found = rules.rules.iter().enumerate().find_map(|(index, rule)| {
            let action = self.action(rule)?;
            (rule.at == *place).then_some((index, action))
        })?;
        self.used.insert(found.0);
        Some(found)
    }

    fn action<'r>(&self, rule: &'r Rule) -> Option<&'r Action> {
        if self.input.upward { rule.up.as_ref() } else { rule.down.as_ref() }
    }

    pub(super) fn rule_name(&self, index: usize) -> String {
        format!("{} {}", self.input.rules_of, self.input.rules.rules[index].at)
    }

    pub(super) fn wrong_rule(&mut self, index: usize, what: impl Into<String>) {
        let rule = &self.input.rules.rules[index];
        let problem = self.input.rules.problem(rule, format!("{}: {}", rule.at, what.into()));
        self.problems.push(problem.help("remove the rule, or see `cargo xtask adapters` for what the plan says there"));
    }

    fn report_unused(&mut self) {
        for (index, rule) in self.input.rules.rules.iter().enumerate() {
            if self.action(rule).is_some() && !self.used.contains(&index) {
                let direction = if self.input.upward { "up" } else { "down" };
                let what = format!("the rule matches nothing on the way {direction}");
                self.wrong_rule(index, what);
            }
        }
    }

    pub(super) fn automatic(&mut self, at: &str, what: &str) {
        self.note(NoteKind::Automatic, at, what.to_owned());
    }

    pub(super) fn refused(&mut self, at: &str, what: &str) {
        self.note(NoteKind::Refused, at, what.to_owned());
    }

    pub(super) fn ruled(&mut self, at: &str, action: &Action, index: usize) {
        let why = self.input.rules.rules[index].why.trim();
        self.note(NoteKind::Rule, at, format!("{}: {why}", action.word()));
    }

    fn note(&mut self, kind: NoteKind, at: &str, what: String) {
        let at = at.to_owned();
        self.notes.insert(Note { kind, at, what });
    }

    pub(super) fn name(&self, side: Side<'_>, ty: &TypeRef) -> String {
        match side.model.resolve(ty) {
            TypeRef::Named(name) => name.clone(),
            other => format!("{other:?}"),
        }
    }

    /// Which named type of the target each named type of the source becomes.
    fn definitions(&self) -> BTreeMap<String, String> {
        let (from, to) = (self.from.model, self.to.model);
        let others = to.named_types();
        let mut found = BTreeMap::new();
        for (name, ty) in from.named_types() {
            let source = from.resolve(&ty);
            let becomes = |target: &TypeRef| {
                self.relation(source, target, 0) == Relation::Same || self.is_planned(source, to.resolve(target))
            };
            let same = others.get_key_value(name).filter(|(_, other)| becomes(other));
            let renamed = || {
                let mut others = others
                    .iter()
                    .filter(|(_, other)| matches!(to.resolve(other), TypeRef::Named(_)) && becomes(other));
                match (others.next(), others.next()) {
                    (only, None) => only,
                    _ => None,
                }
            };
            if let Some((other, _)) = same.or_else(renamed) {
                found.insert(name.to_owned(), (*other).to_owned());
            }
        }
        found
    }

    /// Whether there is a conversion, of the types themselves or of what they are made of.
    fn is_planned(&self, source: &TypeRef, target: &TypeRef) -> bool {
        match (source, target) {
            (TypeRef::List(source), TypeRef::List(target))
            | (TypeRef::Map(source), TypeRef::Map(target))
            | (TypeRef::Nullable(source), TypeRef::Nullable(target)) => {
                self.is_planned(self.from.model.resolve(source), self.to.model.resolve(target))
            }
            _ => self.planned.contains_key(&(source.clone(), target.clone())),
        }
    }
}

impl Side<'_> {
    /// Where the schema says what a member of a type must be, through references and `allOf`.
    pub(super) fn member_pointer(&self, ty: &str, member: &str) -> Option<String> {
        let pointer = &self.model.types.get(ty)?.pointer;
        self.property(pointer, member, 0)
    }

    fn property(&self, pointer: &str, member: &str, depth: usize) -> Option<String> {
        if depth > MAX_REFERENCES {
            return None;
        }
        let schema = self.schema.pointer(pointer.strip_prefix('#')?)?;
        if schema.get("properties").and_then(|members| members.get(member)).is_some() {
            let at = crate::load::pointer::join(pointer, "properties");
            return Some(crate::load::pointer::join(&at, member));
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return self.property(target, member, depth + 1);
        }
        let parts = schema.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
        (0..parts).find_map(|index| self.property(&format!("{pointer}/allOf/{index}"), member, depth + 1))
    }

    /// What a schema asserts beyond the type, through references.
    pub(super) fn assertions(&self, pointer: &str) -> BTreeMap<&'static str, &Value> {
        let Some(schema) = self.follow(pointer) else {
            return BTreeMap::new();
        };
        ASSERTIONS.iter().filter_map(|keyword| Some((*keyword, schema.get(*keyword)?))).collect()
    }

    pub(super) fn is_closed(&self, pointer: &str) -> bool {
        let schema = self.follow(pointer);
        schema.and_then(|schema| schema.get("additionalProperties")) == Some(&Value::Bool(false))
    }

    /// Whether the schema enumerates a type's values, so that no other is valid.
    fn is_enumeration(&self, ty: &TypeRef) -> bool {
        let TypeRef::Named(name) = self.model.resolve(ty) else {
            return false;
        };
        let schema = self.model.types.get(name).and_then(|ty| self.follow(&ty.pointer));
        schema.is_some_and(|schema| schema.get("enum").is_some() || schema.get("const").is_some() || schema.get("anyOf").is_some() || schema.get("oneOf").is_some())
    }

    fn follow(&self, pointer: &str) -> Option<&Value> {
        let mut schema = self.schema.pointer(pointer.strip_prefix('#')?)?;
        for _ in 0..MAX_REFERENCES {
            match schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#')) {
                Some(target) => schema = self.schema.pointer(target)?,
                None => break,
            }
        }
        Some(schema)
    }
}

impl Candidate {
    fn alone(ty: TypeRef) -> Self {
        Self {
            name: None,
            ty,
            boxed: false,
            kind: None,
        }
    }
}

impl Refusal {
    pub(super) fn automatic(because: String) -> Self {
        Self {
            code: INVALID_PARAMS,
            because,
            rule: AUTOMATIC.to_owned(),
        }
    }
}

/// Whether every value of a type is an object.
fn is_object(model: &Model, name: &str) -> bool {
    match model.types.get(name).map(|ty| &ty.kind) {
        Some(TypeKind::Struct(_) | TypeKind::Methods(_)) => true,
        Some(TypeKind::Union(union)) => union.variants.iter().all(|variant| variant.kind == JsonKind::Object),
        _ => false,
    }
}

fn kind_name(kind: JsonKind) -> &'static str {
    match kind {
        JsonKind::Null => "null",
        JsonKind::Boolean => "boolean",
        JsonKind::Number => "number",
        JsonKind::String => "string",
        JsonKind::Array => "array",
        JsonKind::Object => "object",
    }
}
