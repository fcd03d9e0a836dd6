//! One object from another: literals of structs whose members are moved.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::pair::{Pair, refuse};
use crate::adapt::{Check, ConstantSource, DefaultPlan, MemberConversion, MemberPlan, StructPlan, ValuePlan};
use crate::emit::members::Field;
use crate::emit::structs::{has_name, scalar, with_name};
use crate::model::TypeRef;
use crate::normalise::Scalar;

/// The code of a conversion while it is put together.
#[derive(Default)]
pub(super) struct Code {
    /// What is asked of the source while it is whole.
    pub(super) first: Vec<TokenStream>,
    /// What happens before the target is made.
    pub(super) before: Vec<TokenStream>,
    /// What happens to it afterwards.
    pub(super) after: Vec<TokenStream>,
    /// Whether undeclared members come or go.
    pub(super) touches_extra: bool,
}

impl Pair<'_> {
    pub(super) fn object(&self, source: &TypeRef, target: &TypeRef, plan: &StructPlan) -> TokenStream {
        let (Some(from), Some(to)) = (self.places(true, source), self.places(false, target)) else {
            return TokenStream::new();
        };
        let refused = plan.members.iter().find_map(|member| match &member.value {
            ValuePlan::Shared(source, MemberConversion::Refused(refusal)) if source.required => {
                Some((&source.name, refusal))
            }
            _ => None,
        });
        if let Some((member, refusal)) = refused {
            let refusal = refuse(refusal);
            return quote!(Err(#refusal.within_member(#member)));
        }
        let mut code = Code::default();
        let flags = self.constants(plan, &from, &to, &mut code);
        let fields: Vec<(Ident, TokenStream)> = plan
            .members
            .iter()
            .filter_map(|member| {
                let field = field_of(&to, &member.to.name)?;
                let value = self.member(member, (&from, &to), &mut code);
                Some((field, value))
            })
            .collect();
        for member in &plan.undeclared {
            self.undeclared(member, &from, &to, target, &mut code);
        }
        if plan.closed {
            code.touches_extra = true;
            let constants = plan.constants.iter().map(|constant| &constant.name);
            code.before
                .push(quote!(conversion.drop_undeclared(&mut extra, &[#(#constants),*]);));
        }
        let to_type = self.target(target);
        let (declared, extra) = if code.touches_extra {
            (Some(quote!(let mut extra = self.extra;)), quote!(extra))
        } else {
            (None, quote!(extra: self.extra))
        };
        let inits: Vec<TokenStream> = fields.iter().map(|(field, value)| init(field, value)).collect();
        let (first, before, after) = (&code.first, &code.before, &code.after);
        let declared = quote!(#(#first)* #declared);
        if !flags.is_empty() {
            // Constants that may be absent are private, and only the struct's own functions make one.
            let made = self.made_by_functions(target, &to, &fields);
            let extra = if code.touches_extra {
                quote!(extra)
            } else {
                quote!(self.extra)
            };
            return quote! {
                #declared
                #(#before)*
                #made
                #(#flags)*
                #(#after)*
                converted.extra = #extra;
                Ok(converted)
            };
        }
        if after.is_empty() {
            return quote! {
                #declared
                #(#before)*
                Ok(#to_type { #(#inits,)* #extra })
            };
        }
        quote! {
            #declared
            #(#before)*
            let mut converted = #to_type { #(#inits,)* #extra };
            #(#after)*
            Ok(converted)
        }
    }

    pub(super) fn places(&self, of_source: bool, ty: &TypeRef) -> Option<Vec<Field<'_>>> {
        let revision = if of_source { self.from } else { self.to };
        let name = revision.model.resolve(ty).named()?;
        revision
            .items
            .fields(revision.model, name, revision.model.struct_of(ty)?)
    }

    fn made_by_functions(&self, target: &TypeRef, to: &[Field<'_>], fields: &[(Ident, TokenStream)]) -> TokenStream {
        let to_type = self.target(target);
        let is_argument = |field: &Ident| {
            to.iter().any(
                |place| matches!(place, Field::Member { member, field: own } if own == field && member.is_argument()),
            )
        };
        let locals = fields.iter().map(|(field, value)| quote!(let #field = #value;));
        let arguments: Vec<&Ident> = to
            .iter()
            .filter_map(|place| match place {
                Field::Member { member, field } if member.is_argument() => Some(field),
                _ => None,
            })
            .collect();
        let boxed = |field: &Ident| {
            to.iter()
                .any(|place| matches!(place, Field::Member { member, field: own, .. } if own == field && member.boxed))
        };
        let values = arguments
            .iter()
            .map(|field| if boxed(field) { quote!(*#field) } else { quote!(#field) });
        let made = if arguments.is_empty() {
            quote!(#to_type::default())
        } else {
            quote!(#to_type::new(#(#values),*))
        };
        let assigned = fields
            .iter()
            .filter(|(field, _)| !is_argument(field))
            .map(|(field, _)| quote!(converted.#field = #field;));
        quote! {
            #(#locals)*
            let mut converted = #made;
            #(#assigned)*
        }
    }

    /// Statements about the constants; those that set an optional one of the target are returned.
    fn constants(&self, plan: &StructPlan, from: &[Field<'_>], to: &[Field<'_>], code: &mut Code) -> Vec<TokenStream> {
        let mut flags = Vec::new();
        for constant in &plan.constants {
            let name = &constant.name;
            let json = json_of(&constant.value);
            let is_required = !constant.optional;
            let local = format_ident!("has_{}", flag_name(to, name));
            let keeps = if constant.optional {
                quote!(let #local =)
            } else {
                quote!()
            };
            // When an optional constant is set; `None` for always.
            let condition = match &constant.source {
                ConstantSource::Same { optional: true } => Some(has_constant(from, name, true, code)),
                ConstantSource::Same { optional: false } => None,
                ConstantSource::Other { optional } => {
                    code.touches_extra = true;
                    let has = has_constant(from, name, *optional, code);
                    code.before.push(quote! {
                        #keeps conversion.adopt_constant(&mut extra, #name, #has, &#json, #is_required);
                    });
                    Some(quote!(#local))
                }
                ConstantSource::Member(member) => {
                    code.touches_extra = true;
                    let field = field_of(from, &member.name);
                    let value = if member.required {
                        quote!(Some(&self.#field))
                    } else {
                        quote!(self.#field.as_ref())
                    };
                    code.before.push(quote! {
                        #keeps conversion.constant(&mut extra, #name, #value, &#json, #is_required)?;
                    });
                    Some(quote!(#local))
                }
                ConstantSource::Undeclared => {
                    code.touches_extra = true;
                    code.before.push(quote! {
                        #keeps conversion.adopt_constant(&mut extra, #name, false, &#json, #is_required);
                    });
                    Some(quote!(#local))
                }
            };
            if constant.optional {
                let with = constant_field(to, name).map(|field| with_name(&field));
                flags.push(match condition {
                    None => quote!(converted = converted.#with();),
                    Some(condition) => quote!(if #condition { converted = converted.#with(); }),
                });
            } else if let (ConstantSource::Same { optional: true }, Some(condition)) = (&constant.source, condition) {
                code.before.push(quote! {
                    if !#condition {
                        conversion.lose_member(#name, LossKind::Defaulted, AUTOMATIC);
                    }
                });
            }
        }
        flags
    }

    /// The value of a member of the target.
    fn member(&self, plan: &MemberPlan, (from, fields): (&[Field<'_>], &[Field<'_>]), code: &mut Code) -> TokenStream {
        let (to, name) = (&plan.to, &plan.to.name);
        let value = match &plan.value {
            ValuePlan::Shared(source, how) => {
                if source.name != *name {
                    code.touches_extra = true;
                    code.before.push(quote!(conversion.make_way(&mut extra, #name);));
                }
                self.shared(plan, (source, how), (from, fields), code)
            }
            ValuePlan::Adopted {
                constant,
                pointer,
                supplied,
            } => {
                code.touches_extra = true;
                if let Some(constant) = constant {
                    let json = json_of(&constant.value);
                    let has = has_constant(from, &constant.name, !constant.required, code);
                    code.before
                        .push(quote!(conversion.undeclare_constant(&mut extra, #name, #has, &#json);));
                }
                let local = format_ident!("adopted_{}", code.before.len());
                let pointer = option(pointer.as_ref().map(|pointer| quote!(#pointer)));
                let adopted = quote!(conversion.adopt(&mut extra, #name, &target::SCHEMA, #pointer));
                let reboxed = to.boxed.then(|| quote!(.map(Box::new)));
                code.before.push(match supplied {
                    Some(key) => quote! {
                        let #local = #adopted;
                        let #local = conversion.supplied(#name, #local, #key)?#reboxed;
                    },
                    None => quote!(let #local = #adopted #reboxed;),
                });
                match (&plan.default, to.required) {
                    (Some(default), true) => {
                        let default = defaulted(name, default);
                        quote! {
                            match #local {
                                Some(value) => value,
                                None => #default,
                            }
                        }
                    }
                    (_, true) => quote!(conversion.require(#name, #local)?),
                    (_, false) => quote!(#local),
                }
            }
        };
        let value = if plan.declared.is_empty() {
            value
        } else {
            let declared = plan.declared.iter().map(|(name, pointer)| quote!((#name, #pointer)));
            let declared = quote!(&target::SCHEMA, &[#(#declared),*]);
            if to.required {
                quote!(conversion.declare(#name, #value, #declared))
            } else {
                quote!(#value.map(|value| conversion.declare(#name, value, #declared)))
            }
        };
        let Some(Check { pointer, drop }) = &plan.checked else {
            return value;
        };
        let schema = quote!(&target::SCHEMA, #pointer);
        match drop {
            Some(rule) => quote! {{
                let value = #value;
                conversion.drop_invalid(#name, value, #schema, #rule)
            }},
            None if to.required => quote!(conversion.check(#name, #value, #schema)?),
            None => quote! {
                match #value {
                    Some(value) => Some(conversion.check(#name, value, #schema)?),
                    None => None,
                }
            },
        }
    }
}

/// What a member is where the source has none.
pub(super) fn defaulted(member: &str, default: &DefaultPlan) -> TokenStream {
    let DefaultPlan { json, implied, rule } = default;
    let function = match implied {
        true => quote!(imply),
        false => quote!(default),
    };
    quote!(conversion.#function(#member, #json, #rule)?)
}

fn init(field: &Ident, value: &TokenStream) -> TokenStream {
    if *field == value.to_string() {
        quote!(#field)
    } else {
        quote!(#field: #value)
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

pub(super) fn field_of(places: &[Field<'_>], name: &str) -> Option<Ident> {
    places.iter().find_map(|place| match place {
        Field::Member { member, field } if member.name == name => Some(field.clone()),
        _ => None,
    })
}

pub(super) fn constant_field(places: &[Field<'_>], name: &str) -> Option<Ident> {
    places.iter().find_map(|place| match place {
        Field::Implied { constant, field } if constant.name == name => Some(field.clone()),
        _ => None,
    })
}

/// Whether the source has a constant, which is asked while the source is whole.
fn has_constant(from: &[Field<'_>], name: &str, is_optional: bool, code: &mut Code) -> TokenStream {
    if !is_optional {
        return quote!(true);
    }
    let local = format_ident!("has_{}", flag_name(from, name));
    let has = constant_field(from, name).map(|field| has_name(&field));
    code.first.push(quote!(let #local = self.#has();));
    quote!(#local)
}

/// A part of a variable's name that is about a constant.
pub(super) fn flag_name(places: &[Field<'_>], name: &str) -> String {
    let local = places.iter().find_map(|place| match place {
        Field::Constant { constant, local } if constant.name == name => Some(local.to_string()),
        Field::Implied { constant, field } if constant.name == name => Some(field.to_string()),
        Field::Member { member, field } if member.name == name => Some(field.to_string()),
        _ => None,
    });
    local.unwrap_or_default().trim_start_matches("r#").to_owned()
}

/// An expression for a scalar as JSON.
fn json_of(value: &Scalar) -> TokenStream {
    let value = scalar(value);
    quote!(mcp_wire::serde_json::Value::from(#value))
}
