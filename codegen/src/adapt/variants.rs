//! What becomes of each variant of a union.

use std::collections::BTreeMap;

use super::matching::{Candidate, Typed, candidates, similarity};
use super::planner::Planner;
use super::relation::Relation;
use super::rules::{Action, Place, Rule};
use super::{Refusal, VariantConversion, VariantPlan};
use crate::model::{TypeKind, TypeRef};
use crate::normalise::Scalar;

impl Planner<'_> {
    /// The variants of a member's value, if rules say something about them at this member alone.
    pub(super) fn plan_scoped(
        &mut self,
        place: &Place,
        source: &TypeRef,
        target: &TypeRef,
    ) -> Option<Vec<VariantPlan>> {
        let is_scoped = |rule: &Rule| {
            rule.at.variant.is_some()
                && rule.at.ty == place.ty
                && rule.at.member == place.member
                && rule.action(self.input.upward).is_some()
        };
        self.input.rules.rules.iter().any(is_scoped).then(|| {
            let (source, target) = (
                self.from.model.resolve(source).clone(),
                self.to.model.resolve(target).clone(),
            );
            self.plan_variants(place, &source, &target)
        })
    }

    pub(super) fn plan_variants(&mut self, place: &Place, source: &TypeRef, target: &TypeRef) -> Vec<VariantPlan> {
        let targets = candidates(self.to.model, target);
        let sources = candidates(self.from.model, source);
        let union = self.name(self.from, source);
        let siblings = sources.clone();
        sources
            .into_iter()
            .map(|candidate| {
                let how = self.plan_variant(place, &union, &candidate, &siblings, (target, &targets));
                VariantPlan {
                    variant: candidate.name,
                    from: candidate.ty,
                    boxed: candidate.boxed,
                    how,
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
        (target, targets): (&TypeRef, &[Candidate]),
    ) -> VariantConversion {
        let names = self.variant_names(candidate);
        let name = names.first().map_or("", String::as_str);
        let at = format!("{place}[{name}]");
        let mut rule = None;
        for name in &names {
            let variant = Some(name.clone());
            let own = Place {
                variant: variant.clone(),
                ..place.clone()
            };
            let general = Place {
                ty: union.to_owned(),
                member: None,
                variant,
            };
            rule = rule.or_else(|| self.rule(&own)).or_else(|| self.rule(&general));
        }
        let best = self.best(&candidate.ty, siblings, targets);
        if let Some((index, action)) = rule {
            if best.is_some() {
                self.wrong_rule(index, "the target has this variant, and it is converted automatically");
            }
            self.ruled(&self.input.rules.rules[index].at.to_string(), action.word(), index);
            let rule = self.rule_name(index);
            return match action {
                Action::Replace(template) => {
                    let checked = self.can_hold(Some(&candidate.ty), template, target);
                    self.check_arguments(index, checked);
                    VariantConversion::Replaced {
                        template: template.to_string(),
                        rule,
                    }
                }
                Action::Refuse(refuse) => VariantConversion::Refused(Refusal {
                    code: refuse.code,
                    because: refuse.because.clone(),
                    rule,
                }),
                other => {
                    self.wrong_rule(index, format!("`{}` can't be done with a variant", other.word()));
                    VariantConversion::NoCounterpart { name: name.to_owned() }
                }
            };
        }
        match best {
            Some(index) => {
                let target = &targets[index];
                VariantConversion::Converted {
                    variant: target.name.clone(),
                    boxed: target.boxed,
                    moved: self.relate_at(&at, &candidate.ty, &target.ty) == Relation::Same,
                }
            }
            None => {
                self.refused(&at, "the variant: the target has none that corresponds");
                VariantConversion::NoCounterpart { name: name.to_owned() }
            }
        }
    }

    /// The candidate that a type corresponds to best, if one does so better than all others.
    pub(super) fn best(&self, source: &TypeRef, siblings: &[Candidate], targets: &[Candidate]) -> Option<usize> {
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
                let names = self.names_of(from, to);
                let named = self.renamed_type(source).is_some_and(|(_, there)| there == target.ty);
                similarity(from, to, (siblings, targets), (&names, named)).map(|similarity| (similarity, index))
            })
            .collect();
        found.sort_unstable();
        match found.as_slice() {
            [] => None,
            [(_, only)] => Some(*only),
            [.., (second, _), (first, index)] => (first > second).then_some(*index),
        }
    }

    /// The names in one type of the members of another that have other names there.
    fn names_of(&self, from: Typed<'_>, to: Typed<'_>) -> BTreeMap<String, String> {
        let structs = self.from.model.struct_of(from.ty).zip(self.to.model.struct_of(to.ty));
        let names = from.ty.named().zip(to.ty.named());
        let (Some((source, target)), Some((from, to))) = (structs, names) else {
            return BTreeMap::new();
        };
        let names = self.other_names((from, source), (to, target)).into_iter();
        names
            .map(|(source, target)| (source.to_owned(), target.to_owned()))
            .collect()
    }

    /// What a rule may call a variant: by its tag, by the type that it holds, or by its JSON type.
    fn variant_names(&self, candidate: &Candidate) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(object) = self.from.model.struct_of(&candidate.ty) {
            let strings = object
                .constants
                .iter()
                .filter(|constant| constant.required || object.constants.len() == 1);
            names.extend(strings.filter_map(|constant| match &constant.value {
                Scalar::String(text) => Some(text.clone()),
                _ => None,
            }));
        }
        match (&candidate.ty, candidate.kind) {
            (TypeRef::Named(name), _) => names.insert(usize::from(self.is_tagged(name)), name.clone()),
            (_, Some(kind)) => names.push(kind.name().to_owned()),
            (other, None) => names.push(other.to_string()),
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
}
