//! The fields for the members of an object.

use heck::ToSnakeCase;
use proc_macro2::Ident;

use super::identifiers::Identifiers;
use crate::model::names::{spelt_out, unique};
use crate::model::{ConstantMember, Member, Model, Struct};

/// The sections of an object's table, in the order of its fields.
pub(super) const SECTIONS: [&str; 5] = ["constant", "implied", "required", "preset", "optional"];

/// A member of an object in Rust, with the name of its field.
pub(super) enum Field<'m> {
    /// A member that always has the same value. The private field records whether it is present; if it is required, that
    /// is a variable of the decoder.
    Constant(&'m ConstantMember, String),
    Member(&'m Member, String),
}

impl Field<'_> {
    /// Returns the index of its section in [`SECTIONS`].
    pub(super) fn section(&self) -> usize {
        match self {
            Self::Constant(constant, _) => usize::from(!constant.required),
            Self::Member(member, _) => match (member.required, member.is_argument()) {
                (true, true) => 2,
                (true, false) => 3,
                (false, _) => 4,
            },
        }
    }
}

impl Identifiers {
    /// Returns the fields of an object's members in a readable order: constants, required members, required members
    /// with a preset, optional members. In each group, simple values come before compound ones, and `_meta` and the
    /// like last.
    pub(super) fn fields<'m>(&self, model: &Model, name: &str, object: &'m Struct) -> Option<Vec<Field<'m>>> {
        let names = self.of(name)?;
        let mut taken: Vec<String> = names.values().cloned().collect();
        taken.push(super::identifiers::EXTRA.to_owned());
        let mut fields = Vec::new();
        for constant in &object.constants {
            let wanted = spelt_out(&constant.name).to_snake_case();
            let wanted = match syn::parse_str::<Ident>(&wanted) {
                Ok(_) => wanted,
                Err(_) => format!("{wanted}_"),
            };
            let name = unique(&wanted, |name| taken.iter().any(|other| other == name));
            taken.push(name.clone());
            fields.push(Field::Constant(constant, name));
        }
        for member in &object.members {
            let field = names.get(&member.name)?.clone();
            fields.push(Field::Member(member, field));
        }
        fields.sort_by_key(|field| match field {
            Field::Constant(..) => (field.section(), false, false),
            Field::Member(member, _) => {
                let is_compound = model.is_compound(&member.ty);
                (field.section(), member.name.starts_with('_'), is_compound)
            }
        });
        Some(fields)
    }
}
