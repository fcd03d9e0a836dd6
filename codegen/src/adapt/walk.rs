//! Plans the conversions between adjacent revisions, by walking from the messages through their members.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use serde_json::json;

use super::pairing::Pairing;
use super::plan::{Conversion, Plan, Plans};
use super::planner::Planner;
use super::relation::Relation;
use super::rules::Rules;
use crate::memo::{Memo, Same};
use crate::model::{ModelledRevision, TypeKind, TypeRef};
use crate::problem::{Problem, Problems};

/// Cache of the plans between adjacent revisions, with the warnings about their rules.
pub(crate) type PlannedPairs = Memo<[Same<ModelledRevision>; 2], Result<(Plans, Vec<Problem>), Problems>>;

/// Plans the conversions between each two adjacent revisions, in both directions.
///
/// If one of the two is a draft, a rule that matches nothing or replaces an automatic conversion is only a warning, and
/// is ignored: the draft may still change.
///
/// # Errors
/// Every rule that is malformed, matches nothing, or replaces an automatic conversion.
pub(crate) fn plan_revisions(
    revisions: &[Arc<ModelledRevision>],
    known: &PlannedPairs,
) -> Result<(Vec<Plans>, Vec<Problem>), Problems> {
    let (mut planned, mut warnings, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (before, after) in revisions.iter().zip(revisions.iter().skip(1)) {
        let pair = [before, after].map(Same::of);
        match known.get(pair, |_| plan_adjacent(before, after)) {
            Ok((plans, found)) => {
                planned.push(plans);
                warnings.extend(found);
            }
            Err(found) => problems.extend(found),
        }
    }
    Problems::check(problems)?;
    Ok((planned, warnings))
}

fn plan_adjacent(before: &ModelledRevision, after: &ModelledRevision) -> Result<(Plans, Vec<Problem>), Problems> {
    let mut rules = Rules::of(after.documents.rules.clone())?;
    let (plans, problems) = if before.entry().released && after.entry().released {
        let (plans, problems) = plan_pair(before, after, &rules);
        Problems::check(problems)?;
        (plans, Vec::new())
    } else {
        plan_without_wrong(before, after, &mut rules)
    };
    Ok((Arc::new(plans), problems))
}

/// Removes the rules that have problems, and plans the conversions without them. Returns the problems too.
pub(crate) fn plan_without_wrong(
    before: &ModelledRevision,
    after: &ModelledRevision,
    rules: &mut Rules,
) -> ([Plan; 2], Vec<Problem>) {
    let mut found = Vec::new();
    loop {
        let (plans, problems) = plan_pair(before, after, rules);
        let ignores_more = rules.ignore(&problems);
        found.extend(problems);
        if !ignores_more {
            return (plans, found);
        }
    }
}

/// Plans the conversions between any two revisions, up and down. Returns the problem of every rule that matches nothing,
/// or replaces an automatic conversion.
pub(crate) fn plan_pair(
    before: &ModelledRevision,
    after: &ModelledRevision,
    rules: &Rules,
) -> ([Plan; 2], Vec<Problem>) {
    let mut problems = Vec::new();
    let plans = [true, false].map(|upward| {
        let (from, to) = if upward { (before, after) } else { (after, before) };
        let mut planner = Planner::new(Pairing {
            from,
            to,
            rules,
            upward,
        });
        planner.walk();
        planner.validate_changed();
        planner.plan_errors();
        planner.report_unused();
        planner.report_shadowing();
        planner.plan_names();
        problems.extend(planner.problems);
        planner.plan
    });
    (plans, problems)
}

impl<'m> Planner<'m> {
    fn walk(&mut self) {
        let (from, to) = (&self.pair.from.model, &self.pair.to.model);
        for method in &from.methods {
            let other = self.pair.target_method(&method.name);
            if let Some(other) = other.filter(|other| other.kind == method.kind) {
                self.relate(&TypeRef::Named(method.ty.clone()), &TypeRef::Named(other.ty.clone()));
            } else {
                self.refused(&method.name, "the method: the target has none of that name");
            }
        }
        // Unions of messages, and types that nothing refers to, are found by name.
        let others = to.named_types();
        for (name, ty) in from.named_types() {
            if let Some((index, other)) = self.pair.renamed_type(&ty) {
                self.ruled(name, "renamed", index);
                self.relate_at(name, &ty, &other);
            } else if let Some((_, other)) = namesake(name, &ty, &others) {
                self.relate_at(name, &ty, other);
            }
        }
        // A server's requests for input may be separate requests in one revision, and parts of its results in the
        // other.
        let others = to.input_requests();
        let named = |name: &str| TypeRef::Named(name.to_owned());
        for (requests, results) in from.input_requests() {
            for (other_requests, other_results) in &others {
                self.relate(&named(requests), &named(other_requests));
                // The results of several requests can become the only result of one.
                self.pending.push((named(results), named(other_results)));
            }
        }
        while let Some(pair) = self.pending.pop() {
            if let Entry::Vacant(planned) = self.plan.conversions.entry(pair.clone()) {
                // Inserted first, because a type may contain itself.
                planned.insert(Conversion::default());
                let mut conversion = self.plan_pair(&pair.0, &pair.1);
                conversion.narrower |= self.pair.is_narrower(&pair.0, &pair.1);
                conversion.lossy |= conversion.narrower;
                if conversion.narrower {
                    self.refused_by_schema(&self.pair.from.name(&pair.0));
                }
                self.plan.conversions.insert(pair, conversion);
            }
        }
    }

    fn plan_pair(&mut self, source: &TypeRef, target: &TypeRef) -> Conversion {
        let implied = Conversion::implied;
        let name = self.pair.from.name(source);
        let is_open = |ty: &TypeRef| matches!(ty, TypeRef::Any | TypeRef::RawObject);
        match (source, target) {
            (source, TypeRef::Nullable(inner)) if *source != TypeRef::Any => {
                return implied(self.relate(source, inner) != Relation::Same);
            }
            (TypeRef::Nullable(inner), target) if !is_open(target) => {
                self.refused(&name, "null, except of optional members: the target allows none there");
                self.relate(inner, target);
                return implied(true);
            }
            // If the target leaves open what the source declares, only the meaning is lost.
            (_, target) if is_open(target) => return implied(true),
            (source, target) if is_open(source) => {
                let at = self.pair.to.name(target);
                self.refused(&at, "JSON that the source leaves open and the target's type can't hold");
                return implied(true);
            }
            _ => {}
        }
        let (from, to) = (&self.pair.from.model, &self.pair.to.model);
        if let Some(objects) = self.pair.objects(source, target) {
            return self.plan_struct(objects);
        }
        if let Some([methods, others]) = self.pair.messages(source, target) {
            return Conversion::of(methods.iter().map(|(method, ty)| {
                let other = self.pair.of_method(method, &others);
                (TypeRef::Named(ty.clone()), other.cloned().map(TypeRef::Named))
            }));
        }
        match (from.kind_of(source), to.kind_of(target)) {
            (Some(TypeKind::Results(results)), Some(TypeKind::Results(others))) => {
                let planned = self.plan_results(&name, results, others);
                let renamed = planned.iter().filter(|(from, to)| to.as_ref() != Some(*from));
                let row = renamed.map(|(from, to)| (from.to_string(), json!(to)));
                let row = Some(("results", row.collect()));
                let conversion = Conversion::of(planned.into_iter());
                Conversion { row, ..conversion }
            }
            (Some(TypeKind::Strings(strings)), Some(TypeKind::Strings(others))) => {
                self.plan_strings((source, &strings.values), (target, &others.values))
            }
            (Some(TypeKind::Strings(_)), None) | (None, Some(TypeKind::Strings(_))) => {
                implied(self.pair.to.is_enumeration(target))
            }
            _ => {
                let (row, conversion) = self.plan_variants(&name, source, target);
                let is_same = source.named() == target.named() && row.len() == self.pair.to.candidates(target).len();
                let mut variants = row.iter().enumerate();
                let is_implied = is_same && variants.all(|(index, row)| *row == index);
                let row = (!is_implied).then(|| ("unions", json!(row)));
                Conversion { row, ..conversion }
            }
        }
    }

    /// Plans each type of result, by the methods that return it.
    fn plan_results(
        &mut self,
        union: &str,
        results: &[(String, Vec<TypeRef>)],
        others: &[(String, Vec<TypeRef>)],
    ) -> BTreeMap<TypeRef, Option<TypeRef>> {
        let mut planned: BTreeMap<TypeRef, Option<TypeRef>> = BTreeMap::new();
        for (method, types) in results {
            let targets = self.pair.of_method(method, others).map_or(&[][..], Vec::as_slice);
            let siblings = self.pair.from.resolved(types.iter());
            let possible = self.pair.to.resolved(targets.iter());
            // A union of results is one result here if their tags don't distinguish them.
            let united = self
                .pair
                .target_method(method)
                .and_then(|there| there.result_union.as_ref());
            for (ty, source) in types.iter().zip(&siblings) {
                let found = self.pair.best(source, &siblings, &possible).map(|at| &targets[at]);
                let becomes_several = || {
                    let corresponding = self.pair.corresponding(source, &siblings, &possible);
                    self.pair.from.candidates(source).len() > 1 || corresponding.len() > 1
                };
                let found = found.or_else(|| united.filter(|_| becomes_several()));
                if let Some(found) = found {
                    self.relate_at(union, ty, found);
                }
                let entry = planned.entry(ty.clone()).or_default();
                *entry = entry.take().or(found.cloned());
            }
        }
        for (ty, found) in &planned {
            if found.is_none() {
                let at = format!("{union}[{}]", self.pair.from.name(ty));
                self.refused(&at, "the result: no corresponding method of the target returns it");
            }
        }
        planned
    }

    fn report_unused(&mut self) {
        for (index, rule) in self.pair.rules.rules.iter().enumerate() {
            if rule.is_about(self.pair.upward) && !self.used.contains(&index) {
                let direction = if self.pair.upward { "up" } else { "down" };
                let what = format!("the rule matches nothing on the way {direction}");
                match rule.renamed.is_some() && rule.at.ends_with(']') {
                    true => {
                        let help = "only values of enumerations can be renamed so: a variant has the name of its type, or \
                                    of its tag";
                        self.wrong_rule_with(index, what, help);
                    }
                    false => self.wrong_rule(index, what),
                }
            }
        }
    }

    /// Plans the definitions and methods that don't become the one of the same name.
    fn plan_names(&mut self) {
        let (from, to) = (&self.pair.from.model, &self.pair.to.model);
        let others = to.named_types();
        let mut targets: BTreeMap<&TypeRef, Vec<&TypeRef>> = BTreeMap::new();
        for (source, target) in self.plan.conversions.keys() {
            targets.entry(source).or_default().push(target);
        }
        let definitions = from.named_types().into_iter().filter_map(|(name, ty)| {
            let same = others.get_key_value(name).map(|(same, _)| *same);
            let becomes = self.definition_there(name, &ty, &others, &targets);
            (becomes != same).then(|| (name.to_owned(), json!(becomes)))
        });
        self.plan.definitions = definitions.collect();
        for method in &from.methods {
            let there = self.pair.target_method(&method.name);
            if let Some(there) = there.filter(|there| there.name != method.name) {
                self.plan.methods.insert(method.name.clone(), json!(there.name));
            }
        }
    }

    /// Returns the definition of the target that one of the source becomes.
    /// `planned` are the types that each type of the source is planned to become.
    fn definition_there<'n>(
        &self,
        name: &str,
        ty: &TypeRef,
        others: &BTreeMap<&'n str, TypeRef>,
        planned: &BTreeMap<&TypeRef, Vec<&TypeRef>>,
    ) -> Option<&'n str> {
        let source = self.pair.from.model.resolve(ty);
        let becomes = |target: &TypeRef| {
            let (source, target) = self.pair.innermost(source, target);
            let pair = (source.clone(), target.clone());
            self.plan.conversions.contains_key(&pair) || self.pair.relation(source, target, 0) == Relation::Same
        };
        let same = match self.pair.renamed_type(ty) {
            Some((_, there)) => others.iter().find(|(_, other)| **other == there),
            None => namesake(name, ty, others),
        };
        // An alias whose name has another type there has no counterpart, though the type that it names may have one.
        let is_other_alias = same.is_some() && source != ty;
        let same = same.filter(|(_, other)| becomes(other));
        let renamed = || {
            // A name for a plain type, such as any string, is distinguished from others only by that name.
            source.named().filter(|_| !is_other_alias)?;
            let planned = planned.get(source)?;
            let mut targets = others.iter().filter(|(_, other)| {
                let target = self.pair.to.model.resolve(other);
                matches!(target, TypeRef::Named(_)) && planned.contains(&target)
            });
            targets.next().filter(|_| targets.next().is_none())
        };
        same.or_else(renamed).map(|(other, _)| *other)
    }
}

/// Returns the type of the target with the name of one of the source, or else with its Rust name: the schema of only one
/// revision may have a namespace in front of all names.
fn namesake<'o, 'n>(
    name: &str,
    ty: &TypeRef,
    others: &'o BTreeMap<&'n str, TypeRef>,
) -> Option<(&'o &'n str, &'o TypeRef)> {
    let named = others.get_key_value(name);
    named.or_else(|| others.iter().find(|(_, other)| *other == ty))
}
