//! The conversions of one pair of revisions in one direction.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::input::RevisionInput;
use super::names::mentions;
use super::pair::{Pair, qualified, refuse, union_of};
use super::rows::Tables;
use crate::adapt::{PlanKind, VariantConversion, VariantPlan};
use crate::emit::error::EmitError;
use crate::emit::scaffold::formatted;
use crate::emit::source;
use crate::emit::strings::unknown_value;
use crate::emit::tokens::{ident, text};
use crate::emit::unions::unknown_variant;
use crate::model::{TypeKind, TypeRef};
use mcp_wire::JsonType;

/// The name that generated code has for the revision that values come from.
const SOURCE: &str = "source";
/// The name that generated code has for the revision that values go to.
const TARGET: &str = "target";
/// The tables whose rows name the modules themselves.
const OPEN_TABLES: [&str; 2] = ["opened", "closed"];

impl Pair<'_> {
    /// The module of the pair. `primitives` has the implementations for types that every revision shares, each of which
    /// may be written only once.
    pub(super) fn module(
        &self,
        file: &str,
        functions: Option<&Ident>,
        primitives: &mut BTreeSet<String>,
    ) -> Result<Vec<String>, EmitError> {
        let mut items = Vec::new();
        let mut tables = Tables::new();
        for ((source, target), how) in &self.plan.conversions {
            let (from, to) = (self.source(source), self.target(target));
            let shared = match (source.named(), target.named()) {
                (Some(_), Some(_)) => None,
                (None, None) => Some(format!("{source:?} {target:?}")),
                (None, _) => Some(format!("{source:?} {} {to}", self.to.model.revision)),
                (_, None) => Some(format!("{} {from} {target:?}", self.from.model.revision)),
            };
            if shared.is_some_and(|shared| !primitives.insert(shared)) {
                continue;
            }
            if let Some((table, row)) = self.row(source, target, how) {
                tables.entry(table).or_default().push(row);
                continue;
            }
            let body = self.body(source, target, how);
            let conversion = match mentions(&body.to_string(), "conversion") {
                true => quote!(conversion),
                false => quote!(_),
            };
            items.push(quote! {
                impl Convert<#to, Revision> for #from {
                    #[inline]
                    fn convert(self, #conversion: &mut Conversion) -> Result<#to, Unrepresentable> {
                        #body
                    }
                }
            });
        }
        let items = formatted(file, quote!(#(#items)*))?;
        let imports = self.imports(&items, &tables, functions);
        let tables: Vec<String> = tables.iter().map(|(name, rows)| table(name, rows)).collect();
        let title = format!(
            "//! Values of revision {} as values of {}.",
            self.plan.from, self.plan.to
        );
        Ok([title, imports].into_iter().chain(tables).chain([items]).collect())
    }

    /// The table that a conversion is a row of, and the row.
    fn row(&self, source: &TypeRef, target: &TypeRef, how: &PlanKind) -> Option<(&'static str, String)> {
        let types = || text(&self.source(source)) + " => " + &text(&self.target(target)) + ",";
        Some(match how {
            PlanKind::Struct(plan) => ("objects", self.object_row(source, target, plan)?),
            PlanKind::Union(variants) => ("unions", self.union_row(source, target, variants)?),
            PlanKind::Strings { refused, closed: false } if refused.is_empty() => {
                ("strings", self.strings_row(source, target)?)
            }
            PlanKind::Methods(methods) => ("methods", self.methods_row(source, target, methods)?),
            PlanKind::Results(results) => ("results", self.results_row(source, target, results)?),
            PlanKind::Opened if *target == TypeRef::OpenObject => ("opened", format!("    {}", types())),
            PlanKind::Closed if target.named().is_some() => ("closed", format!("    {}", types())),
            _ => return None,
        })
    }

    fn imports(&self, items: &str, tables: &Tables, functions: Option<&Ident>) -> String {
        let used = |names: &[&str]| -> BTreeSet<String> {
            let used = names.iter().filter(|name| mentions(items, name));
            used.map(|name| (*name).to_owned()).collect()
        };
        let mut convert = used(&[
            "AUTOMATIC",
            "Convert",
            "LossKind",
            "close",
            "close_entries",
            "close_valid",
            "open",
        ]);
        convert.extend(tables.keys().map(|name| (*name).to_owned()));
        let mut ours = used(&["Conversion", "Unrepresentable"]);
        ours.insert("Revision".to_owned());
        let mut imports = source::import("mcp_convert", &convert) + &source::import("crate", &ours);
        let rows: String = tables.values().flatten().map(String::as_str).collect();
        let has_pairs = tables.keys().any(|name| !OPEN_TABLES.contains(name));
        for (name, revision) in [(SOURCE, self.from), (TARGET, self.to)] {
            if has_pairs || mentions(items, name) || mentions(&rows, name) {
                imports.push_str(&format!("use crate::{} as {name};\n", revision.module));
            }
        }
        if let Some(module) = functions {
            imports.push_str(&format!("use crate::{module} as functions;\n"));
        }
        imports
    }

    pub(super) fn source(&self, ty: &TypeRef) -> TokenStream {
        qualified(SOURCE, ty)
    }

    pub(super) fn target(&self, ty: &TypeRef) -> TokenStream {
        qualified(TARGET, ty)
    }

    /// Whether a type of the target knows its definition, so that its values can be validated.
    fn is_validated(&self, target: &TypeRef) -> bool {
        matches!(self.to.model.resolve(target), TypeRef::Named(_))
    }

    fn body(&self, source: &TypeRef, target: &TypeRef, how: &PlanKind) -> TokenStream {
        match how {
            PlanKind::Struct(plan) => self.object(source, target, plan),
            PlanKind::Union(variants) => {
                let matched = self.variants(source, target, variants);
                quote!(let value = self; #matched)
            }
            PlanKind::Strings { refused, closed } => self.strings(source, target, refused, *closed),
            // Those are rows.
            PlanKind::Methods(_) | PlanKind::Results(_) => TokenStream::new(),
            PlanKind::Opened if *target == TypeRef::Any => quote!(open(&self)),
            PlanKind::Opened => quote!(close(&open(&self)?)),
            PlanKind::Wrapped { moved: true } => quote!(Ok(Some(self))),
            PlanKind::Wrapped { moved: false } => quote!(self.convert(conversion).map(Some)),
            PlanKind::Unwrapped { moved } => {
                let value = if *moved {
                    quote!(Ok(value))
                } else {
                    quote!(value.convert(conversion))
                };
                quote! {
                    match self {
                        Some(value) => #value,
                        None => Err(Unrepresentable::no_null()),
                    }
                }
            }
            PlanKind::Closed => match target {
                TypeRef::Named(_) => quote!(close_valid(&self)),
                TypeRef::Map(item) if self.is_validated(item) => quote!(close_entries(&self)),
                _ => quote!(close(&self)),
            },
        }
    }

    /// An expression that converts `value`, a type of the source, variant by variant.
    pub(super) fn variants(&self, source: &TypeRef, target: &TypeRef, variants: &[VariantPlan]) -> TokenStream {
        let (from, to) = (self.source(source), self.target(target));
        let unknown_target = union_of(self.to, target).and_then(unknown_variant);
        let [single] = variants else {
            let arms = variants.iter().map(|plan| {
                let name = plan.variant.as_deref().map(ident);
                let is_object = self.is_object(&plan.from);
                let converted = self.variant(plan, &to);
                let held = matches!(plan.how, VariantConversion::Converted { .. });
                let refused_by_rule = matches!(plan.how, VariantConversion::Refused(_));
                let carried = unknown_target
                    .as_ref()
                    .filter(|_| is_object && !held && !refused_by_rule);
                let carried = carried.map(
                    |unknown| quote!(#from::#name(value) if conversion.carries() => Ok(#to::#unknown(open(&value)?)),),
                );
                let pattern = if mentions(&converted.to_string(), "value") {
                    quote!(value)
                } else {
                    quote!(_)
                };
                quote!(#carried #from::#name(#pattern) => #converted,)
            });
            let arms: Vec<_> = arms.collect();
            let unknown = union_of(self.from, source)
                .and_then(unknown_variant)
                .map(|unknown| match &unknown_target {
                    Some(other) => quote!(#from::#unknown(json) => Ok(conversion.reinterpret(json, #to::#other)),),
                    None => quote!(#from::#unknown(json) => close(&json),),
                });
            return quote! {
                match value {
                    #(#arms)*
                    #unknown
                }
            };
        };
        if let (Some(name), unknown) = (&single.variant, union_of(self.from, source).and_then(unknown_variant)) {
            let (name, converted) = (ident(name), self.variant(single, &to));
            let unknown = unknown.map(|unknown| quote!(#from::#unknown(json) => close(&json),));
            return quote!(match value { #from::#name(value) => #converted, #unknown });
        }
        let converted = self.variant(single, &to);
        if mentions(&converted.to_string(), "value") {
            converted
        } else {
            quote!(drop(value); #converted)
        }
    }

    /// What becomes of `value`, which a variant holds.
    fn variant(&self, plan: &VariantPlan, to: &TokenStream) -> TokenStream {
        match &plan.how {
            VariantConversion::Converted { variant, boxed, moved } => {
                let (unboxed, reboxed) = match (plan.boxed, *boxed) {
                    (true, false) => (quote!((*value)), false),
                    (false, true) => (quote!(value), true),
                    _ => (quote!(value), false),
                };
                let wrap = variant.as_ref().map(|variant| {
                    let variant = ident(variant);
                    quote!(#to::#variant)
                });
                if *moved {
                    let value = if reboxed { quote!(Box::new(#unboxed)) } else { unboxed };
                    return match wrap {
                        Some(wrap) => quote!(Ok(#wrap(#value))),
                        None => quote!(Ok(#value)),
                    };
                }
                let converted = quote!(#unboxed.convert(conversion));
                let converted = if reboxed {
                    quote!(#converted.map(Box::new))
                } else {
                    converted
                };
                match wrap {
                    Some(wrap) => quote!(#converted.map(#wrap)),
                    None => converted,
                }
            }
            VariantConversion::Replaced { template, rule } => quote!(conversion.replace(&value, #template, #rule)),
            VariantConversion::NoCounterpart { name } => {
                quote!(Err(Unrepresentable::no_counterpart(#name, target::REVISION)))
            }
            VariantConversion::Refused(refusal) => {
                let refusal = refuse(refusal);
                quote!(Err(#refusal))
            }
        }
    }

    pub(super) fn is_object(&self, ty: &TypeRef) -> bool {
        match ty {
            TypeRef::Named(name) => match self.from.model.types.get(name).map(|ty| &ty.kind) {
                Some(TypeKind::Struct(_)) => true,
                Some(TypeKind::Union(union)) => union.variants.iter().all(|variant| variant.kind == JsonType::Object),
                _ => false,
            },
            TypeRef::OpenObject | TypeRef::Map(_) => true,
            _ => false,
        }
    }

    fn strings(&self, source: &TypeRef, target: &TypeRef, refused: &[String], closed: bool) -> TokenStream {
        let (from, to) = (self.source(source), self.target(target));
        let known = |revision: &RevisionInput<'_>, ty: &TypeRef| match ty {
            TypeRef::Named(name) => revision.items.enumeration(name).map(|item| item.variants.clone()),
            _ => None,
        };
        let (sources, targets) = (known(self.from, source), known(self.to, target));
        let open_text = |text: TokenStream| {
            let Some(unknown) = targets.as_ref().map(unknown_value).filter(|_| closed) else {
                return quote!(Ok(#to::from(#text)));
            };
            quote! {
                match #to::from(#text) {
                    #to::#unknown(text) if !conversion.carries() => {
                        Err(Unrepresentable::no_such_value(&text, target::REVISION))
                    }
                    known => Ok(known),
                }
            }
        };
        let Some(sources) = sources else {
            return open_text(quote!(self));
        };
        let Some(targets) = &targets else {
            return quote!(Ok(self.as_str().to_owned()));
        };
        let arms = sources.iter().map(|(value, variant)| match targets.get(value) {
            Some(other) => quote!(#from::#variant => Ok(#to::#other),),
            None if refused.contains(value) => quote! {
                #from::#variant if conversion.carries() => Ok(#to::from(#value)),
                #from::#variant => Err(Unrepresentable::no_such_value(#value, target::REVISION)),
            },
            None => quote!(#from::#variant => Ok(#to::from(#value)),),
        });
        let unknown = unknown_value(&sources);
        let other = open_text(quote!(text));
        quote! {
            match self {
                #(#arms)*
                #from::#unknown(text) => #other,
            }
        }
    }
}

/// A table of conversions, which begins with the enumeration of revisions and those that it is about.
fn table(name: &str, rows: &[String]) -> String {
    let about = match OPEN_TABLES.contains(&name) {
        true => "Revision:".to_owned(),
        false => format!("Revision: {SOURCE} => {TARGET};"),
    };
    format!("{name}! {{\n    {about}\n{}\n}}\n", rows.join("\n"))
}
