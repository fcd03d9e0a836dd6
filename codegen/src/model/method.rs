//! What a model says of a method: also the capabilities that it needs and the mistakes in its results that are put up with, which are data,
//! because no schema says so.

use std::collections::BTreeMap;

use mcp_wire::Direction;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::type_ref::TypeRef;
use super::types::Model;
use crate::load::{OneOrMany, present};
use crate::messages::MessageKind;

/// A method.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Method {
    pub(crate) name: String,
    /// Whether an answer is expected.
    pub(crate) kind: MessageKind,
    pub(crate) direction: Direction,
    /// The Rust type of the request or notification.
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The official name of the request or notification.
    pub(crate) definition: String,
    /// What a session does with it automatically, so that no handler is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<String>,
    /// The capability that it needs, as the way from the object of capabilities to a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capability: Option<String>,
    /// What it needs besides, for what its parameters say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<Need>,
    /// What may come back, the usual result first; nothing for a notification.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) results: Vec<TypeRef>,
    /// The union of the results, where the schema has one and the value of a tag distinguishes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result_union: Option<TypeRef>,
    /// What is tolerated in a result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tolerances: Vec<Tolerance>,
}

/// A capability that a request needs for what its parameters say.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Need {
    /// The member of the parameters that needs it.
    pub(crate) member: String,
    /// The member's value, if no other needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// The member's value, if every other needs it, and its absence too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) other_than: Option<String>,
    /// The way from the object of capabilities to a member.
    pub(crate) capability: String,
    /// Whether an empty object around that member offers it too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) or_empty: bool,
}

/// What is tolerated in a member of a method's result.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Tolerance {
    pub(crate) member: String,
    /// What is there as JSON; `None` for a member that is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<String>,
    /// The member without which it isn't tolerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) beside: Option<String>,
    pub(crate) read: String,
}

/// The members of capabilities that methods need, by method: `Type.member.member`. A key may name a member of the
/// parameters after the method, `method member`, `method member=value` or `method member!=value`: then only requests that have it, or
/// don't have that value, need the capability. After a place, ` or empty` says that an empty object around the member offers it too.
pub(crate) type Capabilities = BTreeMap<String, OneOrMany>;

/// Puts the capabilities into a model's methods, where the model declares them.
pub(crate) fn require_capabilities(model: &mut Model, capabilities: &Capabilities) {
    let mut methods = std::mem::take(&mut model.methods);
    for method in &mut methods {
        let places = capabilities.get(&method.name);
        let capability = places.and_then(|places| declared(model, places));
        method.capability = capability.map(|(path, _)| path);
        let needs = capabilities.iter().filter_map(|(key, places)| {
            let (name, asked) = key.split_once(' ')?;
            let (capability, or_empty) = declared(model, places).filter(|_| name == method.name)?;
            let (member, value) = asked.split_once('=').unzip();
            let value = value.map(str::to_owned);
            let (member, value, other_than) = match member.unwrap_or(asked) {
                member if member.ends_with('!') => (&member[..member.len() - 1], None, value),
                member => (member, value, None),
            };
            Some(Need {
                member: member.to_owned(),
                value,
                other_than,
                capability,
                or_empty,
            })
        });
        method.needs = needs.collect();
    }
    model.methods = methods;
}

/// The first capability that a model declares, and whether an empty object around it offers it too.
fn declared(model: &Model, places: &OneOrMany) -> Option<(String, bool)> {
    places.iter().find_map(|line| {
        let place = bare_place(line);
        let (_, path) = place.split_once('.').filter(|_| model.declares(place))?;
        Some((path.to_owned(), place != line))
    })
}

/// A place without ` or empty`.
pub(super) fn bare_place(place: &str) -> &str {
    place.strip_suffix(" or empty").unwrap_or(place)
}

/// What is tolerated in results.
pub(crate) type Tolerances = Vec<ToleranceEntry>;

/// What is tolerated in a member of a result, or in several.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToleranceEntry {
    /// The members, each as `Type.member`.
    at: OneOrMany,
    /// What is there; `None` for a member that is absent.
    #[serde(default, deserialize_with = "present")]
    found: Option<Value>,
    /// The member without which it isn't tolerated.
    beside: Option<String>,
    read: Value,
}

impl ToleranceEntry {
    /// Every member that it is about, as `Type.member`.
    pub(super) fn places(&self) -> OneOrMany {
        let places = self.at.iter().flat_map(|place| {
            let ty = place.split('.').next().unwrap_or_default();
            let beside = self.beside.iter().map(move |beside| format!("{ty}.{beside}"));
            beside.chain([place.clone()])
        });
        OneOrMany(places.collect())
    }
}

/// Puts the tolerances into a model's methods, where the model declares the members.
pub(crate) fn add_tolerances(model: &mut Model, tolerances: &Tolerances) {
    let of_type = |ty: &TypeRef| {
        let TypeRef::Named(name) = ty else { return Vec::new() };
        let Some(object) = model.struct_of(ty) else {
            return Vec::new();
        };
        let declares = |member: &str| object.member(member).is_some();
        let places = tolerances
            .iter()
            .flat_map(|entry| entry.at.iter().map(move |place| (place, entry)));
        let entries = places.filter_map(|(place, entry)| {
            let (_, member) = place.split_once('.').filter(|(ty, _)| ty == name)?;
            let is_declared = declares(member) && entry.beside.as_deref().is_none_or(declares);
            is_declared.then(|| Tolerance {
                member: member.to_owned(),
                found: entry.found.as_ref().map(Value::to_string),
                beside: entry.beside.clone(),
                read: entry.read.to_string(),
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
