//! Which capability each method needs: data, because no schema says so.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Model, Need, TypeRef};

/// The members of capabilities that methods need, by method: `Type.member.member`. A key may name a member of the
/// parameters after the method, `method member` or `method member=value`: then only requests that have it need the capability.
pub type Capabilities = BTreeMap<String, OneOrMany>;

/// One member, or one for each side that may be asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One member.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    pub(super) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Puts the capabilities into a model's methods, where the model declares them.
pub fn gate_methods(model: &mut Model, capabilities: &Capabilities) {
    let gates: Vec<_> = model
        .methods
        .iter()
        .map(|method| {
            let gate = capabilities.get(&method.name);
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
            (gate.and_then(|places| declared(model, places)), needs.collect())
        })
        .collect();
    for (method, (gate, needs)) in model.methods.iter_mut().zip(gates) {
        (method.capability, method.needs) = (gate, needs);
    }
}

/// The first capability that a model declares.
fn declared(model: &Model, places: &OneOrMany) -> Option<String> {
    let mut paths = places.as_slice().iter().filter_map(|place| place.split_once('.'));
    let declared = paths.find(|(ty, path)| is_declared(model, ty, path));
    declared.map(|(_, path)| path.to_owned())
}

/// Whether a type declares a member, and that one the next.
fn is_declared(model: &Model, ty: &str, path: &str) -> bool {
    let mut at = TypeRef::Named(ty.to_owned());
    for member in path.split('.') {
        let object = model.struct_of(&at);
        let declared = object.and_then(|object| object.members.iter().find(|declared| declared.name == member));
        match declared {
            Some(declared) => at = declared.ty.clone(),
            None => return false,
        }
    }
    true
}
