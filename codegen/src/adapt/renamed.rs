//! Members and types that have another name in the other revision, and members that the later one has within another member: `renamed` is a
//! path then.

use std::collections::BTreeMap;

use super::pairing::Pairing;
use super::planner::Planner;
use super::relation::Relation;
use super::rows::split;
use super::rules::{ANY_TYPE, Place, Rule};
use crate::model::{Member, Model, Struct, TypeRef, is_of_member};

impl<'m> Planner<'m> {
    /// The name in the source of a member of the target: the same, the one that a rule says, or that of the member which does for a
    /// session what this one does.
    pub(super) fn member_there(
        &mut self,
        (from_name, from): (&str, &'m Struct),
        (to_name, to): (&str, &Struct),
        member: &'m str,
    ) -> &'m str {
        let (name, rule) = self.pair.name_there((from_name, from), (to_name, to), member);
        if let Some(index) = rule {
            self.used.insert(index);
            self.ruled(&Place::member(from_name, name).to_string(), "renamed", index);
        }
        name
    }

    /// Where the later revision has a member of the earlier one, if a rule says so.
    pub(super) fn moved_into(&mut self, place: &Place, ty: &TypeRef, to: &'m Struct) -> Option<Vec<String>> {
        let (index, path) = self.pair.rules.find(place, path).filter(|_| self.pair.upward)?;
        let names: Vec<String> = split(path);
        let there = self.pair.room_at(&names, to).map(|member| &member.ty);
        self.moves(index, place, there.map(|there| (ty, there)));
        Some(names)
    }

    /// The members of the earlier revision that a member of the later one has in it, each with its path in there.
    pub(super) fn moved_out_of(
        &mut self,
        (from, member): (&'m Struct, &str),
        (to_name, to): (&str, &'m Struct),
    ) -> Vec<(Vec<String>, String)> {
        let mut moved = Vec::new();
        for target in to.members.iter().filter(|target| !from.declares(&target.name)) {
            let place = Place::member(to_name, &target.name);
            let Some((index, path)) = self.pair.rules.find(&place, path).filter(|_| !self.pair.upward) else {
                continue;
            };
            let names: Vec<String> = split(path);
            if names[0] != member {
                continue;
            }
            let there = self.pair.member_at(from, &names).filter(|there| !there.boxed);
            let there = there.ok_or_else(|| format!("the source has no member `{path}`"));
            self.moves(index, &place, there.map(|there| (&there.ty, &target.ty)));
            moved.push((names[1..].to_vec(), target.name.clone()));
        }
        moved
    }

    /// Notes that a rule moves a value, unless the types can't be converted.
    fn moves(&mut self, index: usize, place: &Place, types: Result<(&TypeRef, &TypeRef), String>) {
        self.used.insert(index);
        self.ruled(&place.to_string(), "renamed", index);
        let checked = types.and_then(
            |(source, target)| match self.relate_at(&place.to_string(), source, target) {
                Relation::Impossible => Err("there it has another type".to_owned()),
                Relation::Same | Relation::Converts => Ok(()),
            },
        );
        self.check_arguments(index, checked);
    }
}

impl<'m> Pairing<'m> {
    /// The member at the end of a path in the source.
    fn member_at(&self, object: &'m Struct, path: &[String]) -> Option<&'m Member> {
        let (first, rest) = path.split_first()?;
        let member = object.member(first)?;
        match rest {
            [] => Some(member),
            rest => self.member_at(self.from.model.struct_of(&member.ty)?, rest),
        }
    }

    /// The names in the target of the members of the source that have another one there.
    pub(super) fn other_names(
        &self,
        (from_name, from): (&str, &'m Struct),
        (to_name, to): (&str, &'m Struct),
    ) -> BTreeMap<&'m str, &'m str> {
        let there = to.names().map(|name| {
            let (source, _) = self.name_there((from_name, from), (to_name, to), name);
            (source, name)
        });
        there.filter(|(source, name)| source != name).collect()
    }

    /// The same as [`member_there`](Self::member_there), and the rule that says so.
    fn name_there(
        &self,
        (from_name, from): (&str, &'m Struct),
        (to_name, to): (&str, &Struct),
        member: &'m str,
    ) -> (&'m str, Option<usize>) {
        if from.declares(member) {
            return (member, None);
        }
        // What the target has by the same name is no other member.
        let is_free = |name: &&str| from.declares(name) && !to.declares(name);
        let renamed = self.renamed(from_name, to_name, member);
        if let Some((index, name)) = renamed.filter(|(_, name)| is_free(name)) {
            return (name, Some(index));
        }
        let role = role_of(self.to.model, member);
        let name = role.and_then(|role| self.from.model.lifecycle.names.get(role));
        (name.map(String::as_str).filter(is_free).unwrap_or(member), None)
    }

    /// The type of the target that a rule says a type of the source is, by another name.
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

    /// The rule that gives a member of the target another name, and the name in the source.
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

/// The other name of a member, if it is a path.
fn path(rule: &Rule) -> Option<&str> {
    rule.renamed.as_deref().filter(|path| path.contains('.'))
}
