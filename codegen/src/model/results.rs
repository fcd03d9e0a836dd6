//! The unions of results.

use std::collections::BTreeSet;

use mcp_wire::JsonType;

use super::names::{UNKNOWN, unique, variant_names};
use super::type_ref::TypeRef;
use super::types::Model;

/// The types of a union of results, each with the name of its variant.
#[must_use]
pub fn result_variants(methods: &[(String, Vec<TypeRef>)]) -> Vec<(TypeRef, String)> {
    let types: BTreeSet<&TypeRef> = methods.iter().flat_map(|(_, results)| results).collect();
    let types: Vec<TypeRef> = types.into_iter().cloned().collect();
    let names = variant_names(&types, &vec![JsonType::Object; types.len()], None);
    types.into_iter().zip(names).collect()
}

impl Model {
    /// The tag that tells the results of a method apart, and its value in each, if their union says so.
    #[must_use]
    pub fn result_tags(&self, method: &str, results: &[TypeRef]) -> Option<(&str, Vec<&str>)> {
        let method = self.methods.iter().find(|other| other.name == method)?;
        let union = self.union_of(method.result_union.as_ref()?)?;
        let (tag, values) = union.tags()?;
        let value_of = |result: &TypeRef| {
            let at = union.variants.iter().position(|variant| variant.ty == *result)?;
            values.get(at).copied()
        };
        let values: Option<Vec<&str>> = results.iter().map(value_of).collect();
        Some((tag, values?))
    }

    /// The variant of a union of results for those with an unknown tag, if a tag tells some of them apart.
    #[must_use]
    pub fn unknown_result(&self, methods: &[(String, Vec<TypeRef>)]) -> Option<String> {
        let mut tagged = methods
            .iter()
            .filter_map(|(method, results)| self.result_tags(method, results));
        let variants = result_variants(methods);
        let taken = |name: &str| variants.iter().any(|(_, variant)| variant == name);
        tagged.next().map(|_| unique(UNKNOWN, taken))
    }
}
