//! Whether what a rule names is there, and what it gives can be held: nothing of that is to be found out at run time.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fitting::Fitting;
use super::planner::Planner;
use super::relation::Relation;
use super::rules::Ensure;
use crate::model::{Member, Struct, TypeKind, TypeRef};

impl Planner<'_> {
    /// Notes that a rule's arguments fit nothing.
    pub(super) fn check_arguments(&mut self, index: usize, checked: Result<(), String>) {
        if let Err(what) = checked {
            let help = "remove the rule, or correct it: `cargo xtask model` shows the types of a revision";
            self.wrong_rule_with(index, what, help);
        }
    }

    /// Whether a value of the source can be copied to where `path` leads in the target; a constant has no type.
    pub(super) fn can_copy(&self, ty: Option<&TypeRef>, path: &[String], to: &Struct) -> Result<(), String> {
        let ty = ty.ok_or("it has the same value everywhere, so there is nothing to copy")?;
        let mut object = to;
        for (index, name) in path.iter().enumerate() {
            let so_far = path[..=index].join(".");
            let member = member(object, name).ok_or_else(|| format!("the target has no member `{so_far}`"))?;
            if index + 1 == path.len() {
                return if member.required {
                    Err(format!("the target requires `{so_far}`, so it is never free"))
                } else if member.boxed || self.relation(ty, &member.ty, 0) != Relation::Same {
                    Err(format!("`{so_far}` of the target has another type"))
                } else {
                    Ok(())
                };
            }
            object = self
                .to
                .model
                .struct_of(&member.ty)
                .ok_or_else(|| format!("`{so_far}` of the target is no object with declared members"))?;
            if !member.required
                && let Some(needed) = object.members.iter().find(|member| member.required)
            {
                let needed = &needed.name;
                return Err(format!(
                    "`{so_far}` of the target can't be made, because it requires `{needed}`"
                ));
            }
        }
        Ok(())
    }

    /// Whether a list of the target can be given an element.
    pub(super) fn can_ensure(&self, ty: &TypeRef, ensure: &Ensure, to: &Struct) -> Result<(), String> {
        let name = &ensure.list;
        let list = member(to, name).ok_or_else(|| format!("the target has no member `{name}`"))?;
        match self.to.model.resolve(&list.ty) {
            TypeRef::List(element) => self.can_hold(Some(ty), &ensure.item, element),
            _ => Err(format!("`{name}` of the target is no list")),
        }
    }

    /// Whether JSON is a value of the target's type; with a type of the source, placeholders stand for its members.
    pub(super) fn can_hold(&self, source: Option<&TypeRef>, json: &Value, target: &TypeRef) -> Result<(), String> {
        let planner = self;
        Fitting { planner, source }.check(json, target)
    }

    /// Whether elements of a list can be told by what they have at these paths.
    pub(super) fn can_hide(&self, from: &Member, to: &Member, when: &BTreeMap<String, String>) -> Result<(), String> {
        let model = self.from.model;
        let (TypeRef::List(element), TypeRef::List(_)) = (model.resolve(&from.ty), self.to.model.resolve(&to.ty))
        else {
            return Err("it isn't a list in both revisions".to_owned());
        };
        self.is_convertible(from, to)?;
        if when.is_empty() {
            return Err("`hide` says nothing about what is hidden".to_owned());
        }
        for (path, value) in when {
            let mut at: &TypeRef = element;
            for name in path.split('.') {
                let missing = || format!("{} declares no member `{name}`", self.name(self.from, at));
                let object = model.struct_of(at).ok_or_else(missing)?;
                at = &member(object, name).ok_or_else(missing)?.ty;
            }
            let kind = |ty: &TypeRef| Some(&model.types.get(ty.named()?)?.kind);
            match (model.resolve(at), kind(model.resolve(at))) {
                (TypeRef::String, _) => {}
                (TypeRef::Named(_), Some(TypeKind::Strings { values, .. })) if values.contains(value) => {}
                (TypeRef::Named(_), Some(TypeKind::Strings { .. })) => {
                    return Err(format!("`{path}` has no value {value:?}"));
                }
                _ => return Err(format!("`{path}` is no text")),
            }
        }
        Ok(())
    }

    /// Whether entries of a map can be left out unless another member of the object names them.
    pub(super) fn can_omit(&self, from_name: &str, from: &Member, to: &Member, unless_in: &str) -> Result<(), String> {
        let model = self.from.model;
        let (TypeRef::Map(_), TypeRef::Map(_)) = (model.resolve(&from.ty), self.to.model.resolve(&to.ty)) else {
            return Err("it isn't a map in both revisions".to_owned());
        };
        self.is_convertible(from, to)?;
        let object = model.struct_of(&TypeRef::Named(from_name.to_owned()));
        let names = object.and_then(|object| member(object, unless_in));
        let names = names.ok_or_else(|| format!("{from_name} declares no member `{unless_in}`"))?;
        match model.resolve(&names.ty) {
            TypeRef::List(name) if *model.resolve(name) == TypeRef::String => Ok(()),
            _ => Err(format!("`{unless_in}` is no list of strings")),
        }
    }

    fn is_convertible(&self, from: &Member, to: &Member) -> Result<(), String> {
        match self.relation(&from.ty, &to.ty, 0) {
            Relation::Impossible => Err("what it holds has another type in the target".to_owned()),
            _ => Ok(()),
        }
    }
}

fn member<'o>(object: &'o Struct, name: &str) -> Option<&'o Member> {
    object.members.iter().find(|member| member.name == name)
}
