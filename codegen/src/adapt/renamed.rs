//! Members and types that have another name in the other revision.

use std::collections::BTreeMap;

use super::pairing::Pairing;
use super::planner::Planner;
use super::rules::{ANY_TYPE, Place};
use crate::model::{Model, Struct, TypeRef, is_of_member};

impl<'m> Planner<'m> {
    /// Returns the source's name of a member of the target: the same name, the one that a rule gives, or that of the
    /// member with the same role in a session.
    pub(super) fn source_member(
        &mut self,
        (from_name, from): (&str, &'m Struct),
        (to_name, to): (&str, &Struct),
        member: &'m str,
    ) -> &'m str {
        let (name, rule) = self.pair.source_name_of((from_name, from), (to_name, to), member);
        if let Some(index) = rule {
            self.used.insert(index);
            self.ruled(&Place::member(from_name, name).to_string(), "renamed", index);
        }
        name
    }
}

impl<'m> Pairing<'m> {
    /// Returns the members of the source that have another name in the target, with that name.
    pub(super) fn other_names(
        &self,
        (from_name, from): (&str, &'m Struct),
        (to_name, to): (&str, &'m Struct),
    ) -> BTreeMap<&'m str, &'m str> {
        let there = to.names().map(|name| {
            let (source, _) = self.source_name_of((from_name, from), (to_name, to), name);
            (source, name)
        });
        there.filter(|(source, name)| source != name).collect()
    }

    /// The same as [`source_member`](Self::source_member), and the rule that gives the name.
    fn source_name_of(
        &self,
        (from_name, from): (&str, &'m Struct),
        (to_name, to): (&str, &Struct),
        member: &'m str,
    ) -> (&'m str, Option<usize>) {
        if from.declares(member) {
            return (member, None);
        }
        // A member of the source whose name the target declares too corresponds to that one.
        let is_free = |name: &&str| from.declares(name) && !to.declares(name);
        let renamed = self.renamed(from_name, to_name, member);
        if let Some((index, name)) = renamed.filter(|(_, name)| is_free(name)) {
            return (name, Some(index));
        }
        let role = role_of(self.to.model, member);
        let name = role.and_then(|role| self.from.model.lifecycle.names.get(role));
        (name.map(String::as_str).filter(is_free).unwrap_or(member), None)
    }

    /// Returns the type of the target that is a renamed type of the source, and the rule that renames it.
    pub(super) fn renamed_type(&self, ty: &TypeRef) -> Option<(usize, TypeRef)> {
        let name = ty.named()?;
        let mut rules = self.rules.rules.iter().enumerate();
        let (index, there) = rules.find_map(|(index, rule)| {
            let (earlier, later) = (rule.at.ty.as_str(), rule.renamed.as_deref()?);
            let (from, to) = match self.upward {
                true => (earlier, later),
                false => (later, earlier),
            };
            (rule.at.member.is_none() && from == name).then_some((index, to))
        })?;
        let is_declared = self.to.model.types.contains_key(there);
        is_declared.then(|| (index, TypeRef::Named(there.to_owned())))
    }

    /// Returns the rule that renames a member of the target, and the name in the source.
    fn renamed(&self, from_name: &str, to_name: &str, member: &str) -> Option<(usize, &'m str)> {
        let rules = self.rules;
        if !self.upward {
            let place = Place::member(to_name, member);
            return rules.find(&place, |rule| rule.renamed.as_deref());
        }
        let becomes = |ty: &str| {
            let mut rules = rules.rules.iter().enumerate();
            rules.find_map(|(index, rule)| {
                let is_it = rule.renamed.as_deref() == Some(member) && rule.at.ty == ty;
                Some((index, rule.at.member.as_deref()?)).filter(|_| is_it)
            })
        };
        becomes(from_name).or_else(|| becomes(ANY_TYPE))
    }
}

fn role_of<'m>(model: &'m Model, member: &str) -> Option<&'m str> {
    let mut names = model.lifecycle.names.iter();
    let (role, _) = names.find(|(role, name)| *name == member && is_of_member(role))?;
    Some(role)
}
