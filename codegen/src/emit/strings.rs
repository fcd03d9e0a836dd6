//! Strings with known values, and aliases.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use quote::quote;
use syn::parse_quote;

use super::emitter::Emitter;
use super::source::{Table, items};
use super::tokens::ident;
use crate::error::EmitError;
use crate::model::names::{UNKNOWN, unique};
use crate::model::{Type, TypeRef};

/// The variant that holds a value that isn't among the known ones.
pub(super) fn unknown_value(variants: &BTreeMap<String, Ident>) -> Ident {
    ident(&unique(UNKNOWN, |name| {
        variants.values().any(|variant| variant == name)
    }))
}

impl Emitter<'_> {
    /// An enumeration that also holds what it doesn't know, and its table.
    pub(super) fn strings(&self, name: &str, ty: &Type, values: &[String], ordered: bool) -> Result<String, EmitError> {
        let Some(enumeration) = self.items.enumeration(name) else {
            return Ok(String::new());
        };
        let variants = &enumeration.names;
        let unknown = unknown_value(variants);
        let known: Vec<(&String, &Ident)> = values
            .iter()
            .filter_map(|value| Some((value, variants.get(value)?)))
            .collect();
        let mut laid_out = enumeration.item.clone();
        let order = ordered.then(|| quote!(, PartialOrd, Ord));
        laid_out.attrs = vec![parse_quote!(#[derive(Debug, Clone, PartialEq, Eq, Hash #order)])];
        let of_values: Vec<syn::Variant> = laid_out.variants.iter().cloned().collect();
        laid_out.variants = known
            .iter()
            .filter_map(|(value, variant)| {
                let docs = self.documenter.member(ty, value, None);
                let item = of_values.iter().find(|other| other.ident == **variant)?;
                syn::parse2::<syn::Variant>(quote!(#docs #item)).ok()
            })
            .collect();
        let string = self.scope.std("String");
        laid_out.variants.push(parse_quote! {
            /// A value that the schema doesn't declare, as it came.
            #unknown(#string)
        });
        let docs = self.documenter.ty(ty);
        let definition = items(name, quote!(#docs #laid_out))?;
        let (macro_name, schema) = (self.scope.table("strings!"), self.scope.schema());
        let head = format!("{}: {schema}[{:?}]", ident(name), ty.pointer);
        let mut table = Table::new(&macro_name, &head);
        for (value, variant) in known {
            table.row(&format!("{value:?} => {variant}"));
        }
        table.row(&format!("_ => {unknown}"));
        Ok(format!("{definition}\n{}", table.finish()))
    }

    /// Another name for a type.
    pub(super) fn alias(&self, name: &str, ty: &Type, target: &TypeRef) -> Result<String, EmitError> {
        let docs = self.documenter.ty(ty);
        let rust = ident(name);
        let target = self.scope.ty(target);
        items(name, quote!(#docs pub type #rust = #target;))
    }
}
