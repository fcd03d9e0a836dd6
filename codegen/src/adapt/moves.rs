//! Values that have another place in the other revision: the place of a `renamed` rule, or its new name, is a
//! [path](super::path).

use std::collections::BTreeMap;

use serde::Serialize;

use super::matching::refuses;
use super::pairing::{Objects, Pairing};
use super::path::{Step, only_name, steps, text};
use super::plan::Conversion;
use super::planner::Planner;
use super::relation::Relation;
use super::rules::{ANY_TYPE, Rule};
use super::template_check::{require, type_of};
use crate::model::{Member, ModelledRevision, Struct, TypeRef};
use crate::normalise::Scalar;

/// A value that has another place in the target.
pub(super) struct Move {
    /// The index of the rule that moves it.
    rule: usize,
    pub(super) paths: Paths,
}

/// The path of a value in an object of the source, and that in the target.
#[derive(Serialize)]
pub(super) struct Paths(Vec<Step>, Vec<Step>);

impl Move {
    /// Whether the value is in a member of the source, or is that member.
    pub(super) fn is_in(&self, member: &str) -> bool {
        self.paths.0[0].is_member(member)
    }

    /// Whether the value becomes a member of the target.
    pub(super) fn becomes(&self, member: &str) -> bool {
        matches!(&self.paths.1[..], [only] if only.is_member(member))
    }

    /// Whether a member of the source becomes a value in the one of the same name, or a value in it becomes that one. The
    /// two members don't correspond then.
    fn separates(&self, member: &str) -> bool {
        let Paths(from, to) = &self.paths;
        self.is_in(member) && to[0].is_member(member) && (from.len() == 1 || to.len() == 1)
    }
}

/// Whether members of both sides by this name don't correspond, because the value of one is in the other.
pub(super) fn are_separate(moves: &[Move], member: &str) -> bool {
    moves.iter().any(|it| it.separates(member))
}

impl<'m> Planner<'m> {
    /// Plans the values that have another place in the target.
    pub(super) fn plan_moves(&mut self, objects: Objects<'m>, planned: &mut Conversion) -> Vec<Move> {
        let moves = self.pair.moves(objects);
        for Move { rule, paths } in &moves {
            let Paths(from, to) = paths;
            let place = format!("{}.{}", objects.from_name, text(from));
            self.ruled(&place, "renamed", *rule);
            let types = self.pair.source_type_at(from, objects);
            let is_in_source = self.pair.is_in_source(objects, &to[0]);
            let target = || self.pair.target_member_at(to, objects.to, is_in_source);
            let types = types.and_then(|source| Ok((source, &target()?.ty)));
            // The value would also be converted on the way back if it wasn't before.
            let models = [(&self.pair.from, objects.from_name), (&self.pair.to, objects.to_name)];
            let is_ambiguous = from[0] == to[0] && models.iter().any(|(side, name)| side.model.is_ambiguous(name));
            let types = types.and_then(|types| {
                let what = "the object can be read as another variant of a union";
                require(!is_ambiguous, what).map(|()| types)
            });
            let checked = types.and_then(|(source, target)| match self.relate_at(&place, &source, target) {
                Relation::Impossible => Err("there it has another type".to_owned()),
                Relation::Same | Relation::Converts => Ok(()),
            });
            self.check_arguments(*rule, checked);
            // The target's schema may refuse a value that is set there.
            planned.narrower |= self.pair.to.asserts_at(objects.to_name, to);
            planned.lossy = true;
        }
        moves
    }
}

impl<'m> Pairing<'m> {
    /// Returns the values of an object that have another place in the target.
    pub(super) fn moves(&self, objects: Objects<'m>) -> Vec<Move> {
        let mut moves: Vec<Move> = Vec::new();
        let earlier_name = if self.upward {
            objects.from_name
        } else {
            objects.to_name
        };
        for ty in [earlier_name, ANY_TYPE] {
            for (rule, of_rule) in self.rules.rules.iter().enumerate() {
                let member = rule_member(of_rule, ty);
                let paths = member.and_then(|member| self.paths(objects, member, of_rule.renamed.as_deref()?));
                let is_new = |paths: &Paths| !moves.iter().any(|other| other.paths.0 == paths.0);
                let is_possible = |paths: &Paths| ty != ANY_TYPE || self.is_general(objects, paths);
                if let Some(paths) = paths.filter(|paths| is_new(paths) && is_possible(paths)) {
                    moves.push(Move { rule, paths });
                }
            }
        }
        moves
    }

