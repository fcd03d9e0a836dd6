//! Types, with their members and values.

use std::fmt::Write as _;

use super::Page;
use super::history::{Ancestor, of_member, of_whole};
use crate::diff::way_to;
use crate::markdown::{cell, table};
use crate::model::{Decision, Struct, Type, TypeKind, TypeRef, Union};
use crate::normalise::Scalar;

impl Page<'_> {
    pub(super) fn ty(&self, name: &str, ty: &Type) -> String {
        let ancestors = self.history.of_type(name);
        let mut section = format!("\n### `{}`\n\n", ty.documented_as);
        let meaning = self.docs.entry(&ty.documented_as, None);
        let meaning = meaning.map_or_else(String::new, |(_, text)| self.linked(text));
        let _ = writeln!(section, "{meaning}\n\n{}", self.origin(name, ty, &ancestors));
        if let Some(deprecation) = self.model.deprecation(&ty.pointer) {
            let _ = writeln!(section, "\n[Deprecated](#deprecated): {}.", deprecation.note());
        }
        section += &match &ty.kind {
            TypeKind::Struct(object) => self.members(ty, object, &ancestors),
            TypeKind::Strings { values, ordered } => self.values(ty, values, *ordered, &ancestors),
            TypeKind::Union(union) => self.variants(union),
            TypeKind::Alias(target) => format!("\nThe same as {}.\n", self.reference(target)),
            TypeKind::Methods(methods) => {
                let types = methods.iter().map(|(_, ty)| TypeRef::Named(ty.clone()));
                format!("\nOne of {}.\n", self.list(types))
            }
            TypeKind::Results(methods) => {
                let mut types: Vec<TypeRef> = methods.iter().flat_map(|(_, types)| types).cloned().collect();
                types.sort();
                types.dedup();
                format!(
                    "\nOne of {}; the method of the request says which.\n",
                    self.list(types.into_iter())
                )
            }
        };
        section
    }

    /// Since when it is there, what it is called in Rust and where the specification has it.
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
        let definition = ty.pointer.split('/').nth(2).unwrap_or_default();
        words.push(format!("[Specification]({})", self.link(definition)));
        words.join(". ") + "."
    }

    fn members(&self, ty: &Type, object: &Struct, ancestors: &[Ancestor<'_>]) -> String {
        let mut section = String::new();
        if ty.schema.closed {
            section += "\nNo other members are valid.\n";
        }
        if object.constants.is_empty() && object.members.is_empty() {
            return section + "\nIt declares no members.\n";
        }
        let row = |name: &str, value: String, required: bool, meaning: String| {
            let required = if required { "yes" } else { "no" };
            let history = cell(&of_member(ancestors, name));
            [format!("`{name}`"), value, required.to_owned(), meaning, history]
        };
        let constants = object.constants.iter().map(|constant| {
            let value = match &constant.value {
                Scalar::String(text) => format!("`{text:?}`"),
                Scalar::Integer(number) => format!("`{number}`"),
                Scalar::Boolean(flag) => format!("`{flag}`"),
            };
            row(&constant.name, value, constant.required, String::new())
        });
        let members = object.members.iter().map(|member| {
            let mut value = self.reference(&member.ty);
            let bounds = ty.schema.members.get(&member.name).map(|schema| &schema.assertions);
            for (keyword, bound) in bounds.into_iter().flat_map(|bounds| &bounds.here) {
                let _ = write!(value, ", {keyword} `{}`", cell(bound));
            }
            row(&member.name, value, member.required, self.meaning(ty, &member.name))
        });
        let columns = ["Member", "Type", "Required", "Meaning", "History"];
        section + &table(columns, constants.chain(members))
    }

    fn values(&self, ty: &Type, values: &[String], ordered: bool, ancestors: &[Ancestor<'_>]) -> String {
        let order = if ordered { ", in ascending order" } else { "" };
        let others = if ty.schema.enumeration {
            "no others are valid"
        } else {
            "others are valid too"
        };
        let rows = values.iter().map(|value| {
            let history = cell(&of_member(ancestors, value));
            [format!("`{value:?}`"), self.meaning(ty, value), history]
        });
        format!(
            "\nA string{order}; {others}:\n{}",
            table(["Value", "Meaning", "History"], rows)
        )
    }

    fn variants(&self, union: &Union) -> String {
        let types = union.variants.iter().map(|variant| variant.ty.clone());
        let tag = match &union.objects {
            Some(Decision::Tag { member, .. }) => format!(", told apart by `{member}`"),
            _ => String::new(),
        };
        format!("\nOne of {}{tag}.\n", self.list(types))
    }

    fn list(&self, types: impl Iterator<Item = TypeRef>) -> String {
        types.map(|ty| self.reference(&ty)).collect::<Vec<_>>().join(", ")
    }
}
