//! Checks the arguments of a rule when it is planned, so that no mistake is found only at run time: the members that it
//! names exist, and the values that it sets fit the target.

use std::collections::BTreeMap;

use serde_json::Value;

use super::pairing::Pairing;
use super::path::{Step, text};
use super::planner::Planner;
use super::relation::Relation;
use super::rules::{Conditions, HasAndLacks};
use super::template_check::{TemplateCheck, require};
use crate::model::{Member, Struct, TypeKind, TypeRef};

impl Planner<'_> {
    /// Reports a rule whose arguments don't fit.
    pub(super) fn check_arguments(&mut self, index: usize, checked: Result<(), String>) {
        if let Err(what) = checked {
            let help = "remove the rule, or correct it: `cargo xtask model` shows the types of a revision";
            self.wrong_rule_with(index, what, help);
        }
    }
}

impl<'m> Pairing<'m> {
    /// Checks that a value of the source can be copied to `path` in the target. `ty` is `None` for a constant.
    pub(super) fn can_copy(&self, ty: Option<&TypeRef>, path: &[Step], to: &'m Struct) -> Result<(), String> {
        let ty = ty.ok_or("it has the same value everywhere, so there is nothing to copy")?;
        let place = text(path);
        let member = self.target_member_at(path, to, true)?;
        let never_free = format!("the target requires `{place}`, so it is never free");
        require(!member.required, never_free)?;
        let is_same = !member.recursive && self.relation(ty, &member.ty, 0) == Relation::Same;
        require(is_same, format!("`{place}` of the target has another type"))
    }

    /// Checks a value against the assertions of the target's schema of a member that types don't express.
    pub(super) fn accepts(&self, value: &Value, to_name: &str, member: &str) -> Result<(), String> {
        let schema = self.to.member_schema(to_name, member);
        let schema = schema.filter(|schema| !schema.assertions.is_empty());
        let pointers = schema.into_iter().flat_map(|schema| &schema.pointers);
        let mut violations = pointers.flat_map(|at| self.to.validator.validate(at, value));
        let violation = violations.next();
        violation.map_or(Ok(()), |violation| Err(violation.to_string()))
    }