    /// Returns the paths of a rule for a member, or a value in one, of an object of the earlier revision. `None` if it
    /// isn't there, and for a member that only has another name.
    fn paths(&self, objects: Objects<'m>, member: &str, renamed: &str) -> Option<Paths> {
        let (earlier, later) = match self.upward {
            true => (objects.from, objects.to),
            false => (objects.to, objects.from),
        };
        let name = |name: &str| vec![Step::Member(name.to_owned())];
        let old = match earlier.declares(member) {
            true => name(member),
            false => steps(member)?,
        };
        let new = only_name(renamed).map_or_else(|| steps(renamed), |new| Some(name(new)))?;
        // A member that both revisions declare corresponds to itself, unless its value is in that one, or around it.
        let is_free = |path: &[Step], object: &Struct| path.len() > 1 || !declares(object, path) || old[0] == new[0];
        let is_move = old.len() > 1 || new.len() > 1;
        let is_possible = declares(earlier, &old) && is_free(&old, later) && is_free(&new, earlier);
        (is_move && is_possible).then_some(match self.upward {
            true => Paths(old, new),
            false => Paths(new, old),
        })
    }

    /// Whether a rule for any type is about an object: it moves a value that the object has out of a member, or to a
    /// member of another name.
    fn is_general(&self, objects: Objects<'m>, Paths(from, to): &Paths) -> bool {
        from[0] != to[0] && self.from.member_at(objects.from, from).is_ok()
    }

    /// Whether a rule moves something that every value of the source has to a member of the target, or into it.
    pub(super) fn is_always_moved(&self, objects: Objects<'m>, member: &str) -> bool {
        let is_always_there = |from: &[Step]| match from {
            [Step::Member(name)] => objects.from.required().any(|required| required == name),
            _ => {
                // A list may lack the element.
                let has_elements = from.iter().any(|step| matches!(step, Step::Element(_)));
                let found = self.from.member_at(objects.from, from).ok().filter(|_| !has_elements);
                found.is_some_and(|(around, member)| {
                    member.required && around.iter().all(|(_, member, _)| member.required)
                })
            }
        };
        let moves = self.moves(objects);
        let mut into = moves
            .iter()
            .map(|it| &it.paths)
            .filter(|paths| paths.1[0].is_member(member));
        into.any(|Paths(from, _)| is_always_there(from))
    }

    /// Returns the type of the value at a path in the source that a rule moves.
    fn source_type_at(&self, path: &[Step], objects: Objects<'m>) -> Result<TypeRef, String> {
        let (from, place) = (objects.from, text(path));
        if let [Step::Member(name)] = path
            && let Some(constant) = from.constant(name)
        {
            return Ok(type_of(&constant.value));
        }
        let found = self.from.member_at(from, path).ok();
        let found = found.filter(|(_, member)| path.len() == 1 || !member.recursive);
        let (_, member) = found.ok_or_else(|| format!("the source has no member `{place}`"))?;
        if let [Step::Member(outer), rest @ ..] = path
            && !rest.is_empty()
            && let Some(outer) = from.member(outer)
            && let Some(there) = self.target_of(objects, &outer.name)
        {
            self.can_leave(rest, [outer, there])?;
        }
        Ok(member.ty.clone())
    }

    /// Checks that a value can move out of an object that the target has too.
    fn can_leave(&self, path: &[Step], [outer, there]: [&Member; 2]) -> Result<(), String> {
        let around = &there.name;
        let [Step::Member(name)] = path else {
            return Err(format!(
                "only a member of `{around}` itself can have another place, because the target has `{around}` too"
            ));
        };
        let object = self.to.model.struct_of(&there.ty);
        let is_open = *self.to.model.resolve(&there.ty) == TypeRef::RawObject;
        require(
            object.is_some() || is_open,
            format!("`{around}` of the target isn't an object"),
        )?;
        require(
            !object.is_some_and(|object| object.declares(name)),
            format!("the target has `{around}.{name}` too"),
        )?;
        let Some(inner) = self.objects(&outer.ty, &there.ty) else {
            return Ok(());
        };
        let is_moved =
            self.other_names(inner).contains_key(&**name) || self.moves(inner).iter().any(|it| it.is_in(name));
        require(!is_moved, format!("a rule for {} moves it too", inner.from_name))
    }

    /// Whether a member of the target, the first step of a path, comes from one of the source.
    fn is_in_source(&self, objects: Objects<'m>, step: &Step) -> bool {
        let mut names = objects.to.names().filter(|name| step.is_member(name));
        names.any(|name| {
            let source = self.source_name_of(objects, name).0;
            objects.from.declares(source) && !are_separate(&self.moves(objects), source)
        })
    }

    /// Returns the member of the target that one of the source becomes.
    fn target_of(&self, objects: Objects<'m>, member: &str) -> Option<&'m Member> {
        let mut targets = objects.to.members.iter();
        let target = targets.find(|target| self.source_name_of(objects, &target.name).0 == member)?;
        (!are_separate(&self.moves(objects), member)).then_some(target)
    }
}

/// Returns the member, or the path, in the place of a rule, if that is in a type.
fn rule_member<'r>(rule: &'r Rule, ty: &str) -> Option<&'r str> {
    rule.at.strip_prefix(ty)?.strip_prefix('.')
}

/// Whether an object declares the member that a path begins with.
fn declares(object: &Struct, path: &[Step]) -> bool {
    matches!(path, [Step::Member(name), ..] if object.declares(name))
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
