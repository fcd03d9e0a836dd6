//! Which capability each method needs: data, because no schema says so.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::declares::declares;
use super::{Model, Need};

/// The members of capabilities that methods need, by method: `Type.member.member`. A key may name a member of the
/// parameters after the method, `method member` or `method member=value`: then only requests that have it need the capability.
pub type Capabilities = BTreeMap<String, OneOrMany>;

/// One place, or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    pub(crate) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Puts the capabilities into a model's methods, where the model declares them.
pub fn require_capabilities(model: &mut Model, capabilities: &Capabilities) {
    let found: Vec<_> = model
        .methods
        .iter()
        .map(|method| {
            let places = capabilities.get(&method.name);
            let needs = capabilities.iter().filter_map(|(key, places)| {
                let (name, asked) = key.split_once(' ')?;
                let capability = declared(model, places).filter(|_| name == method.name)?;
                let (member, value) = match asked.split_once('=') {
                    Some((member, value)) => (member, Some(value.to_owned())),
                    None => (asked, None),
                };
                Some(Need {
                    member: member.to_owned(),
                    value,
                    capability,
                })
            });
            (places.and_then(|places| declared(model, places)), needs.collect())
        })
        .collect();
    for (method, found) in model.methods.iter_mut().zip(found) {
        (method.capability, method.needs) = found;
    }
}

/// The first capability that a model declares.
fn declared(model: &Model, places: &OneOrMany) -> Option<String> {
    let mut paths = places.as_slice().iter().filter_map(|place| place.split_once('.'));
    let declared = paths.find(|(ty, path)| declares(model, ty, path));
    declared.map(|(_, path)| path.to_owned())
}
