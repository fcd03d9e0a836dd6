//! Strings with known values, and aliases.

use quote::quote;

use super::emitter::Emitter;
use super::names::ident;
use super::source::{Table, items};
use crate::error::EmitError;
use crate::model::names::{UNKNOWN, unique};
use crate::model::{Type, TypeRef};

impl Emitter<'_> {
    /// Emits an enumeration that also holds unknown values, and its table.
    pub(super) fn strings(&self, name: &str, ty: &Type, values: &[String], ordered: bool) -> Result<String, EmitError> {
        let Some(variants) = self.identifiers.of(name) else {
            return Ok(String::new());
        };
        let known = || values.iter().filter_map(|value| Some((value, variants.get(value)?)));
        let declared = known().map(|(value, variant)| {
            let docs = self.documenter.member(ty, value, None);
            quote!(#docs #variant)
        });
        let order = ordered.then(|| quote!(, PartialOrd, Ord));
        let taken = |name: &str| variants.values().any(|variant| variant == name);
        let (unknown, string) = (ident(&unique(UNKNOWN, taken)), self.scope.std("String"));
        let definition = self.enumeration(
            (name, ty),
            &quote!(, Eq, Hash #order),
            declared,
            Some((&unknown, "A value", string)),
        )?;
        let (macro_name, schema) = (self.scope.table("strings!"), self.scope.schema());
        let head = format!("{}: {schema}[{:?}]", ident(name), ty.pointer);
        let mut table = Table::new(&macro_name, &head);
        for (value, variant) in known() {
            table.row(&format!("{value:?} => {variant}"));
        }
        table.row(&format!("_ => {unknown}"));
        Ok(format!("{definition}\n{}", table.finish()))
    }

    /// Emits another name for a type.
    pub(super) fn alias(&self, name: &str, ty: &Type, target: &TypeRef) -> Result<String, EmitError> {
        let docs = self.documenter.ty(ty);
        let rust = ident(name);
        let target = self.scope.ty(target);
        items(name, quote!(#docs pub type #rust = #target;))
    }
}
