//! One object from another: literals of structs whose members are moved.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::conversions::{Pair, refuse};
use crate::adapt::{ConstantSource, Leftover, LeftoverFate, MemberPlan, Refusal, StructPlan, Taking, ValuePlan};
use crate::emit::members::Place;
use crate::emit::structs::{extra_field, has_name, scalar, with_name};
use crate::model::{Member, Struct, TypeRef};
use crate::normalise::Scalar;

/// The code of a conversion while it is put together.
#[derive(Default)]
struct Code {
    /// What is asked of the source while it is whole.
    first: Vec<TokenStream>,
    /// What happens before the target is made.
    before: Vec<TokenStream>,
    /// What happens to it afterwards.
    after: Vec<TokenStream>,
    /// Whether undeclared members come or go.
    touches_extra: bool,
}

impl Pair<'_> {
    pub(super) fn object(&self, source: &TypeRef, target: &TypeRef, plan: &StructPlan) -> TokenStream {
        let (Some(from), Some(to)) = (self.places(true, source), self.places(false, target)) else {
            return TokenStream::new();
        };
        let refused = plan.members.iter().find_map(|member| match &member.value {
            ValuePlan::Taken(source, Taking::Refused(refusal)) if source.required => Some((&source.name, refusal)),
            _ => None,
        });
        if let Some((member, refusal)) = refused {
            let refusal = refuse(refusal);
            return quote!(Err(#refusal.within_member(#member)));
        }
        let mut code = Code::default();
        let source_extra = extra_field(&from);
        let target_extra = extra_field(&to);
        let flags = self.constants(plan, &from, &to, &mut code);
        let fields: Vec<(Ident, TokenStream)> = plan
            .members
            .iter()
            .filter_map(|member| {
                let field = field_of(&to, &member.to.name)?;
                let value = self.member(member, &from, &mut code);
                Some((field, value))
            })
            .collect();
        for leftover in &plan.leftovers {
            self.leftover(leftover, &from, &to, target, &mut code);
        }
        if plan.closed {
            code.touches_extra = true;
            code.before.push(quote!(conversion.close(&mut extra);));
        }
        let to_type = self.target(target);
        let (declared, extra) = if code.touches_extra {
            let init = if target_extra == "extra" {
                quote!(extra)
            } else {
                quote!(#target_extra: extra)
            };
            (Some(quote!(let mut extra = self.#source_extra;)), init)
        } else {
            (None, quote!(#target_extra: self.#source_extra))
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
                quote!(self.#source_extra)
            };
            return quote! {
                #declared
                #(#before)*
                #made
                #(#flags)*
                #(#after)*
                converted.#target_extra = #extra;
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

    fn places(&self, of_source: bool, ty: &TypeRef) -> Option<Vec<Place<'_>>> {
        let revision = if of_source { self.from } else { self.to };
        let name = revision.model.resolve(ty).named()?;
        revision.shells.places(name, revision.model.struct_of(ty)?)
    }

    fn made_by_functions(&self, target: &TypeRef, to: &[Place<'_>], fields: &[(Ident, TokenStream)]) -> TokenStream {
        let to_type = self.target(target);
        let required = |field: &Ident| {
            to.iter().any(
                |place| matches!(place, Place::Member { member, field: own, .. } if own == field && member.required),
            )
        };
        let locals = fields.iter().map(|(field, value)| quote!(let #field = #value;));
        let arguments: Vec<&Ident> = to
            .iter()
            .filter_map(|place| match place {
                Place::Member { member, field, .. } if member.required => Some(field),
                _ => None,
            })
            .collect();
        let boxed = |field: &Ident| {
            to.iter()
                .any(|place| matches!(place, Place::Member { member, field: own, .. } if own == field && member.boxed))
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
            .filter(|(field, _)| !required(field))
            .map(|(field, _)| quote!(converted.#field = #field;));
        quote! {
            #(#locals)*
            let mut converted = #made;
            #(#assigned)*
        }
    }

    /// Statements about the constants; those that set an optional one of the target are returned.
    fn constants(&self, plan: &StructPlan, from: &[Place<'_>], to: &[Place<'_>], code: &mut Code) -> Vec<TokenStream> {
        let mut flags = Vec::new();
        for constant in &plan.constants {
            let name = &constant.name;
            let json = json_of(&constant.value);
            let has = |code: &mut Code| {
                let local = format_ident!("has_{}", flag_name(from, name));
                let has = constant_field(from, name).map(|field| has_name(&field));
                code.first.push(quote!(let #local = self.#has();));
                quote!(#local)
            };
            let condition = match &constant.source {
                ConstantSource::Same { optional: true } => Some(has(code)),
                ConstantSource::Same { optional: false } => Some(quote!(true)),
                ConstantSource::Other => {
                    code.before.push(quote! {
                        conversion.lose_member(#name, crate::conversion::LossKind::Replaced, AUTOMATIC);
                    });
                    Some(quote!(true))
                }
                ConstantSource::Member(member) => {
                    let field = field_of(from, &member.name);
                    let value = if member.required {
                        quote!(Some(&self.#field))
                    } else {
                        quote!(self.#field.as_ref())
                    };
                    let local = format_ident!("has_{}", flag_name(from, name));
                    let local = if constant.optional {
                        quote!(let #local =)
                    } else {
                        quote!(let _ =)
                    };
                    code.before
                        .push(quote!(#local conversion.constant(#name, #value, &#json)?;));
                    let local = format_ident!("has_{}", flag_name(from, name));
                    Some(quote!(#local))
                }
                ConstantSource::Undeclared => {
                    code.touches_extra = true;
                    let local = format_ident!("has_{}", flag_name(to, name));
                    let adopted = quote!(conversion.adopt_constant(&mut extra, #name, &#json));
                    if constant.optional {
                        code.before.push(quote!(let #local = #adopted;));
                    } else {
                        code.before.push(quote!(#adopted;));
                    }
                    Some(quote!(#local))
                }
            };
            if constant.optional {
                let with = constant_field(to, name).map(|field| with_name(&field));
                let condition = condition.unwrap_or_else(|| quote!(true));
                flags.push(if condition.to_string() == "true" {
                    quote!(converted = converted.#with();)
                } else {
                    quote!(if #condition { converted = converted.#with(); })
                });
            } else if matches!(constant.source, ConstantSource::Same { optional: true }) {
                let condition = condition.unwrap_or_default();
                code.before.push(quote! {
                    if !#condition {
                        conversion.lose_member(#name, crate::conversion::LossKind::Defaulted, AUTOMATIC);
                    }
                });
            }
        }
        flags
    }

    /// The value of a member of the target.
    fn member(&self, plan: &MemberPlan, from: &[Place<'_>], code: &mut Code) -> TokenStream {
        let (to, name) = (&plan.to, &plan.to.name);
        let value = match &plan.value {
            ValuePlan::Taken(source, taking) => self.taken(plan, source, taking, from, code),
            ValuePlan::Constant(constant) => {
                let json = json_of(constant);
                let value = quote!(close(&mcp_wire::OpenJson::from(#json))?);
                if to.required { value } else { quote!(Some(#value)) }
            }
            ValuePlan::Adopted(pointer) => {
                code.touches_extra = true;
                let local = format_ident!("adopted_{}", code.before.len());
                let pointer = option(pointer.as_ref().map(|pointer| quote!(#pointer)));
                let reboxed = to.boxed.then(|| quote!(.map(Box::new)));
                code.before.push(quote! {
                    let #local = conversion.adopt(&mut extra, #name, target::schema::judge, #pointer)#reboxed;
                });
                match (&plan.default, to.required) {
                    (Some((json, rule)), true) => quote! {
                        match #local {
                            Some(value) => value,
                            None => conversion.default(#name, #json, #rule)?,
                        }
                    },
                    (_, true) => quote!(conversion.require(#name, #local)?),
                    (_, false) => quote!(#local),
                }
            }
        };
        match &plan.checked {
            Some(pointer) if to.required => {
                quote!(conversion.check(#name, #value, target::schema::judge, #pointer)?)
            }
            Some(pointer) => quote! {
                match #value {
                    Some(value) => Some(conversion.check(#name, value, target::schema::judge, #pointer)?),
                    None => None,
                }
            },
            None => value,
        }
    }

    /// The value of a member that the source declares too.
    fn taken(
        &self,
        plan: &MemberPlan,
        source: &Member,
        taking: &Taking,
        from: &[Place<'_>],
        code: &mut Code,
    ) -> TokenStream {
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
        // An expression for what is there, from one for what was there; both optional or neither.
        let converted = |value: TokenStream, optional: bool| match taking {
            Taking::Moved => value,
            Taking::Matched(variants) => {
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
            Taking::Hiding { when, rule } => {
                let hidden = self.hidden(&source.ty, when);
                let shown = |value: TokenStream| quote!(conversion.within_member(#name, |conversion| conversion.show(#value, |element| #hidden, #rule)));
                if optional {
                    let shown = shown(quote!(value));
                    quote!(match #value { Some(value) => Some(#shown?), None => None })
                } else {
                    let shown = shown(value);
                    quote!(#shown?)
                }
            }
            Taking::Omitting { rule, .. } => {
                let omitted = |value: TokenStream| quote!(conversion.within_member(#name, |conversion| conversion.omit(#value, &needed, #rule)));
                if optional {
                    let omitted = omitted(quote!(value));
                    quote!(match #value { Some(value) => Some(#omitted?), None => None })
                } else {
                    let omitted = omitted(value);
                    quote!(#omitted?)
                }
            }
            _ => quote!(conversion.member(#name, #value)?),
        };
        match taking {
            Taking::Called { function } => {
                let function = crate::emit::tokens::ident(function);
                return quote! {
                    conversion.within_member(#name, |conversion| functions::#function(self.#field, conversion))?
                };
            }
            Taking::Dropped { rule } => {
                code.touches_extra = true;
                let value = if source.required {
                    quote!(Some(self.#field))
                } else {
                    quote!(self.#field)
                };
                code.before
                    .push(quote!(conversion.leave(&mut extra, #name, #value, #rule);));
                return quote!(None);
            }
            Taking::Refused(Refusal {
                code: number,
                because,
                rule,
            }) => {
                let number = proc_macro2::Literal::i64_unsuffixed(*number);
                code.before.push(quote! {
                    conversion.refuse_member(#name, self.#field.as_ref(), #number, #because, #rule)?;
                });
                return if to.required {
                    quote!(conversion.require(#name, None)?)
                } else {
                    quote!(None)
                };
            }
            Taking::Omitting { unless_in, .. } => {
                let needed = from.iter().find_map(|place| match place {
                    Place::Member { member, field, .. } if member.name == *unless_in => Some((field, member.required)),
                    _ => None,
                });
                code.before.push(match needed {
                    Some((field, true)) => quote!(let needed = self.#field.clone();),
                    Some((field, false)) => quote!(let needed = self.#field.clone().unwrap_or_default();),
                    None => quote!(let needed: Vec<String> = Vec::new();),
                });
            }
            _ => {}
        }
        match (source.required, to.required, &plan.default) {
            (true, true, _) => reboxed(converted(unboxed, false), false),
            (false, false, _) => reboxed(converted(unboxed, true), true),
            (true, false, _) => {
                let value = reboxed(converted(unboxed, false), false);
                quote!(Some(#value))
            }
            (false, true, Some((json, rule))) => {
                let value = reboxed(converted(quote!(value), false), false);
                quote! {
                    match #unboxed {
                        Some(value) => #value,
                        None => conversion.default(#name, #json, #rule)?,
                    }
                }
            }
            (false, true, None) => reboxed(converted(quote!(conversion.require(#name, #unboxed)?), false), false),
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

    /// What becomes of a member that the target doesn't declare.
    fn leftover(&self, leftover: &Leftover, from: &[Place<'_>], to: &[Place<'_>], target: &TypeRef, code: &mut Code) {
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
            Some(_) => value.clone(),
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
                        Place::Member { member, field, .. } if member.name == *list => Some((field, member.required)),
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
        code.before
            .push(quote!(conversion.leave(&mut extra, #name, #value, #rule);));
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
                    conversion.lose_within(&path[..depth], crate::conversion::LossKind::Defaulted, #rule);
                }
            }
        }
    }
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

fn field_of(places: &[Place<'_>], name: &str) -> Option<Ident> {
    places.iter().find_map(|place| match place {
        Place::Member { member, field, .. } if member.name == name => Some(field.clone()),
        _ => None,
    })
}

fn constant_field(places: &[Place<'_>], name: &str) -> Option<Ident> {
    places.iter().find_map(|place| match place {
        Place::Constant { constant, field, .. } if constant.name == name => field.clone(),
        _ => None,
    })
}

/// A part of a variable's name that is about a constant.
fn flag_name(places: &[Place<'_>], name: &str) -> String {
    let local = places.iter().find_map(|place| match place {
        Place::Constant { constant, local, .. } if constant.name == name => Some(local.to_string()),
        Place::Member { member, field, .. } if member.name == name => Some(field.to_string()),
        _ => None,
    });
    local.unwrap_or_default().trim_start_matches("r#").to_owned()
}

/// An expression for a scalar as JSON.
fn json_of(value: &Scalar) -> TokenStream {
    let value = scalar(value);
    quote!(mcp_wire::serde_json::Value::from(#value))
}
