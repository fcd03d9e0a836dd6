//! The public items of a types crate.

use std::collections::BTreeMap;

use crate::model::{Member, Model, Type, TypeKind, result_variants};

/// The public items of a types crate by their paths, each with its signature: the properties on which code that uses it
/// relies, as a string for comparison.
#[derive(Debug)]
pub(super) struct Api(BTreeMap<String, String>);

impl Api {
    pub(super) fn of(model: &Model) -> Self {
        let mut api = Self(BTreeMap::new());
        for (name, ty) in &model.types {
            api.add_type(&format!("{}::{name}", ty.module), ty, model);
        }
        for code in &model.error_codes {
            api.add(format!("error_code::{}", code.name), code.code.to_string());
        }
        for method in &model.methods {
            let results = &method.results;
            let signature = format!("{:?} {} {results:?}", method.direction, method.ty);
            api.add(format!("METHODS[{:?}]", method.name), signature);
        }
        api
    }

    fn add(&mut self, path: impl Into<String>, signature: impl Into<String>) {
        self.0.insert(path.into(), signature.into());
    }

    fn add_type(&mut self, path: &str, ty: &Type, model: &Model) {
        let kind = match &ty.kind {
            TypeKind::Struct(object) => {
                for constant in object.constants.iter().filter(|constant| !constant.required) {
                    self.add(format!("{path}.{}", constant.name), "an optional constant");
                }
                for member in &object.members {
                    self.add(format!("{path}.{}", member.name), field(member));
                }
                "struct".to_owned()
            }
            TypeKind::Strings(strings) => {
                for value in &strings.values {
                    self.add(format!("{path}::{value:?}"), "");
                }
                format!("enum, ordered: {}", strings.ordered)
            }
            TypeKind::Union(union) => {
                for variant in &union.variants {
                    let held = format!("{:?}, boxed: {}", variant.ty, variant.boxed);
                    self.add(format!("{path}::{}", variant.name), held);
                }
                "enum".to_owned()
            }
            TypeKind::Methods(methods) => {
                for (method, ty) in methods {
                    self.add(format!("{path}::{method:?}"), ty);
                }
                "enum".to_owned()
            }
            TypeKind::Results(methods) => {
                for (held, variant) in result_variants(methods) {
                    self.add(format!("{path}::{variant}"), format!("{held:?}"));
                }
                if let Some(unknown) = model.unknown_result(methods) {
                    self.add(format!("{path}::{unknown}"), "unknown");
                }
                "enum".to_owned()
            }
            TypeKind::Alias(target) => format!("alias of {target:?}"),
        };
        self.add(path, kind);
    }

    /// Returns the breaking changes in a later API, a sentence each: items that are gone or different, and new parts of
    /// types that this one has, since types are constructed or matched exhaustively.
    pub(super) fn breaks(&self, later: &Self) -> Vec<String> {
        let lost = self.0.iter().filter_map(|(path, signature)| match later.0.get(path) {
            None => Some(format!("`{path}` is gone.")),
            Some(other) if other != signature => Some(format!("`{path}` has another type.")),
            Some(_) => None,
        });
        let is_new = |path: &&String| !self.0.contains_key(*path) && self.0.contains_key(whole(path));
        let added = later.0.keys().filter(is_new);
        let added = added.map(|path| format!("`{path}` is new in a type with only public parts."));
        lost.chain(added).collect()
    }

    /// Whether another API has items that this one lacks.
    pub(super) fn lacks(&self, later: &Self) -> bool {
        later.0.keys().any(|path| !self.0.contains_key(path))
    }
}

/// Describes the properties of a field that matter to code which reads, writes or constructs it.
fn field(member: &Member) -> String {
    let (ty, required, boxed, argument) = (&member.ty, member.required, member.is_boxed(), member.is_argument());
    format!("{ty:?}, required: {required}, boxed: {boxed}, argument: {argument}")
}

/// The path of the type that a part belongs to: `module::Type`, before the `.` or the second `::`.
fn whole(part: &str) -> &str {
    let module = part.find("::").map_or(0, |at| at + 2);
    let end = part[module..].find(['.', ':']).map_or(part.len(), |at| module + at);
    &part[..end]
}
