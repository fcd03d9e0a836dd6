//! Which member of an object is which field.

use heck::ToSnakeCase;
use proc_macro2::{Ident, TokenStream};

use super::shells::Shells;
use super::tokens::ident;
use crate::model::names::{spelt_out, unique};
use crate::model::{ConstantMember, Member, Struct};

/// Where a member's value is while it is read, and where it stays.
pub(super) enum Place<'m> {
    /// A member with one value: nothing stays of it, unless it may be absent.
    Constant {
        /// The member.
        constant: &'m ConstantMember,
        /// The variable that it is read into.
        local: Ident,
        /// The private field that says whether it is there, where it may be absent.
        field: Option<Ident>,
    },
    /// A member whose value varies.
    Member {
        /// The member.
        member: &'m Member,
        /// Its field.
        field: Ident,
        /// The field's type.
        ty: TokenStream,
    },
}

impl Place<'_> {
    /// The variable that the value is read into.
    pub(super) fn local(&self) -> &Ident {
        match self {
            Self::Constant { local, .. } => local,
            Self::Member { field, .. } => field,
        }
    }
}

impl Shells {
    /// The places of an object's members: constants first, as they are written first.
    pub(super) fn places<'m>(&self, name: &str, object: &'m Struct) -> Option<Vec<Place<'m>>> {
        let shell = self.structure(name)?;
        let mut taken: Vec<String> = shell.fields.values().map(|(field, _)| field.to_string()).collect();
        let mut places = Vec::new();
        for constant in &object.constants {
            let wanted = spelt_out(&constant.name).to_snake_case();
            let wanted = if syn::parse_str::<Ident>(&wanted).is_ok() {
                wanted
            } else {
                format!("{wanted}_")
            };
            let name = unique(&wanted, |name| taken.iter().any(|other| other == name));
            taken.push(name.clone());
            let local = ident(&name);
            let field = (!constant.required).then(|| local.clone());
            places.push(Place::Constant { constant, local, field });
        }
        for member in &object.members {
            let (field, ty) = shell.fields.get(&member.name)?.clone();
            places.push(Place::Member { member, field, ty });
        }
        Some(places)
    }
}