    /// Returns the member of the target at the end of a path, if the objects along it can be created. Required ones
    /// needn't be if the source has them.
    pub(super) fn target_member_at(
        &self,
        path: &[Step],
        to: &'m Struct,
        are_in_source: bool,
    ) -> Result<&'m Member, String> {
        let (around, member) = self.to.member_at(to, path)?;
        for (object, member, path) in around {
            let texts = match path.last() {
                Some(Step::Element(texts)) => Some(texts),
                _ if member.required && are_in_source => continue,
                _ => None,
            };
            self.can_make(object, path, texts)?;
        }
        Ok(member)
    }

    /// Checks that an object at a path, or an element with these texts, can be created with what rules move into it.
    fn can_make(&self, object: &Struct, path: &[Step], texts: Option<&BTreeMap<String, String>>) -> Result<(), String> {
        let is_moved_into = |name: &str| {
            let mut moved = self.rules.rules.iter().filter_map(|rule| rule.moved_to(self.upward));
            moved.any(|moved| matches!(moved.strip_prefix(path), Some([step, ..]) if step.is_member(name)))
        };
        let is_text = |name: &String| texts.is_some_and(|texts| texts.contains_key(name));
        let constants = object.constants.iter().filter(|constant| constant.required);
        let mut required = object.required().chain(constants.map(|constant| &constant.name));
        match required.find(|name| !is_text(name) && !is_moved_into(name)) {
            Some(needed) => Err(format!(
                "`{}` of the target can't be made, because it requires `{needed}`",
                text(path)
            )),
            None => Ok(()),
        }
    }

    /// Checks that a list of the target can be given an element.
    pub(super) fn can_ensure(&self, ty: &TypeRef, (name, item): (&str, &Value), to: &Struct) -> Result<(), String> {
        let list = to.member(name);
        let list = list.ok_or_else(|| format!("the target has no member `{name}`"))?;
        match self.to.model.resolve(&list.ty) {
            TypeRef::List(element) => self.can_hold(Some(ty), item, element),
            _ => Err(format!("`{name}` of the target isn't a list")),
        }
    }

    /// Checks that JSON is a value of the target's type. Placeholders in it are replaced by members of `source`, if
    /// that is given.
    pub(super) fn can_hold(&self, source: Option<&TypeRef>, json: &Value, target: &TypeRef) -> Result<(), String> {
        TemplateCheck { pair: self, source }.check(json, target)
    }

    /// Checks that elements of a list can be distinguished by their values at these paths.
    pub(super) fn can_hide(&self, from: &Member, to: &Member, when: &Conditions) -> Result<(), String> {
        let model = &self.from.model;
        let element = self.element(from, to)?;
        require(!when.is_empty(), "`hide` needs a condition for the elements")?;
        when.iter().try_for_each(|(path, value)| {
            let member = |at, name| self.member_of(at, name).map(|member| &member.ty);
            let at = path.split('.').try_fold(element, member)?;
            match (model.resolve(at), model.kind_of(at)) {
                (TypeRef::String, _) => Ok(()),
                (_, Some(TypeKind::Strings(strings))) => require(
                    strings.values.contains(value),
                    format!("`{path}` has no value {value:?}"),
                ),
                _ => Err(format!("`{path}` isn't a string")),
            }
        })
    }

    /// Checks that the elements of a list can be split by a member that may be a list.
    pub(super) fn can_split(&self, from: &Member, to: &Member, name: &str) -> Result<(), String> {
        let split = self.member_of(self.element(from, to)?, name)?;
        let part = self.list_of(&split.ty);
        let part = part.ok_or_else(|| format!("`{name}` is never a list"))?;
        self.can_stand_alone(&part, &split.ty)
    }

    /// Checks that a list can become one value.
    pub(super) fn can_join(
        &self,
        from: &Member,
        to: &Member,
        (when, text, item): (&Conditions, &str, &Value),
    ) -> Result<(), String> {
        let element = self.list_of(&from.ty).ok_or("it is never a list")?;
        let is_list = matches!(self.from.model.resolve(&from.ty), TypeRef::List(_));
        if !(is_list && self.converts(&element, &to.ty, 0)) {
            self.is_convertible(from, to)?;
            self.can_stand_alone(&element, &from.ty)?;
        }
        require(!when.is_empty(), "`join` needs a condition for the elements")?;
        let model = &self.from.model;
        let elements = self.from.candidates(&element);
        let has_text = |ty: &TypeRef| {
            let member = model.struct_of(ty).and_then(|object| object.member(text));
            member.is_some_and(|text| *model.resolve(&text.ty) == TypeRef::String)
        };
        let found = elements.iter().find(|element| has_text(element));
        let found = found.ok_or_else(|| format!("no element of the list has a text `{text}`"))?;
        self.can_hold(Some(found), item, &to.ty)
    }

    /// Checks that members of an object can be left out.
    pub(super) fn can_do_without(
        &self,
        from: &Member,
        to: &Member,
        (members, or_drop): (&[String], Option<&HasAndLacks>),
    ) -> Result<(), String> {
        let is_object = self.from.model.struct_of(&from.ty).is_some();
        require(is_object, "it isn't an object with declared members")?;
        self.is_convertible(from, to)?;
        let declared = "the target declares members of the object, so the others would have to be converted";
        require(self.to.model.is_open(&to.ty), declared)?;
        let may_drop = or_drop.is_none() || !to.required;
        require(may_drop, "the target requires it, so it can't be dropped")?;
        let conditions = or_drop.into_iter();
        let conditions = conditions.flat_map(|condition| [&condition.has, &condition.lacks]);
        members.iter().chain(conditions).try_for_each(|name| {
            let is_optional = !self.member_of(&from.ty, name)?.required;
            require(is_optional, format!("`{name}` is required, so it is always present"))
        })
    }

    /// Checks that each element of a list type is also a value on its own, as in `string | string[]`.
    fn can_stand_alone(&self, element: &TypeRef, value: &TypeRef) -> Result<(), String> {
        let values = self.from.candidates(value);
        let elements = self.from.candidates(element).into_iter();
        let mut others = elements.filter(|element| !values.contains(element));
        let Some(other) = others.next() else { return Ok(()) };
        let name = self.from.name(&other);
        Err(format!(
            "an element of the list may be {name}, which isn't a value without the list"
        ))
    }

    /// Returns the type of the elements, if values of a type may be a list.
    fn list_of(&self, ty: &TypeRef) -> Option<TypeRef> {
        let mut values = self.from.candidates(ty).into_iter();
        values.find_map(|value| match value {
            TypeRef::List(element) => Some(*element),
            _ => None,
        })
    }

    /// Checks that entries of a map can be left out unless another member of the object lists their keys.
    pub(super) fn can_omit(&self, object: &str, from: &Member, to: &Member, unless_in: &str) -> Result<(), String> {
        let model = &self.from.model;
        let (TypeRef::Map(_), TypeRef::Map(_)) = (model.resolve(&from.ty), self.to.model.resolve(&to.ty)) else {
            return Err("it isn't a map in both revisions".to_owned());
        };
        self.is_convertible(from, to)?;
        let names = self.member_of(&TypeRef::Named(object.to_owned()), unless_in)?;
        let is_list =
            matches!(model.resolve(&names.ty), TypeRef::List(name) if *model.resolve(name) == TypeRef::String);
        require(is_list, format!("`{unless_in}` isn't a list of strings"))
    }

    /// Returns a declared member of an object of the source.
    fn member_of(&self, ty: &TypeRef, name: &str) -> Result<&'m Member, String> {
        let object = self.from.model.struct_of(ty);
        let member = object.and_then(|object| object.member(name));
        member.ok_or_else(|| format!("{} declares no member `{name}`", self.from.name(ty)))
    }

    /// Returns the source's type of the elements of a member that is a list in both revisions.
    fn element<'t>(&'t self, from: &'t Member, to: &Member) -> Result<&'t TypeRef, String> {
        match (self.from.model.resolve(&from.ty), self.to.model.resolve(&to.ty)) {
            (TypeRef::List(element), TypeRef::List(_)) => self.is_convertible(from, to).map(|()| &**element),
            _ => Err("it isn't a list in both revisions".to_owned()),
        }
    }

    fn is_convertible(&self, from: &Member, to: &Member) -> Result<(), String> {
        let converts = self.converts(&from.ty, &to.ty, 0);
        require(converts, "what it holds has another type in the target")
    }
}
