//! The plan between two adjacent revisions in one direction: found by walking from the messages through the members.

use std::collections::{BTreeMap, BTreeSet};

use super::errors::ErrorPlan;
use super::matching::Candidate;
use super::planner::{PairInput, PlanKind, Planner};
use super::relation::Relation;
use super::report::Note;
use super::rules::Place;
use crate::model::{Model, TypeKind, TypeRef};
use crate::problem::Problem;

/// The conversions from one revision to an adjacent one.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The revision that values come from.
    pub from: String,
    /// The revision that they go to.
    pub to: String,
    /// The pairs of types, and how one becomes the other.
    pub conversions: BTreeMap<(TypeRef, TypeRef), PlanKind>,
    /// Which definition of the target each definition of the source becomes, by the names of [`Model::named_types`].
    pub definitions: BTreeMap<String, String>,
    /// The name in the target of each method that the target has.
    pub methods: BTreeMap<String, String>,
    /// The codes of errors that change, in the order in which the rules are tried.
    pub errors: Vec<ErrorPlan>,
    /// What isn't simply moved.
    pub notes: Vec<Note>,
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
        covered: Vec::new(),
        problems: Vec::new(),
    };
    planner.walk();
    let errors = planner.plan_errors();
    planner.report_unused();
    planner.report_shadowing();
    let definitions = planner.definitions();
    let methods = input.from.model.methods.iter().map(|method| &method.name);
    let methods = methods.map(|name| (name.clone(), planner.method_there(name).to_owned()));
    let methods = methods.filter(|(_, there)| !there.is_empty()).collect();
    let plan = Plan {
        from: input.from.model.revision.clone(),
        to: input.to.model.revision.clone(),
        conversions: planner.planned,
        definitions,
        methods,
        errors,
        notes: planner.notes.into_iter().collect(),
    };
    (plan, planner.problems)
}

impl<'m> Planner<'m> {
    fn walk(&mut self) {
        let (from, to) = (self.from.model, self.to.model);
        for method in &from.methods {
            let name = self.method_there(&method.name);
            let Some(other) = to
                .methods
                .iter()
                .find(|other| other.name == name && other.kind == method.kind)
            else {
                self.refused(&method.name, "the method: the target has none of that name");
                continue;
            };
            self.relate(&TypeRef::Named(method.ty.clone()), &TypeRef::Named(other.ty.clone()));
        }
        // Unions of messages, and types that nothing refers to, are found by name.
        let others = to.named_types();
        for (name, ty) in from.named_types() {
            if let Some((index, other)) = self.renamed_type(&ty) {
                self.used.insert(index);
                self.ruled(name, "renamed", index);
                self.relate_at(name, &ty, &other);
            } else if let Some(other) = others.get(name) {
                self.relate_at(name, &ty, other);
            }
        }
        // What a server asks may be requests of its own in one revision, and parts of its results in the other.
        for (questions, others) in from
            .questions()
            .iter()
            .flat_map(|own| to.questions().into_iter().map(move |other| (own, other)))
        {
            self.relate(&questions.requests, &others.requests);
            self.relate(&questions.results, &others.results);
        }
        while let Some((source, target)) = self.pending.pop() {
            if !self.planned.contains_key(&(source.clone(), target.clone())) {
                // A type may contain itself.
                self.planned.insert((source.clone(), target.clone()), PlanKind::Opened);
                let how = self.plan_pair(&source, &target);
                self.planned.insert((source, target), how);
            }
        }
    }

