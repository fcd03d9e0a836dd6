//! Tolerated mistakes in results: data, because schemas don't define them.

use serde::Deserialize;
use serde_json::Value;

use super::method::{Method, Tolerance};
use super::type_ref::TypeRef;
use super::types::Model;
use crate::load::{OneOrMany, present};

/// The tolerated mistakes in results.
pub(crate) type Tolerances = Vec<ToleranceEntry>;

/// A tolerated mistake in one or several members of results.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToleranceEntry {
    /// The members, each as `Type.member`.
    at: OneOrMany,
    /// The wrong value; `None` for a missing member.
    #[serde(default, deserialize_with = "present")]
    found: Option<Value>,
    /// Another member that must be present for it to be tolerated.
    beside: Option<String>,
    /// The value that is read instead; `None` if unreadable entries of the member, a list, are left out.
    #[serde(default, deserialize_with = "present")]
    read: Option<Value>,
}

impl ToleranceEntry {
    /// Returns all members that it mentions, as `Type.member`.
    pub(super) fn places(&self) -> Vec<String> {
        let places = self.at.iter().flat_map(|place| {
            let ty = place.split('.').next().unwrap_or_default();
            let beside = self.beside.iter().map(move |beside| format!("{ty}.{beside}"));
            beside.chain([place.clone()])
        });
        places.collect()
    }
}

/// Adds the tolerances to a model's methods, if the model declares the members.
pub(crate) fn add_tolerances(model: &mut Model, tolerances: &Tolerances) {
    let of_type = |ty: &TypeRef| {
        let (Some(name), Some(object)) = (ty.as_named(), model.struct_of(ty)) else {
            return Vec::new();
        };
        let declares = |member: &str| object.member(member).is_some();
        let places = tolerances
            .iter()
            .flat_map(|entry| entry.at.iter().map(move |place| (place, entry)));
        let entries = places.filter_map(|(place, entry)| {
            let (_, member) = place.split_once('.').filter(|(ty, _)| *ty == name)?;
            let is_declared = declares(member) && entry.beside.as_deref().is_none_or(declares);
            is_declared.then(|| Tolerance {
                member: member.to_owned(),
                found: entry.found.as_ref().map(Value::to_string),
                beside: entry.beside.clone(),
                read: entry.read.as_ref().map(Value::to_string),
            })
        });
        entries.collect()
    };
    let of_method = |method: &Method| method.results.iter().flat_map(of_type).collect();
    let found: Vec<Vec<Tolerance>> = model.methods.iter().map(of_method).collect();
    for (method, tolerances) in model.methods.iter_mut().zip(found) {
        method.tolerances = tolerances;
    }
}
