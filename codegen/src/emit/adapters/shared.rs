//! The values of members that both revisions declare.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::objects::{Code, defaulted, field_of};
use super::pair::Pair;
use super::undeclared::ensured;
use crate::adapt::{MemberConversion, MemberPlan};
use crate::emit::members::Field;
use crate::emit::tokens::ident;
use crate::model::{Member, Struct, TypeRef};

impl Pair<'_> {
    /// The value of a member that the source declares too.
    pub(super) fn shared(
        &self,
        plan: &MemberPlan,
        (source, how): (&Member, &MemberConversion),
        (from, fields): (&[Field<'_>], &[Field<'_>]),
        code: &mut Code,
    ) -> TokenStream {
        if let Some(value) = decided(plan, (source, how), (from, fields), code) {
            return value;
        }
        if let MemberConversion::Omitting { unless_in, .. } = how {
            code.before.push(needed_keys(unless_in, from));
        }
        let (to, name) = (&plan.to, &plan.to.name);
        let field = field_of(from, &source.name);
        let unboxed = match (source.boxed && !to.boxed, source.required) {
            (false, _) => quote!(self.#field),
            (true, true) => quote!((*self.#field)),
            (true, false) => quote!(self.#field.map(|value| *value)),
        };
        let reboxed = |value: TokenStream, optional: bool| match (to.boxed && !source.boxed, optional) {
            (false, _) => value,
            (true, false) => quote!(Box::new(#value)),
            (true, true) => quote!(#value.map(Box::new)),
        };
        let converted = |value: TokenStream, optional: bool| self.converted(plan, source, how, value, optional);
        match (source.required, to.required, &plan.default) {
            (true, true, _) => reboxed(converted(unboxed, false), false),
            (false, false, _) => reboxed(converted(unboxed, true), true),
            (true, false, _) => {
                let value = reboxed(converted(unboxed, false), false);
                quote!(Some(#value))
            }
            (false, true, Some(default)) => {
                let value = reboxed(converted(quote!(value), false), false);
                let default = defaulted(name, default);
                quote! {
                    match #unboxed {
                        Some(value) => #value,
                        None => #default,
                    }
                }
            }
            (false, true, None) => reboxed(converted(quote!(conversion.require(#name, #unboxed)?), false), false),
        }
    }

    /// An expression for the value of the target from one of the source; both are optional, or neither is.
    fn converted(
        &self,
        plan: &MemberPlan,
        source: &Member,
        how: &MemberConversion,
        value: TokenStream,
        optional: bool,
    ) -> TokenStream {
        let (to, name) = (&plan.to, &plan.to.name);
        match how {
            MemberConversion::Moved => value,
            MemberConversion::Matched(variants) => {
                let (from_type, to_type) = (self.from.model.resolve(&source.ty), self.to.model.resolve(&to.ty));
                let matched = self.variants(from_type, to_type, variants);
                if optional {
                    quote! {
                        match #value {
                            Some(value) => Some(conversion.within_member(#name, |conversion| #matched)?),
                            None => None,
                        }
                    }
                } else {
                    quote! {{
                        let value = #value;
                        conversion.within_member(#name, |conversion| #matched)?
                    }}
                }
            }
            MemberConversion::Hiding { when, rule } => {
                let hidden = self.hidden(&source.ty, when);
                let shown = |value: TokenStream| quote!(conversion.within_member(#name, |conversion| conversion.show(#value, |element| #hidden, #rule)));
                tried(value, optional, shown)
            }
            MemberConversion::Omitting { rule, .. } => {
                let omitted = |value: TokenStream| quote!(conversion.within_member(#name, |conversion| conversion.omit(#value, &needed, #rule)));
                tried(value, optional, omitted)
            }
            _ => quote!(conversion.member(#name, #value)?),
        }
    }

    /// Whether `element` of a list is hidden.
    fn hidden(&self, list: &TypeRef, when: &[(Vec<String>, String)]) -> TokenStream {
        let element = match self.from.model.resolve(list) {
            TypeRef::List(element) => element.as_ref(),
            other => other,
        };
        let conditions = when.iter().map(|(path, value)| {
            let mut place = quote!(Some(element));
            let mut at = element.clone();
            for member in path {
                let Some((declared, field)) = self.source_member(&at, member) else {
                    return quote!(false);
                };
                place = if declared.required {
                    quote!(#place.map(|value| &value.#field))
                } else {
                    quote!(#place.and_then(|value| value.#field.as_ref()))
                };
                at = declared.ty.clone();
            }
            quote!(#place.is_some_and(|value| value.as_str() == #value))
        });
        quote!(#(#conditions)&&*)
    }

    fn source_member(&self, ty: &TypeRef, member: &str) -> Option<(&Member, Ident)> {
        let object: &Struct = self.from.model.struct_of(ty)?;
        let declared = object.members.iter().find(|declared| declared.name == member)?;
        let places = self.places(true, ty)?;
        Some((declared, field_of(&places, member)?))
    }
}

/// The value of a member whose plan says more than how it is converted; `None` for the others.
fn decided(
    plan: &MemberPlan,
    (source, how): (&Member, &MemberConversion),
    (from, fields): (&[Field<'_>], &[Field<'_>]),
    code: &mut Code,
) -> Option<TokenStream> {
    let (to, name) = (&plan.to, &plan.to.name);
    let field = field_of(from, &source.name);
    let value = match source.required {
        true => quote!(Some(self.#field)),
        false => quote!(self.#field),
    };
    Some(match how {
        MemberConversion::Called { function, rule } => {
            let function = ident(function);
            quote! {
                conversion.within_member(#name, |conversion| functions::#function(self.#field, conversion, #rule))?
            }
        }
        MemberConversion::Dropped { rule } => {
            code.touches_extra = true;
            code.before
                .push(quote!(conversion.leave(&mut extra, #name, #value, #rule);));
            quote!(None)
        }
        MemberConversion::Refused(refusal) => {
            let number = proc_macro2::Literal::i64_unsuffixed(refusal.code);
            let (because, rule) = (&refusal.because, &refusal.rule);
            code.before.push(quote! {
                conversion.refuse_member(#name, self.#field.as_ref(), #number, #because, #rule)?;
            });
            match to.required {
                true => quote!(conversion.require(#name, None)?),
                false => quote!(None),
            }
        }
        MemberConversion::Filled => quote!(conversion.fill(#name, self.#field)?),
        MemberConversion::Emptied => quote!(conversion.empty(#name, self.#field)?),
        MemberConversion::Ensured(ensure) => {
            let (held, kept) = (
                format_ident!("held_{}", code.after.len()),
                format_ident!("ensured_{}", code.after.len()),
            );
            let rule = &ensure.rule;
            code.before
                .push(quote!(let (#held, #kept) = conversion.member_or_keep(#name, #value, #rule);));
            code.after.push(ensured(&kept, ensure, fields));
            quote!(#held)
        }
        _ => return None,
    })
}

/// An expression that may fail, of a value or of what is in an optional one.
fn tried(value: TokenStream, optional: bool, expression: impl Fn(TokenStream) -> TokenStream) -> TokenStream {
    if optional {
        let inner = expression(quote!(value));
        quote!(match #value { Some(value) => Some(#inner?), None => None })
    } else {
        let whole = expression(value);
        quote!(#whole?)
    }
}

/// A statement for the keys that a member of the source lists.
fn needed_keys(member_name: &str, from: &[Field<'_>]) -> TokenStream {
    let needed = from.iter().find_map(|place| match place {
        Field::Member { member, field } if member.name == member_name => Some((field, member.required)),
        _ => None,
    });
    match needed {
        Some((field, true)) => quote!(let needed = self.#field.clone();),
        Some((field, false)) => quote!(let needed = self.#field.clone().unwrap_or_default();),
        None => quote!(let needed: Vec<String> = Vec::new();),
    }
}
