//! Plans the conversion of each variant of a union.

use std::collections::BTreeMap;

use mcp_json_schema::JsonType;
use serde_json::{Value, json};

use super::matching::{Similarity, tags};
use super::pairing::Pairing;
use super::plan::Conversion;
use super::planner::Planner;
use super::rows::refusal;
use super::rules::{Action, Rule};
use crate::model::{Struct, TypeKind, TypeRef};

/// The note of a variant whose values are refused, because the target's union has none that corresponds.
pub(crate) const NO_VARIANT: &str = "the variant: the target has none that corresponds";

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
        let names = sources.iter().enumerate();
        let mut names: Vec<_> = names
            .map(|(index, candidate)| self.pair.variant_names(source, index, candidate))
            .collect();
        own_names_first(&mut names);
        let rows = sources.iter().zip(names).map(|(candidate, names)| {
            let (becomes, other) =
                self.plan_variant([place, &union], &names, (candidate, &sources), (target, &targets));
            let parts = becomes.iter().map(|index| (candidate.clone(), targets[*index].clone()));
            planned.parts.extend(parts);
            planned.lossy |= other.is_some();
            match (&becomes[..], other) {
                ([index], None) => json!(index),
                ([], Some(row)) => row,
                (several, other) => several.iter().map(|index| json!(index)).chain(other).collect(),
            }
        });
        (rows.collect(), planned)
    }

    /// Returns the positions of the variants that correspond, and the row for values that become none of them. Of several
    /// variants, the tag of a value decides, or its members.
    fn plan_variant(
        &mut self,
        places: [&str; 2],
        names: &[String],
        (candidate, siblings): (&TypeRef, &[TypeRef]),
        (target, targets): (&TypeRef, &[TypeRef]),
    ) -> (Vec<usize>, Option<Value>) {
        let none = names.first().cloned().unwrap_or_default();
        let at = format!("{}[{none}]", places[0]);
        let variants = names.iter();
        let mut variants = variants.flat_map(|name| places.map(|place| format!("{place}[{name}]")));
        let rule = variants.find_map(|place| self.rule(&place));
        let best = self.pair.corresponding(candidate, siblings, targets);
        let is_whole = best.len() == 1;
        let other = match rule {
            Some((index, action)) => {
                if is_whole {
                    self.wrong_rule(index, "the target has this variant, and it is converted automatically");
                }
                Some(self.plan_rule_of_variant(&none, (candidate, target), (index, action)))
            }
            None if is_whole => None,
            None => {
                let what = match best[..] {
                    [] => NO_VARIANT,
                    _ => "a value whose tag or members fit no variant of the target",
                };
                self.refused(&at, what);
                Some(json!({"none": none}))
            }
        };
        for index in &best {
            self.relate_at(&at, candidate, &targets[*index]);
        }
        (best, other)
    }

    /// Returns the row of a rule for the values of a variant.
    fn plan_rule_of_variant(
        &mut self,
        none: &str,
        (candidate, target): (&TypeRef, &TypeRef),
        (index, action): (usize, &Action),
    ) -> Value {
        self.ruled(&self.pair.rules.rules[index].at, &action.word(), index);
        let rule = self.pair.rule_name(index);
        match action {
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
        }
    }
}

impl Pairing<'_> {
    /// Returns the candidate that a type corresponds to best, if it does so better than all others.
    pub(super) fn best(&self, source: &TypeRef, siblings: &[TypeRef], targets: &[TypeRef]) -> Option<usize> {
        most_similar(&self.similar(source, siblings, targets))
    }

    /// Returns the candidates with different tags in one member of a type, if it has such a member, or else the best. If
    /// there are several, it returns them if their members distinguish them.
    pub(super) fn corresponding(&self, source: &TypeRef, siblings: &[TypeRef], targets: &[TypeRef]) -> Vec<usize> {
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
        let by_tag = found.find(|tagged| tagged.len() > 1);
        by_tag.unwrap_or_else(|| match most_similar(&similar) {
            Some(best) => vec![best],
            None => self.distinct(&similar, targets),
        })
    }

    /// Returns the most similar candidates, if each requires a member that the others don't declare.
    fn distinct(&self, similar: &[(Similarity, usize)], targets: &[TypeRef]) -> Vec<usize> {
        let best = similar.iter().map(|(similarity, _)| similarity).max();
        let objects = similar.iter().filter(|(similarity, _)| Some(similarity) == best);
        let objects = objects.map(|(_, index)| (*index, self.to.model.struct_of(&targets[*index])));
        let objects = Vec::from_iter(objects);
        let declares = |other: &Option<&Struct>, name: &str| other.is_none_or(|other| other.declares(name));
        let is_distinct = |(index, object): &(usize, Option<&Struct>)| {
            let mut required = object.iter().flat_map(|object| object.required());
            required.any(|name| objects.iter().all(|(at, other)| at == index || !declares(other, name)))
        };
        match objects.iter().all(is_distinct) {
            true => objects.into_iter().map(|(index, _)| index).collect(),
            false => Vec::new(),
        }
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
        let tags = constants
            .iter()
            .filter(|constant| constant.required || constants.len() == 1);
        let tags = tags.filter_map(|constant| constant.value.text());
        let mut names: Vec<String> = tags.map(str::to_owned).collect();
        match (candidate, json_type) {
            (TypeRef::Named(name), _) => {
                let same = model.objects().filter(|(_, other)| other.constants == constants);
                let has_own_tag = !names.is_empty() && same.count() == 1;
                names.insert(usize::from(has_own_tag), name.clone());
                if json_type.is_none() && object.is_some() {
                    names.push(JsonType::Object.name().to_owned());
                }
            }
            (_, Some(json_type)) => names.push(json_type.name().to_owned()),
            (other, None) => names.push(name_in_place(other)),
        }
        names
    }
}

/// Returns the name of a type that isn't a union in the place of a rule: its JSON type, or its own name.
pub(crate) fn name_in_place(ty: &TypeRef) -> String {
    match ty {
        TypeRef::List(_) => "array".to_owned(),
        TypeRef::Map(_) => "object".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the most similar candidate, if no other is equally similar.
fn most_similar(found: &[(Similarity, usize)]) -> Option<usize> {
    let (best, index) = found.iter().max()?;
    let equals = found.iter().filter(|(other, _)| other == best);
    (equals.count() == 1).then_some(*index)
}

/// Moves the names that several variants have, such as a common tag, behind those that only one has.
fn own_names_first(names: &mut [Vec<String>]) {
    let all = names.to_vec();
    let is_shared = |name: &String| all.iter().filter(|others| others.contains(name)).count() > 1;
    for names in names {
        names.sort_by_key(is_shared);
    }
}
