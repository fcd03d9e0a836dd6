//! What becomes of members that the target doesn't declare.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::conversions::Pair;
use super::objects::{Code, constant_field, field_of, flag_name};
use crate::adapt::{Leftover, LeftoverFate, Refusal};
use crate::emit::members::Field;
use crate::emit::structs::{has_name, scalar};
use crate::model::TypeRef;

impl Pair<'_> {
    /// What becomes of a member that the target doesn't declare.
    pub(super) fn leftover(
        &self,
        leftover: &Leftover,
        from: &[Field<'_>],
        to: &[Field<'_>],
        target: &TypeRef,
        code: &mut Code,
    ) {
        let name = &leftover.name;
        let field = match leftover.constant {
            Some(_) => None,
            None => field_of(from, name),
        };
        let value = match &leftover.constant {
            Some(constant) => {
                let value = scalar(constant);
                if leftover.optional {
                    let has = constant_field(from, name).map(|field| has_name(&field));
                    let local = format_ident!("has_{}", flag_name(from, name));
                    code.first.push(quote!(let #local = self.#has();));
                    quote!(#local.then_some(#value))
                } else {
                    quote!(Some(#value))
                }
            }
            None if leftover.optional => quote!(self.#field),
            None => quote!(Some(self.#field)),
        };
        let copy = match &leftover.constant {
            // Another value was kept in its place.
            Some(_) => quote!(#value.filter(|_| !extra.contains_key(#name))),
            None if leftover.optional => quote!(self.#field.clone()),
            None => quote!(Some(self.#field.clone())),
        };
        let rule = match &leftover.fate {
            LeftoverFate::Refused(Refusal {
                code: number,
                because,
                rule,
            }) => {
                let number = proc_macro2::Literal::i64_unsuffixed(*number);
                let present = match (leftover.constant.is_some(), leftover.optional) {
                    (true, _) => quote!(#value.as_ref()),
                    (false, true) => quote!(self.#field.as_ref()),
                    (false, false) => quote!(Some(&self.#field)),
                };
                code.before
                    .push(quote!(conversion.refuse_member(#name, #present, #number, #because, #rule)?;));
                return;
            }
            LeftoverFate::Copied { to: path, rule } => {
                let local = format_ident!("copied_{}", code.after.len());
                code.before
                    .push(quote!(let #local = if conversion.carries() { None } else { #copy };));
                code.after.push(self.copied(&local, path, target, rule));
                rule
            }
            LeftoverFate::Ensured { list, item, rule } => {
                let local = format_ident!("ensured_{}", code.after.len());
                code.before
                    .push(quote!(let #local = if conversion.carries() { None } else { #copy };));
                let (list_field, required) = to
                    .iter()
                    .find_map(|place| match place {
                        Field::Member { member, field } if member.name == *list => Some((field, member.required)),
                        _ => None,
                    })
                    .unzip();
                let elements = if required.unwrap_or(true) {
                    quote!(&mut converted.#list_field)
                } else {
                    quote!(converted.#list_field.get_or_insert_default())
                };
                code.after.push(quote! {
                    if let Some(value) = #local {
                        conversion.ensure(#elements, #list, &value, #item, #rule)?;
                    }
                });
                rule
            }
            LeftoverFate::Left { rule } => rule,
        };
        code.touches_extra = true;
        let rule = if rule == crate::adapt::AUTOMATIC {
            quote!(AUTOMATIC)
        } else {
            quote!(#rule)
        };
        let leave = match &leftover.constant {
            Some(_) => quote!(leave_constant),
            None => quote!(leave),
        };
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
