//! Strings with known values, and aliases.

use serde_json::json;

use super::Emitter;
use crate::error::EmitError;
use crate::model::names::{UNKNOWN, unique};
use crate::model::{Type, TypeRef};
use crate::normalise::Strings;
use crate::templates::render;

impl Emitter<'_> {
    /// Emits an enumeration that also holds unknown values, and its table.
    pub(super) fn strings(&self, name: &str, ty: &Type, strings: &Strings) -> Result<String, EmitError> {
        let Some(variants) = self.identifiers.of(name) else {
            return Ok(String::new());
        };
        let known = || {
            strings
                .values
                .iter()
                .filter_map(|value| Some((value, variants.get(value)?)))
        };
        let declared = known().map(|(value, variant)| {
            let docs = self.docs_of_member(ty, value, None);
            json!({"docs": docs, "declared": variant})
        });
        let unknown = unique(UNKNOWN, |name| variants.values().any(|variant| variant == name));
        let rows = known().map(|(value, variant)| format!("{value:?} => {variant}"));
        let values = json!({
            "docs": self.docs(ty),
            "name": name,
            "derived": if strings.ordered { ", Eq, Hash, PartialOrd, Ord" } else { ", Eq, Hash" },
            "variants": Vec::from_iter(declared),
            "about": "A value",
            "unknown": format!("{unknown}({})", self.std("String")),
            "table": self.table("strings!"),
            "head": format!("{name}: {}[{:?}]", self.schema(), ty.pointer),
            "rows": Vec::from_iter(rows.chain([format!("_ => {unknown}")])),
            "code": [],
        });
        render("parts/enum.rs", values)
    }

    /// Emits another name for a type.
    pub(super) fn alias(&self, name: &str, ty: &Type, target: &TypeRef) -> String {
        format!("{}pub type {name} = {};\n", self.docs(ty), self.ty(target))
    }
}
