//! What becomes of members that the target doesn't declare.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::objects::{Code, constant_field, field_of, flag_name};
use super::pair::Pair;
use crate::adapt::{EnsurePlan, UndeclaredAction, UndeclaredMember};
use crate::emit::members::Field;
use crate::emit::structs::{has_name, scalar};
use crate::model::TypeRef;

impl Pair<'_> {
    /// What becomes of a member that the target doesn't declare.
    pub(super) fn undeclared(
        &self,
        member: &UndeclaredMember,
        from: &[Field<'_>],
        to: &[Field<'_>],
        target: &TypeRef,
        code: &mut Code,
    ) {
        let name = &member.name;
        let value = Value::new(member, from, code);
        let rule = match &member.how {
            UndeclaredAction::Refused(refusal) => {
                let (present, number) = (value.reference, proc_macro2::Literal::i64_unsuffixed(refusal.code));
                let (because, rule) = (&refusal.because, &refusal.rule);
                code.before
                    .push(quote!(conversion.refuse_member(#name, #present, #number, #because, #rule)?;));
                return;
            }
            UndeclaredAction::Copied { to: path, rule } => {
                let local = copy_first("copied", value.copy, code);
                code.after.push(self.copied(&local, path, target, rule));
                rule
            }
            UndeclaredAction::Ensured(plan) => {
                let local = copy_first("ensured", value.copy, code);
                code.after.push(ensured(&local, plan, to));
                &plan.rule
            }
            UndeclaredAction::Supplied { key, rule } => {
                let value = value.owned;
                code.touches_extra = true;
                code.before
                    .push(quote!(conversion.hand_over(&mut extra, #name, #value, #key, #rule);));
                return;
            }
            UndeclaredAction::Left { rule } => rule,
        };
        code.touches_extra = true;
        let rule = match rule.as_str() {
            crate::adapt::AUTOMATIC => quote!(AUTOMATIC),
            rule => quote!(#rule),
        };
        let leave = match &member.constant {
            Some(_) => quote!(leave_constant),
            None => quote!(leave),
        };
        let value = value.owned;
        code.before
            .push(quote!(conversion.#leave(&mut extra, #name, #value, #rule);));
    }

    /// Copies a value to a member of the target that has none.
    fn copied(&self, value: &Ident, path: &[String], target: &TypeRef, rule: &str) -> TokenStream {
        let mut place = quote!(converted);
        let mut at = target.clone();
        // What was made to hold the value, from the inside outwards, is what the source had not.
        let mut made = Vec::new();
        for (index, member) in path.iter().enumerate() {
            let found = self.to.model.struct_of(&at).and_then(|object| {
                let declared = object.members.iter().find(|declared| declared.name == *member)?;
                Some((declared.required, declared.ty.clone()))
            });
            let (Some((required, ty)), Some(places)) = (found, self.places(false, &at)) else {
                return TokenStream::new();
            };
            let field = field_of(&places, member);
            let is_last = index + 1 == path.len();
            if !required && !is_last {
                made.push((quote!(#place.#field.is_none()), index + 1));
            }
            place = if is_last || required {
                quote!(#place.#field)
            } else {
                quote!(#place.#field.get_or_insert_default())
            };
            at = ty;
        }
        let members = path.iter();
        let path = quote!([#(#members),*]);
        let depths = made.iter().map(|(is_made, depth)| quote!(if #is_made { #depth } else));
        quote! {
            if let Some(value) = #value {
                let path = #path;
                let depth = #(#depths)* { path.len() };
                let place = &mut #place;
                if place.is_none() {
                    *place = Some(value);
                    conversion.lose_within(&path[..depth], LossKind::Defaulted, #rule);
                }
            }
        }
    }
}

/// Expressions for the value of a member that the target doesn't declare; each is optional.
struct Value {
    owned: TokenStream,
    reference: TokenStream,
    copy: TokenStream,
}

impl Value {
    fn new(member: &UndeclaredMember, from: &[Field<'_>], code: &mut Code) -> Self {
        let name = &member.name;
        if let Some(constant) = &member.constant {
            let constant = scalar(constant);
            let owned = if member.optional {
                let has = constant_field(from, name).map(|field| has_name(&field));
                let local = format_ident!("has_{}", flag_name(from, name));
                code.first.push(quote!(let #local = self.#has();));
                quote!(#local.then_some(#constant))
            } else {
                quote!(Some(#constant))
            };
            return Self {
                reference: quote!(#owned.as_ref()),
                // Another value was kept in its place.
                copy: quote!(#owned.filter(|_| !extra.contains_key(#name))),
                owned,
            };
        }
        let field = field_of(from, name);
        let optional = match &member.implied {
            Some(json) => {
                let local = format_ident!("said_{}", code.before.len());
                code.before
                    .push(quote!(let #local = conversion.unless_implied(self.#field, #json);));
                Some(quote!(#local))
            }
            None => member.optional.then(|| quote!(self.#field)),
        };
        if let Some(value) = optional {
            Self {
                reference: quote!(#value.as_ref()),
                copy: quote!(#value.clone()),
                owned: value,
            }
        } else {
            Self {
                owned: quote!(Some(self.#field)),
                reference: quote!(Some(&self.#field)),
                copy: quote!(Some(self.#field.clone())),
            }
        }
    }
}

/// Keeps a copy of a value for later, unless the value itself is carried.
fn copy_first(what: &str, copy: TokenStream, code: &mut Code) -> Ident {
    let local = format_ident!("{what}_{}", code.after.len());
    code.before
        .push(quote!(let #local = if conversion.carries() { None } else { #copy };));
    local
}

/// Gives a list of the target an element for a value, if there is one.
pub(super) fn ensured(value: &Ident, plan: &EnsurePlan, to: &[Field<'_>]) -> TokenStream {
    let EnsurePlan { list, item, rule } = plan;
    let elements = elements_of(to, list);
    quote! {
        if let Some(value) = #value {
            conversion.ensure(#elements, #list, &value, #item, #rule)?;
        }
    }
}

/// An expression for a list of the target, to add an element to.
fn elements_of(to: &[Field<'_>], list: &str) -> TokenStream {
    let field = to.iter().find_map(|place| match place {
        Field::Member { member, field } if member.name == list => Some((field, member.required)),
        _ => None,
    });
    match field {
        Some((field, false)) => quote!(converted.#field.get_or_insert_default()),
        field => {
            let field = field.map(|(field, _)| field);
            quote!(&mut converted.#field)
        }
    }
}
