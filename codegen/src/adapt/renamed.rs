//! Members, types and values of enumerations that have another name in the other revision.

use std::collections::BTreeMap;

use super::pairing::{Objects, Pairing};
use super::path::InElements;
use super::planner::Planner;
use super::rules::{ANY_TYPE, Rule};
use crate::model::{TypeRef, is_of_member};

impl<'m> Planner<'m> {
    /// Returns the source's name of a member of the target: the same name, the one that a rule gives, or that of the
    /// member with the same role in a session.
    pub(super) fn source_member(&mut self, objects: Objects<'m>, member: &'m str) -> &'m str {
        let (name, rule) = self.pair.source_name_of(objects, member);
        if let Some(index) = rule {
            self.ruled(&format!("{}.{name}", objects.from_name), "renamed", index);
        }
        name
    }
}

impl<'m> Pairing<'m> {
    /// Returns the members of the source that have another name in the target, with that name.
    pub(super) fn other_names(&self, objects: Objects<'m>) -> BTreeMap<&'m str, &'m str> {
        let there = objects.to.names();
        let there = there.map(|name| (self.source_name_of(objects, name).0, name));
        there.filter(|(source, name)| source != name).collect()
    }

    /// The same as [`source_member`](Self::source_member), and the rule that gives the name.
    pub(super) fn source_name_of(&self, objects: Objects<'m>, member: &'m str) -> (&'m str, Option<usize>) {
        let Objects { from, to, .. } = objects;
        if from.declares(member) {
            return (member, None);
        }
        // A member of the source whose name the target declares too corresponds to that one.
        let is_free = |name: &&str| from.declares(name) && !to.declares(name);
        let renamed = self.renamed(objects, member);
        if let Some((index, name)) = renamed.filter(|(_, name)| is_free(name)) {
            return (name, Some(index));
        }
        let mut roles = self.to.model.lifecycle.names.iter();
        let role = roles.find(|(role, name)| *name == member && is_of_member(role));
        let name = role.and_then(|(role, _)| self.from.model.lifecycle.names.get(role));
        (name.map(String::as_str).filter(is_free).unwrap_or(member), None)
    }

    /// Returns the type of the target that is a renamed type of the source, and the rule that renames it.
    pub(super) fn renamed_type(&self, ty: &TypeRef) -> Option<(usize, TypeRef)> {
        let name = ty.named()?;
        let mut rules = self.rules.rules.iter().enumerate();
        let (index, there) = rules.find_map(|(index, rule)| {
            let (earlier, later) = (rule.at.as_str(), rule.new_name()?);
            let (from, to) = match self.upward {
                true => (earlier, later),
                false => (later, earlier),
            };
            (from == name && !rule.at.contains('.')).then_some((index, to))
        })?;
        let is_declared = self.to.model.types.contains_key(there);
        is_declared.then(|| (index, TypeRef::Named(there.to_owned())))
    }

    /// Returns the rule that renames a value of an enumeration of the source, and the value in the target.
    pub(super) fn renamed_value(
        &self,
        (source, value): (&TypeRef, &str),
        target: &TypeRef,
    ) -> Option<(usize, &'m str)> {
        let rules = self.rules;
        if self.upward {
            return rules.find(&format!("{}[{value}]", self.from.name(source)), Rule::new_name);
        }
        let earlier = self.to.name(target);
        let mut rules = rules.rules.iter().enumerate();
        rules.find_map(|(index, rule)| {
            let old = rule.at.strip_prefix(&*earlier)?.strip_prefix('[')?.strip_suffix(']')?;
            (rule.new_name() == Some(value)).then_some((index, old))
        })
    }

    /// Returns the rule that renames a member of the target, and the name in the source.
    fn renamed(&self, objects: Objects<'m>, member: &str) -> Option<(usize, &'m str)> {
        self.find_names(objects, |[source, target]| (target == member).then_some(source))
    }

    /// Returns the rule about the elements of a list or map that both revisions have, and their path in the objects that one
    /// of the revisions has around them, with whether that is the target.
    pub(super) fn enclosing(&self, objects: Objects<'m>, names: [&str; 2]) -> Option<(usize, (InElements<'m>, bool))> {
        let (index, _) = self.find_names(objects, |found| (found == names).then_some(()))?;
        let (path, is_later) = self.rules.rules[index].enclosing()?;
        Some((index, (path, is_later == self.upward)))
    }

    /// Returns a part of the first rule about a member of an object. A rule has the names in the source and in the target.
    fn find_names<T>(&self, objects: Objects<'m>, find: impl Fn([&'m str; 2]) -> Option<T>) -> Option<(usize, T)> {
        let rules = self.rules;
        let earlier = match self.upward {
            true => objects.from_name,
            false => objects.to_name,
        };
        [earlier, ANY_TYPE].into_iter().find_map(|ty| {
            let mut rules = rules.rules.iter().enumerate();
            rules.find_map(|(index, rule)| {
                let [earlier, later] = rule.names(ty)?;
                let names = match self.upward {
                    true => [earlier, later],
                    false => [later, earlier],
                };
                Some((index, find(names)?))
            })
        })
    }
}
