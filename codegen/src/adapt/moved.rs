//! Members that the later revision has inside another member: `renamed` is a path then.

use super::pairing::{Objects, Pairing};
use super::planner::Planner;
use super::relation::Relation;
use super::rows::split;
use super::rules::Rule;
use crate::model::{Member, Struct, TypeRef};

impl<'m> Planner<'m> {
    /// Returns the path in the later revision of a member of the earlier one, if a rule moves the member.
    pub(super) fn moved_into(&mut self, place: &str, ty: &TypeRef, to: &'m Struct) -> Option<Vec<String>> {
        let (index, path) = self.pair.rules.find(place, path).filter(|_| self.pair.upward)?;
        let names = split(path);
        let there = self.pair.target_member_at(&names, to).map(|member| &member.ty);
        self.moves(index, place, there.map(|there| (ty, there)));
        Some(names)
    }

    /// Returns the members of the earlier revision that the later one has inside `member`, each with its path there.
    pub(super) fn moved_out_of(&mut self, objects: Objects<'m>, member: &str) -> Vec<(Vec<String>, String)> {
        let (from, mut moved) = (objects.from, Vec::new());
        for target in objects.to.members.iter().filter(|target| !from.declares(&target.name)) {
            let place = format!("{}.{}", objects.to_name, target.name);
            let Some((index, path)) = self.pair.rules.find(&place, path).filter(|_| !self.pair.upward) else {
                continue;
            };
            let names = split(path);
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

    /// Notes that a rule moves a value, and reports the rule if the types can't be converted.
    fn moves(&mut self, index: usize, place: &str, types: Result<(&TypeRef, &TypeRef), String>) {
        self.used.insert(index);
        self.ruled(place, "renamed", index);
        let checked = types.and_then(|(source, target)| match self.relate_at(place, source, target) {
            Relation::Impossible => Err("there it has another type".to_owned()),
            Relation::Same | Relation::Converts => Ok(()),
        });
        self.check_arguments(index, checked);
    }
}

impl<'m> Pairing<'m> {
    /// The member at the end of a path in the source.
    fn member_at(&self, object: &'m Struct, path: &[String]) -> Option<&'m Member> {
        let (last, around) = path.split_last()?;
        let within = |object: &'m Struct, name: &String| self.from.model.struct_of(&object.member(name)?.ty);
        around.iter().try_fold(object, within)?.member(last)
    }
}

/// Returns the new name that a rule gives a member, if that is a path.
fn path(rule: &Rule) -> Option<&str> {
    rule.renamed.as_deref().filter(|path| path.contains('.'))
}
