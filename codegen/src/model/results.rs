//! Results and their unions.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::JsonType;

use super::embedded_requests::DIRECT;
use super::method::Method;
use super::names::{UNKNOWN, unique, variant_names};
use super::type_ref::TypeRef;
use super::types::{Model, Struct, Type, TypeKind};

/// Returns the types of a union of results, each with the name of its variant.
pub(crate) fn result_variants(methods: &[(String, Vec<TypeRef>)]) -> Vec<(TypeRef, String)> {
    let types: BTreeSet<&TypeRef> = methods.iter().flat_map(|(_, results)| results).collect();
    let types: Vec<TypeRef> = types.into_iter().cloned().collect();
    let names = variant_names(&types, &vec![JsonType::Object; types.len()], None);
    types.into_iter().zip(names).collect()
}

impl Model {
    /// Returns the tag that distinguishes the results of a method, and its value in each, if their union has one.
    pub(crate) fn result_tags(&self, method: &str, results: &[TypeRef]) -> Option<(&str, Vec<&str>)> {
        let Some(union) = &self.method(method)?.result_union else {
            return self.common_tag(results);
        };
        let union = self.union_of(union)?;
        let tagged = union.tagged()?;
        let value_of = |result: &TypeRef| {
            let found = tagged.variants.iter().find(|(ty, _)| *ty == result);
            found.map(|(_, value)| *value)
        };
        let values: Option<Vec<&str>> = results.iter().map(value_of).collect();
        Some((tagged.tag, values?))
    }

    /// Returns the required text that distinguishes results which no definition unites, and its value in each.
    fn common_tag<'m>(&'m self, results: &[TypeRef]) -> Option<(&'m str, Vec<&'m str>)> {
        let tags = |ty: &TypeRef| {
            let object = self.struct_of(ty)?;
            let members = object.members.iter();
            let members = members.filter_map(|member| Some((member.name.as_str(), member.tag.as_deref()?)));
            let constants = object.constants.iter().filter(|constant| constant.required);
            let constants = constants.filter_map(|constant| Some((constant.name.as_str(), constant.value.text()?)));
            Some(members.chain(constants).collect::<BTreeMap<_, _>>())
        };
        let tags: Vec<BTreeMap<&str, &str>> = results.iter().map(tags).collect::<Option<_>>()?;
        let (first, others) = tags.split_first().filter(|(_, others)| !others.is_empty())?;
        first.keys().find_map(|name| {
            let values = std::iter::once(first).chain(others).map(|tags| tags.get(name).copied());
            let values: Vec<&str> = values.collect::<Option<_>>()?;
            let is_distinct = BTreeSet::from_iter(&values).len() == values.len();
            is_distinct.then_some((*name, values))
        })
    }

    /// Returns the name of the variant for results with an unknown tag, if a tag distinguishes some results of the
    /// union.
    pub(crate) fn unknown_result(&self, methods: &[(String, Vec<TypeRef>)]) -> Option<String> {
        let mut tagged = methods
            .iter()
            .filter_map(|(method, results)| self.result_tags(method, results));
        let variants = result_variants(methods);
        let taken = |name: &str| variants.iter().any(|(_, variant)| variant == name);
        tagged.next().map(|_| unique(UNKNOWN, taken))
    }

    /// Returns the forms of a method's result: the usual one, and those that a member distinguishes from it, each with
    /// its distinguishing member.
    pub(crate) fn result_forms<'m>(&self, results: &'m [TypeRef]) -> Vec<(&'m TypeRef, Option<String>)> {
        let Some((usual, others)) = results.split_first() else {
            return Vec::new();
        };
        let required = |ty| self.struct_of(ty).into_iter().flat_map(Struct::required);
        let is_usual = |name: &str| self.struct_of(usual).is_some_and(|usual| usual.member(name).is_some());
        // The usual form is recognised by its first required member, the others by a required member that the usual one
        // doesn't declare.
        let told_by = required(usual).next().cloned();
        let others = others.iter().filter_map(|other| {
            let own = required(other).find(|name| !is_usual(name))?;
            Some((other, Some(own.clone())))
        });
        let others: Vec<_> = others.filter(|_| told_by.is_some()).collect();
        let told_by = told_by.filter(|_| !others.is_empty());
        std::iter::once((usual, told_by)).chain(others).collect()
    }

    /// Returns the pointer of the request or notification of a method.
    pub(crate) fn pointer_of(&self, method: &Method) -> &str {
        self.types.get(&method.ty).map_or("", |ty| ty.pointer.as_str())
    }

    /// Returns the pointers of the results of a method, the usual one first.
    pub(crate) fn result_pointers<'m>(&'m self, method: &'m Method) -> Vec<&'m str> {
        let mut results: Vec<&str> = method.results.iter().flat_map(|ty| self.pointers(ty)).collect();
        let stem = self.pointer_of(method).strip_suffix("Request");
        results.sort_by_key(|pointer| stem.is_none() || pointer.strip_suffix("Result") != stem);
        results
    }

    /// Returns the pointer of a result, or those of its forms if their union is unnamed.
    fn pointers<'m>(&'m self, ty: &'m TypeRef) -> Vec<&'m str> {
        match ty.named().and_then(|name| self.types.get(name)) {
            Some(Type {
                official: false,
                kind: TypeKind::Union(union),
                ..
            }) => union.variants.iter().flat_map(|form| self.pointers(&form.ty)).collect(),
            Some(named) => vec![&named.pointer],
            None => Vec::new(),
        }
    }

    /// Returns the names of the unions of a side's requests and of their results. For a server, these can be the
    /// requests in its results.
    pub(crate) fn requests_of(&self, side: &str) -> (&str, &str) {
        match side {
            "Client" => ("ClientRequest", "ServerResult"),
            _ => self.input_requests().first().copied().unwrap_or(DIRECT),
        }
    }
}
