//! Values that a new revision seems to have moved out of an object, or into one of the same name, and lists and maps
//! whose elements it seems to have moved into objects, or out of them.

use super::same_type::is_same;
use crate::adapt::{Step, text};
use crate::model::{Member, Model, Struct, TypeRef};

/// The path of a value that seems to have moved, the member of the later object that it is in, and its path there.
type Moved<'m> = (String, (&'m str, String));

/// The maximum number of objects that a value is searched in, one within the other. A schema can share objects in so many
/// ways that the number of places grows exponentially with the depth.
const DEEPEST: usize = 4;

/// Returns the values in members of an object that the later one has elsewhere, the members that it has in an object of the
/// same name, and the lists and maps whose elements are in objects in one of them.
pub(super) fn moved_out<'m>(models: [&'m Model; 2], objects: [&'m Struct; 2]) -> Vec<Moved<'m>> {
    let search = Search { models, objects };
    let members = objects[0].members.iter();
    members
        .flat_map(|member| {
            let moved = search.out_of(member).into_iter().chain(search.inside(member));
            moved.chain(search.elements(member))
        })
        .collect()
}

/// An object of a revision and the one of the next revision, where moved values are searched.
struct Search<'m> {
    models: [&'m Model; 2],
    objects: [&'m Struct; 2],
}

impl<'m> Search<'m> {
    /// Returns the values that have left a member.
    fn out_of(&self, outer: &'m Member) -> Vec<Moved<'m>> {
        let [earlier, later] = self.objects;
        let Some(object) = self.models[0].struct_of(&outer.ty) else {
            return Vec::new();
        };
        let there = later.member(&outer.name);
        let rest = there.and_then(|there| self.models[1].struct_of(&there.ty));
        let gone = object
            .members
            .iter()
            .filter(|inner| !rest.is_some_and(|rest| rest.declares(&inner.name)));
        let gone: Vec<&Member> = gone.filter(|inner| !inner.recursive).collect();
        let found = gone.iter().filter_map(|inner| {
            let mut places = self.places_of(outer, inner);
            let is_alike = |other: &&Member| is_same(self.models, [&inner.ty, &other.ty]);
            let is_only = || gone.iter().filter(|other| other.ty == inner.ty).count() == 1;
            if places.is_empty() && rest.is_none() && is_only() {
                let members = later.members.iter().filter(|other| match there {
                    Some(_) => other.name == outer.name,
                    None => !earlier.declares(&other.name),
                });
                places = members.filter(is_alike).map(|other| vec![other]).collect();
            }
            let [place] = &places[..] else { return None };
            Some((path(&[outer, inner]), (place[0].name.as_str(), path(place))))
        });
        found.collect()
    }

    /// Returns the new places of a value with its name and type: members, and members of objects.
    fn places_of(&self, outer: &Member, inner: &Member) -> Vec<Vec<&'m Member>> {
        let [earlier, later] = self.objects;
        let here = |object: Option<&'m Struct>| {
            let found = object?.member(&inner.name)?;
            is_same(self.models, [&inner.ty, &found.ty]).then_some(found)
        };
        let is_new = |object: Option<&Struct>| !object.is_some_and(|object| object.declares(&inner.name));
        let member = here(Some(later)).filter(|_| is_new(Some(earlier)));
        let others = later.members.iter().filter(|other| other.name != outer.name);
        let inside = others.filter_map(|other| {
            let before = earlier
                .member(&other.name)
                .and_then(|before| self.models[0].struct_of(&before.ty));
            let found = here(self.models[1].struct_of(&other.ty)).filter(|_| is_new(before));
            Some(vec![other, found?])
        });
        member.map(|member| vec![member]).into_iter().chain(inside).collect()
    }

    /// Returns the place of a member in the object that has its name now.
    fn inside(&self, member: &'m Member) -> Option<Moved<'m>> {
        let there = self.objects[1].member(&member.name)?;
        if is_same(self.models, [&member.ty, &there.ty]) {
            return None;
        }
        let place = only_place(&places_within(self.models, &member.ty, there))?;
        // Any object can be one that requires nothing.
        let is_open = *self.models[0].resolve(&member.ty) == TypeRef::RawObject;
        if is_open && !place.last()?.required {
            return None;
        }
        Some((member.name.clone(), (&there.name, path(&place))))
    }

    /// Returns the member with the elements of a list or map, if they are in the objects of a list in one of the two: the one
    /// of the same name, or else the only new one.
    fn elements(&self, member: &'m Member) -> Option<Moved<'m>> {
        let [earlier, later] = self.objects;
        let others = later.members.iter().filter(|other| match later.declares(&member.name) {
            true => other.name == member.name,
            false => !earlier.declares(&other.name),
        });
        let found = others.filter_map(|other| {
            let members = [member, other];
            let [Some((before, was_map)), Some((after, is_map))] = [0, 1].map(|side| self.element(side, members[side]))
            else {
                return None;
            };
            if was_map == is_map && is_same(self.models, [&before, &after]) {
                return None;
            }
            let now_enclosed = || {
                let path = self.enclosing(
                    other,
                    (1, &after),
                    |ty| is_same(self.models, [&before, ty]),
                    was_map != is_map,
                );
                path.filter(|_| was_map || !is_map)
            };
            let was_enclosed = || {
                let path = self.enclosing(
                    member,
                    (0, &before),
                    |ty| is_same(self.models, [ty, &after]),
                    was_map != is_map,
                );
                path.filter(|_| is_map || !was_map)
            };
            let (old, new) = match now_enclosed() {
                Some(new) => (path(&[member]), new),
                None => (was_enclosed()?, path(&[other])),
            };
            Some((old, (other.name.as_str(), new)))
        });
        let found: Vec<_> = found.collect();
        <[_; 1]>::try_from(found).ok().map(|[only]| only)
    }

    /// Returns the type of the elements of a list or map, and whether it is a map.
    fn element(&self, side: usize, member: &Member) -> Option<(TypeRef, bool)> {
        match self.models[side].resolve(&member.ty) {
            TypeRef::List(element) => Some(((**element).clone(), false)),
            TypeRef::Map(element) => Some(((**element).clone(), true)),
            TypeRef::RawObject => Some((TypeRef::Any, true)),
            _ => None,
        }
    }

    /// Returns the path of the member with such a type in the objects of a list: the only one, or else the required one. The
    /// objects require no other members, except a text with the key of each if the other revision has a map.
    fn enclosing(
        &self,
        list: &Member,
        (side, around): (usize, &TypeRef),
        is_it: impl Fn(&TypeRef) -> bool,
        has_key: bool,
    ) -> Option<String> {
        let model = self.models[side];
        let object = model.struct_of(around)?;
        let members = object.members.iter().filter(|member| is_it(&member.ty));
        let places: Vec<_> = members.map(|member| vec![member]).collect();
        let inner = *only_place(&places)?.first()?;
        let mut others = object
            .members
            .iter()
            .filter(|other| other.required && other.name != inner.name);
        let key = others.next();
        let is_key = key.is_some_and(|key| *model.resolve(&key.ty) == TypeRef::String);
        let key = match (key, has_key) {
            (Some(key), true) if is_key => format!("{{{}}}", key.name),
            (None, false) => String::new(),
            _ => return None,
        };
        let has_others = others.next().is_some();
        (!has_others).then(|| format!("{}[{key}].{}", path(&[list]), path(&[inner])))
    }
}

/// Returns the places of the values of a type in an object, each with the members that lead there: those in the object,
/// or else those in its objects, and so on.
pub(super) fn places_within<'m>(models: [&'m Model; 2], ty: &TypeRef, outer: &'m Member) -> Vec<Vec<&'m Member>> {
    let mut level = vec![vec![outer]];
    for _ in 0..DEEPEST {
        let inner = level.iter().flat_map(|place| {
            let object = place.last().and_then(|last| models[1].struct_of(&last.ty));
            let members = object.into_iter().flat_map(|object| &object.members);
            let members = members.filter(|member| !member.recursive);
            members.map(|member| [&place[..], &[member]].concat())
        });
        level = inner.collect();
        let is_alike = |place: &&Vec<&Member>| place.last().is_some_and(|last| is_same(models, [ty, &last.ty]));
        let alike: Vec<_> = level.iter().filter(is_alike).cloned().collect();
        if !alike.is_empty() {
            return alike;
        }
    }
    Vec::new()
}

/// Returns the only place, or else the only one whose value its object requires.
pub(super) fn only_place<'m>(places: &[Vec<&'m Member>]) -> Option<Vec<&'m Member>> {
    let is_required = |place: &&Vec<&Member>| place.last().is_some_and(|last| last.required);
    let mut required = places.iter().filter(is_required);
    match places {
        [only] => Some(only.clone()),
        _ => required.next().filter(|_| required.next().is_none()).cloned(),
    }
}

pub(super) fn path(members: &[&Member]) -> String {
    let steps: Vec<_> = members.iter().map(|member| Step::Member(member.name.clone())).collect();
    text(&steps)
}
