//! Members and types that have another name in the other revision, and members that the later revision has inside another
//! member: `renamed` is a [path](super::path) then.

use std::collections::BTreeMap;

use super::matching::refuses;
use super::pairing::{Objects, Pairing};
use super::path::{Step, only_name, steps, text};
use super::planner::Planner;
use super::relation::Relation;
use super::rules::{ANY_TYPE, Rule};
use crate::model::{Member, ModelledRevision, Struct, TypeRef, is_of_member};
use crate::normalise::Scalar;

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

    /// Returns the path in the later revision of a member of the earlier one, if a rule moves the member.
    pub(super) fn moved_into(&mut self, place: &str, ty: &TypeRef, to: &'m Struct) -> Option<Vec<Step>> {
        let (index, path) = self.pair.rules.find(place, moved_path).filter(|_| self.pair.upward)?;
        let there = self.pair.target_member_at(&path, to).map(|member| &member.ty);
        self.moves(index, place, there.map(|there| (ty, there)));
        Some(path)
    }

    /// Returns the members of the earlier revision that the later one has inside `member`, each with its path.
    pub(super) fn moved_out_of(&mut self, objects: Objects<'m>, member: &str) -> Vec<(Vec<Step>, String)> {
        let (from, mut moved) = (objects.from, Vec::new());
        for target in objects.to.members.iter().filter(|target| !from.declares(&target.name)) {
            let place = format!("{}.{}", objects.to_name, target.name);
            let Some((index, path)) = self.pair.rules.find(&place, moved_path).filter(|_| !self.pair.upward) else {
                continue;
            };
            if !path[0].is_member(member) {
                continue;
            }
            let there = self.pair.from.member_at(from, &path).map(|(_, there)| there);
            let there = there.ok().filter(|there| !there.recursive);
            let there = there.ok_or_else(|| format!("the source has no member `{}`", text(&path)));
            self.moves(index, &place, there.map(|there| (&there.ty, &target.ty)));
            moved.push((path, target.name.clone()));
        }
        moved
    }

    /// Notes that a rule moves a value, and reports the rule if the types can't be converted.
    fn moves(&mut self, index: usize, place: &str, types: Result<(&TypeRef, &TypeRef), String>) {
        self.ruled(place, "renamed", index);
        let checked = types.and_then(|(source, target)| match self.relate_at(place, source, target) {
            Relation::Impossible => Err("there it has another type".to_owned()),
            Relation::Same | Relation::Converts => Ok(()),
        });
        self.check_arguments(index, checked);
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
    fn source_name_of(&self, objects: Objects<'m>, member: &'m str) -> (&'m str, Option<usize>) {
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
        let rules = self.rules;
        if !self.upward {
            let place = format!("{}.{member}", objects.to_name);
            return rules.find(&place, Rule::new_name);
        }
        let becomes = |ty: &str| {
            let mut rules = rules.rules.iter().enumerate();
            rules.find_map(|(index, rule)| {
                let name = rule.at.strip_prefix(ty)?.strip_prefix('.')?;
                (rule.new_name() == Some(member)).then_some((index, name))
            })
        };
        becomes(objects.from_name).or_else(|| becomes(ANY_TYPE))
    }

    /// Whether a rule moves something that every value of the source has to a member of the target, or into it.
    pub(super) fn is_always_moved(&self, objects: Objects<'m>, member: &str) -> bool {
        let Objects { from, to, .. } = objects;
        if self.upward {
            let moves_into = |name: &String| {
                let rule = self.rules.find(&format!("{}.{name}", objects.from_name), moved_path);
                rule.is_some_and(|(_, path)| path[0].is_member(member))
            };
            return from.required().any(|name| !to.declares(name) && moves_into(name));
        }
        let rule = self.rules.find(&format!("{}.{member}", objects.to_name), moved_path);
        rule.is_some_and(|(_, path)| {
            // A list may lack the element.
            let has_elements = path.iter().any(|step| matches!(step, Step::Element(_)));
            let found = self.from.member_at(from, &path).ok().filter(|_| !has_elements);
            found.is_some_and(|(around, member)| member.required && around.iter().all(|(_, member, _)| member.required))
        })
    }
}

/// An object on a path, the member that it is in, and the steps that lead to it.
type Around<'m, 'p> = (&'m Struct, &'m Member, &'p [Step]);

impl ModelledRevision {
    /// Returns the member at the end of a path in an object, and the inner objects on the path. An error is about a path
    /// in the target.
    pub(super) fn member_at<'m, 'p>(
        &'m self,
        mut object: &'m Struct,
        path: &'p [Step],
    ) -> Result<(Vec<Around<'m, 'p>>, &'m Member), String> {
        let (mut rest, mut around) = (path, Vec::new());
        while let [Step::Member(name), after @ ..] = rest {
            let so_far = text(&path[..path.len() - after.len()]);
            let member = object.member(name);
            let member = member.ok_or_else(|| format!("the target has no member `{so_far}`"))?;
            if after.is_empty() {
                return Ok((around, member));
            }
            let inner = self.object_in(member, after);
            (object, rest) = inner.ok_or_else(|| match after {
                [Step::Element(_), ..] => format!("`{so_far}` of the target isn't a list of objects with these texts"),
                _ => format!("`{so_far}` of the target isn't an object with declared members"),
            })?;
            around.push((object, member, &path[..path.len() - rest.len()]));
        }
        Err("it is nowhere in the target".to_owned())
    }

    /// Returns the object in a member that the next steps of a path lead to, and the steps in that object.
    fn object_in<'p>(&self, member: &Member, rest: &'p [Step]) -> Option<(&Struct, &'p [Step])> {
        match rest {
            [Step::Element(texts), rest @ ..] => Some((self.element_with(&member.ty, texts)?, rest)),
            rest => Some((self.model.struct_of(&member.ty)?, rest)),
        }
    }

    /// Returns the type of the elements of a list that have these texts: of several possible ones, the one that requires
    /// most of them.
    fn element_with(&self, list: &TypeRef, texts: &BTreeMap<String, String>) -> Option<&Struct> {
        let TypeRef::List(element) = self.model.resolve(list) else {
            return None;
        };
        let candidates = self.candidates(element);
        let objects = candidates.iter().filter_map(|ty| self.model.struct_of(ty));
        let is_possible = |object: &Struct, (name, text): (&String, &String)| {
            let text = Scalar::String(text.clone());
            match object.constant(name) {
                Some(constant) => constant.value == text,
                None => object.declares(name) && !refuses(&self.model, object, name, &text),
            }
        };
        let possible = objects.filter(|object| texts.iter().all(|text| is_possible(object, text)));
        possible.max_by_key(|object| texts.keys().filter(|name| object.constant(name).is_some()).count())
    }
}

/// Returns the path of the other member that a rule moves a member into.
pub(super) fn moved_path(rule: &Rule) -> Option<Vec<Step>> {
    let path = rule.renamed.as_deref().filter(|path| only_name(path).is_none())?;
    steps(path)
}