    fn plan_pair(&mut self, source: &TypeRef, target: &TypeRef) -> PlanKind {
        let is_open = |ty: &TypeRef| matches!(ty, TypeRef::Any | TypeRef::RawObject);
        match (source, target) {
            (source, TypeRef::Nullable(inner)) if *source != TypeRef::Any => {
                return PlanKind::Wrapped {
                    moved: self.relate(source, inner) == Relation::Same,
                };
            }
            (TypeRef::Nullable(inner), target) if !is_open(target) => {
                let at = self.name(self.from, source);
                self.refused(&at, "null: the target allows none there");
                return PlanKind::Unwrapped {
                    moved: self.relate(inner, target) == Relation::Same,
                };
            }
            _ => {}
        }
        if matches!(target, TypeRef::Any | TypeRef::RawObject) {
            return PlanKind::Opened;
        }
        if matches!(source, TypeRef::Any | TypeRef::RawObject) {
            let at = self.name(self.to, target);
            self.refused(&at, "JSON that the source leaves open and the target's type can't hold");
            return PlanKind::Closed;
        }
        let (from, to) = (self.from.model, self.to.model);
        let kind = |model: &'m Model, ty: &TypeRef| match ty {
            TypeRef::Named(name) => model.types.get(name).map(|ty| &ty.kind),
            _ => None,
        };
        match (kind(from, source), kind(to, target)) {
            (Some(TypeKind::Struct(object)), Some(TypeKind::Struct(other))) => {
                let (name, other_name) = (self.name(self.from, source), self.name(self.to, target));
                PlanKind::Struct(self.plan_struct(&name, object, &other_name, other))
            }
            (Some(TypeKind::Methods(methods)), Some(TypeKind::Methods(others))) => PlanKind::Methods(
                methods
                    .iter()
                    .map(|(method, ty)| {
                        let name = self.method_there(method);
                        let other = others.iter().find(|(other, _)| *other == name);
                        (ty.clone(), other.map(|(_, ty)| ty.clone()))
                    })
                    .collect(),
            ),
            (Some(TypeKind::Results(results)), Some(TypeKind::Results(others))) => {
                let union = self.name(self.from, source);
                PlanKind::Results(self.plan_results(&union, results, others))
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
                if closed {
                    self.refused(&at, "a value that neither side declares: the target allows no other");
                }
                PlanKind::Strings { refused, closed }
            }
            (Some(TypeKind::Strings { .. }), None) | (None, Some(TypeKind::Strings { .. })) => PlanKind::Strings {
                refused: Vec::new(),
                closed: self.to.is_enumeration(target),
            },
            _ => {
                let place = Place {
                    ty: self.name(self.from, source),
                    member: None,
                    variant: None,
                };
                PlanKind::Union(self.plan_variants(&place, source, target))
            }
        }
    }

    /// The name by which the target would have a method of the source: the same, that of the method which does for a session what
    /// this one does, or that of the method whose request or notification has the same definition, perhaps by another name.
    pub(super) fn method_there(&self, name: &str) -> &'m str {
        let (from, to) = (self.from.model, self.to.model);
        let find = |model: &'m Model, name: &str| model.methods.iter().find(|method| method.name == name);
        if let Some(same) = find(to, name) {
            return &same.name;
        }
        let Some(method) = find(from, name) else {
            return "";
        };
        if let Some(named) = method.role.as_ref().and_then(|role| to.lifecycle.names.get(role)) {
            return named;
        }
        let mut others = to.methods.iter().filter(|other| find(from, &other.name).is_none());
        let renamed = self.renamed_type(&TypeRef::Named(method.ty.clone()));
        let is_renamed = |other: &str| renamed.as_ref().is_some_and(|(_, there)| there.named() == Some(other));
        let same = others.find(|other| {
            other.kind == method.kind && (other.definition == method.definition || is_renamed(&other.ty))
        });
        same.map_or("", |same| &same.name)
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
            let name = self.method_there(method);
            let targets = others.iter().find(|(other, _)| *other == name).map(|(_, types)| types);
            let siblings: Vec<Candidate> = types
                .iter()
                .map(|ty| Candidate::alone(self.from.model.resolve(ty).clone()))
                .collect();
            for ty in types {
                let found = targets.and_then(|targets| {
                    let to = targets.iter().map(|target| self.to.model.resolve(target).clone());
                    let to: Vec<Candidate> = to.map(Candidate::alone).collect();
                    self.best(self.from.model.resolve(ty), &siblings, &to)
                        .map(|at| targets[at].clone())
                });
                if let Some(found) = &found {
                    self.relate_at(union, ty, found);
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

    fn report_unused(&mut self) {
        for (index, rule) in self.input.rules.rules.iter().enumerate() {
            if rule.is_about(self.input.upward) && !self.used.contains(&index) {
                let direction = if self.input.upward { "up" } else { "down" };
                let what = format!("the rule matches nothing on the way {direction}");
                self.wrong_rule(index, what);
            }
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
            let same = match self.renamed_type(&ty) {
                Some((_, there)) => others.iter().find(|(_, other)| **other == there),
                None => others.get_key_value(name),
            };
            let same = same.filter(|(_, other)| becomes(other));
            let renamed = || {
                // A name for something plain, such as any text, is told from others by nothing but the name.
                source.named()?;
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
