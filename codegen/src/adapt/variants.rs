//! Plans the conversion of each variant of a union.

use std::collections::BTreeMap;

use mcp_wire::JsonType;
use serde_json::{Value, json};

use super::matching::{Similarity, tags};
use super::pairing::Pairing;
use super::plan::Conversion;
use super::planner::Planner;
use super::rows::refusal;
use super::rules::{Action, Rule};
use crate::model::{TypeKind, TypeRef};
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
    pub(super) fn plan_variants(
        &mut self,
        place: &str,
        source: &TypeRef,
        target: &TypeRef,
    ) -> (Vec<Value>, Conversion) {
        let targets = self.pair.to.candidates(target);
        let sources = self.pair.from.candidates(source);
        let union = self.pair.from.name(source);
        let mut planned = Conversion::default();
        let rows = sources.iter().enumerate().map(|(index, candidate)| {
            let names = self.pair.variant_names(source, index, candidate);
            match self.plan_variant([place, &union], &names, (candidate, &sources), (target, &targets)) {
                Ok(becomes) => {
                    let parts = becomes.iter().map(|index| (candidate.clone(), targets[*index].clone()));
                    planned.parts.extend(parts);
                    match becomes[..] {
                        [index] => json!(index),
                        _ => {
                            planned.lossy = true;
                            json!(becomes)
                        }
                    }
                }
                Err(row) => {
                    planned.lossy = true;
                    row
                }
            }
        });
        (rows.collect(), planned)
    }

    /// Returns the positions of the variants that correspond, or the row for a variant that has none. Of several, the tag of
    /// a value decides.
    fn plan_variant(
        &mut self,
        places: [&str; 2],
        names: &[String],
        (candidate, siblings): (&TypeRef, &[TypeRef]),
        (target, targets): (&TypeRef, &[TypeRef]),
    ) -> Result<Vec<usize>, Value> {
        let none = names.first().cloned().unwrap_or_default();
        let at = format!("{}[{none}]", places[0]);
        let variants = names.iter();
        let mut variants = variants.flat_map(|name| places.map(|place| format!("{place}[{name}]")));
        let rule = variants.find_map(|place| self.rule(&place));
        let best = match self.pair.by_tag(candidate, siblings, targets) {
            several if several.len() > 1 => several,
            _ => Vec::from_iter(self.pair.best(candidate, siblings, targets)),
        };
        if let Some((index, action)) = rule {
            if !best.is_empty() {
                self.wrong_rule(index, "the target has this variant, and it is converted automatically");
            }
            self.ruled(&self.pair.rules.rules[index].at, &action.word(), index);
            let rule = self.pair.rule_name(index);
            return Err(match action {
                Action::Replace(template) => {
                    let checked = self.pair.can_hold(Some(candidate), template, target);
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
        if best.is_empty() {
            self.refused(&at, "the variant: the target has none that corresponds");
            return Err(json!({"none": none}));
        }
        for index in &best {
            self.relate_at(&at, candidate, &targets[*index]);
        }
        if best.len() > 1 {
            self.refused(&at, "a value whose tag no variant of the target has");
        }
        Ok(best)
    }
}

impl Pairing<'_> {
    /// Returns the candidate that a type corresponds to best, if it does so better than all others.
    pub(super) fn best(&self, source: &TypeRef, siblings: &[TypeRef], targets: &[TypeRef]) -> Option<usize> {
        let found = self.similar(source, siblings, targets);
        let (best, index) = found.iter().max()?;
        let equals = found.iter().filter(|(other, _)| other == best);
        (equals.count() == 1).then_some(*index)
    }

    /// Returns the candidates with different tags in one member of a type, if it has such a member.
    fn by_tag(&self, source: &TypeRef, siblings: &[TypeRef], targets: &[TypeRef]) -> Vec<usize> {
        let similar = self.similar(source, siblings, targets);
        let members = self.from.model.struct_of(source).into_iter();
        let mut found = members.flat_map(|object| &object.members).map(|member| {
            let tagged = similar.iter().filter_map(|(_, index)| {
                let object = self.to.model.struct_of(&targets[*index])?;
                tags(object)
                    .find(|(name, _)| *name == member.name)
                    .map(|(_, tag)| (tag, *index))
            });
            Vec::from_iter(BTreeMap::from_iter(tagged).into_values())
        });
        found.find(|tagged| tagged.len() > 1).unwrap_or_default()
    }

    /// Returns the candidates that a type may correspond to, with their similarities.
    fn similar(&self, source: &TypeRef, siblings: &[TypeRef], targets: &[TypeRef]) -> Vec<(Similarity, usize)> {
        let found = targets.iter().enumerate().filter_map(|(index, target)| {
            let converts = self.converts(source, target, 0);
            let similarity = converts.then(|| self.similarity((source, siblings), (target, targets)));
            Some((similarity??, index))
        });
        found.collect()
    }

    /// Returns the names that a rule can use for a variant: its tag, the type that it holds, or its JSON type.
    fn variant_names(&self, union: &TypeRef, index: usize, candidate: &TypeRef) -> Vec<String> {
        let model = &self.from.model;
        let json_type = match model.kind_of(union) {
            Some(TypeKind::Union(union)) => Some(union.variants[index].kind),
            Some(TypeKind::Results(_)) => Some(JsonType::Object),
            _ => None,
        };
        let object = model.struct_of(candidate);
        let constants = object.map_or(&[][..], |object| &object.constants);
        let tags = constants.iter().filter_map(|constant| match &constant.value {
            Scalar::String(text) if constant.required || constants.len() == 1 => Some(text.clone()),
            _ => None,
        });
        let mut names: Vec<String> = tags.collect();
        match (candidate, json_type) {
            (TypeRef::Named(name), _) => {
                let same = model.objects().filter(|(_, other)| other.constants == constants);
                let has_own_tag = !names.is_empty() && same.count() == 1;
                names.insert(usize::from(has_own_tag), name.clone());
            }
            (_, Some(json_type)) => names.push(json_type.name().to_owned()),
            (other, None) => names.push(other.to_string()),
        }
        names
    }
}
