//! Plans the conversion of each variant of a union.

use serde_json::{Value, json};

use super::matching::Candidate;
use super::pairing::Pairing;
use super::planner::{Losses, Planner};
use super::rows::refusal;
use super::rules::{Action, Rule};
use crate::model::TypeRef;
use crate::normalise::Scalar;

impl Planner<'_> {
    /// Plans the variants of a member's value, if there are rules about them only for this member.
    pub(super) fn plan_scoped(&mut self, place: &str, source: &TypeRef, target: &TypeRef) -> Option<Vec<Value>> {
        let variants = format!("{place}[");
        let is_scoped = |rule: &Rule| rule.at.starts_with(&variants) && rule.action(self.pair.upward).is_some();
        self.pair.rules.rules.iter().any(is_scoped).then(|| {
            let (source, target) = (self.pair.from.model.resolve(source), self.pair.to.model.resolve(target));
            self.plan_variants(place, source, target).0
        })
    }

    /// Plans the variants of a type. Each becomes the variant of the target at a position, or something else.
    pub(super) fn plan_variants(&mut self, place: &str, source: &TypeRef, target: &TypeRef) -> (Vec<Value>, Losses) {
        let targets = self.pair.to.candidates(target);
        let sources = self.pair.from.candidates(source);
        let union = self.pair.from.name(source);
        let mut losses = Losses::default();
        let rows = sources.iter().map(|candidate| {
            match self.plan_variant(place, &union, (candidate, &sources), (target, &targets)) {
                Ok(index) => {
                    losses.parts.push((candidate.ty.clone(), targets[index].ty.clone()));
                    json!(index)
                }
                Err(row) => {
                    losses.certain = true;
                    row
                }
            }
        });
        (rows.collect(), losses)
    }

    /// Returns the position of the variant that corresponds, or the row for one that has none.
    fn plan_variant(
        &mut self,
        place: &str,
        union: &str,
        (candidate, siblings): (&Candidate, &[Candidate]),
        (target, targets): (&TypeRef, &[Candidate]),
    ) -> Result<usize, Value> {
        let names = self.pair.variant_names(candidate);
        let none = names.first().cloned().unwrap_or_default();
        let at = format!("{place}[{none}]");
        let mut places = names
            .iter()
            .flat_map(|name| [place, union].map(|place| format!("{place}[{name}]")));
        let rule = places.find_map(|place| self.rule(&place));
        let best = self.pair.best(&candidate.ty, siblings, targets);
        if let Some((index, action)) = rule {
            if best.is_some() {
                self.wrong_rule(index, "the target has this variant, and it is converted automatically");
            }
            self.ruled(&self.pair.rules.rules[index].at, &action.word(), index);
            let rule = self.pair.rule_name(index);
            return Err(match action {
                Action::Replace(template) => {
                    let checked = self.pair.can_hold(Some(&candidate.ty), template, target);
                    self.check_arguments(index, checked);
                    json!({"replace": template.to_string(), "rule": rule})
                }
                Action::Refuse(refuse) => json!({"refuse": refusal(refuse, &rule)}),
                other => {
                    self.wrong_action(index, other, "a variant");
                    json!({"none": none})
                }
            });
        }
        match best {
            Some(index) => {
                self.relate_at(&at, &candidate.ty, &targets[index].ty);
                Ok(index)
            }
            None => {
                self.refused(&at, "the variant: the target has none that corresponds");
                Err(json!({"none": none}))
            }
        }
    }
}

impl Pairing<'_> {
    /// Returns the candidate that a type corresponds to best, if it does so better than all others.
    pub(super) fn best(&self, source: &TypeRef, siblings: &[Candidate], targets: &[Candidate]) -> Option<usize> {
        let mut found: Vec<_> = targets
            .iter()
            .enumerate()
            .filter(|(_, target)| self.converts(source, &target.ty, 0))
            .filter_map(|(index, target)| {
                let similarity = self.similarity((source, siblings), (&target.ty, targets))?;
                Some((similarity, index))
            })
            .collect();
        found.sort_unstable();
        match found.as_slice() {
            [] => None,
            [(_, only)] => Some(*only),
            [.., (second, _), (first, index)] => (first > second).then_some(*index),
        }
    }

    /// Returns the names that a rule can use for a variant: its tag, the type that it holds, or its JSON type.
    fn variant_names(&self, candidate: &Candidate) -> Vec<String> {
        let model = &self.from.model;
        let constants = model
            .struct_of(&candidate.ty)
            .map_or(&[][..], |object| &object.constants);
        let tags = constants.iter().filter_map(|constant| match &constant.value {
            Scalar::String(text) if constant.required || constants.len() == 1 => Some(text.clone()),
            _ => None,
        });
        let mut names: Vec<String> = tags.collect();
        match (&candidate.ty, candidate.kind) {
            (TypeRef::Named(name), _) => {
                let same = model.objects().filter(|(_, other)| other.constants == constants);
                let has_own_tag = !names.is_empty() && same.count() == 1;
                names.insert(usize::from(has_own_tag), name.clone());
            }
            (_, Some(kind)) => names.push(kind.name().to_owned()),
            (other, None) => names.push(other.to_string()),
        }
        names
    }
}
