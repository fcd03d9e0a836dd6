//! Types, with their members and values.

use serde_json::{Value, json};

use super::Page;
use super::history::{Ancestor, of_member, of_whole};
use crate::diff::way_to;
use crate::markdown::cell;
use crate::model::{Decision, Struct, Type, TypeKind, TypeRef};
use crate::overlay::Deprecation;

impl Page<'_> {
    pub(super) fn ty(&self, name: &str, ty: &Type) -> Value {
        let ancestors = self.history.of_type(name);
        let meaning = self.input.docs.entry(&ty.documented_as, None);
        let (mut members, mut values) = (Vec::new(), Vec::new());
        let says = match &ty.kind {
            TypeKind::Struct(object) => {
                members = self.members(ty, object, &ancestors);
                members.is_empty().then(|| "It declares no members.".to_owned())
            }
            TypeKind::Strings(strings) => {
                values = self.values(ty, &strings.values, &ancestors);
                let order = if strings.ordered { ", in ascending order" } else { "" };
                let others = match strings.open {
                    false => "no others are valid",
                    true => "others are valid too",
                };
                Some(format!("A string{order}; {others}:"))
            }
            TypeKind::Union(union) => {
                let types = union.variants.iter().map(|variant| variant.ty.clone());
                let tag = match &union.objects {
                    Some(Decision::Tag { member, .. }) => format!(", distinguished by `{member}`"),
                    _ => String::new(),
                };
                Some(format!("One of {}{tag}.", self.list(types)))
            }
            TypeKind::Alias(target) => Some(format!("The same as {}.", self.reference(target))),
            TypeKind::Methods(methods) => {
                let types = methods.iter().map(|(_, ty)| TypeRef::Named(ty.clone()));
                Some(format!("One of {}.", self.list(types)))
            }
            TypeKind::Results(methods) => {
                let mut types: Vec<TypeRef> = methods.iter().flat_map(|(_, types)| types).cloned().collect();
                types.sort();
                types.dedup();
                let types = self.list(types.into_iter());
                Some(format!("One of {types}; the method of the request determines which."))
            }
        };
        json!({
            "name": ty.documented_as,
            "meaning": meaning.map_or_else(String::new, |(_, text)| self.linked(text)),
            "origin": self.origin(name, ty, &ancestors),
            "deprecated": self.model.deprecation(&ty.pointer).map(Deprecation::note),
            "is_closed": ty.schema.closed,
            "says": says,
            "members": members,
            "values": values,
        })
    }

    /// Describes which revision introduced a type, its name in Rust, and its place in the specification.
    fn origin(&self, name: &str, ty: &Type, ancestors: &[Ancestor<'_>]) -> String {
        let mut words = vec![of_whole(ancestors)];
        if !ty.official && !ty.pointer.is_empty() {
            words.push(format!(
                "The schema has it without a name, at `{}`",
                way_to(&ty.pointer)
            ));
        }
        if name != ty.documented_as {
            words.push(format!("In Rust `{name}`"));
        }
        words.push(format!("[Specification]({})", self.input.link_at(&ty.pointer)));
        words.join(". ") + "."
    }

    fn members(&self, ty: &Type, object: &Struct, ancestors: &[Ancestor<'_>]) -> Vec<Value> {
        let row = |name: &str, value: String, required: bool, meaning: String| {
            let history = of_member(ancestors, name);
            json!({"name": name, "ty": value, "required": required, "meaning": meaning, "history": history})
        };
        let constants = object.constants.iter().map(|constant| {
            let value = format!("`{}`", json!(constant.value));
            row(&constant.name, value, constant.required, String::new())
        });
        let members = object.members.iter().map(|member| {
            let bounds = ty
                .schema
                .members
                .get(&member.name)
                .map(|schema| &schema.assertions.here);
            let bounds = bounds.into_iter().flatten();
            let bounds = bounds.map(|(keyword, bound)| format!(", {keyword} `{}`", cell(bound)));
            let value = self.reference(&member.ty) + &String::from_iter(bounds);
            row(&member.name, value, member.required, self.meaning(ty, &member.name))
        });
        constants.chain(members).collect()
    }

    fn values(&self, ty: &Type, values: &[String], ancestors: &[Ancestor<'_>]) -> Vec<Value> {
        let rows = values.iter().map(|value| {
            let history = of_member(ancestors, value);
            json!({"value": format!("{value:?}"), "meaning": self.meaning(ty, value), "history": history})
        });
        rows.collect()
    }

    fn list(&self, types: impl Iterator<Item = TypeRef>) -> String {
        types.map(|ty| self.reference(&ty)).collect::<Vec<_>>().join(", ")
    }
}
