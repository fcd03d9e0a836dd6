//! Which capability each method needs: data, because no schema says so.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Model, TypeRef};

/// The members of capabilities that methods need, by method: `Type.member.member`.
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
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Puts the capabilities into a model's methods, where the model declares them.
pub fn gate_methods(model: &mut Model, capabilities: &Capabilities) {
    let gates: Vec<Option<String>> = model
        .methods
        .iter()
        .map(|method| {
            let places = capabilities
                .get(&method.name)
                .map(OneOrMany::as_slice)
                .unwrap_or_default();
            let mut paths = places.iter().filter_map(|place| place.split_once('.'));
            let declared = paths.find(|(ty, path)| is_declared(model, ty, path));
            declared.map(|(_, path)| path.to_owned())
        })
        .collect();
    for (method, gate) in model.methods.iter_mut().zip(gates) {
        method.capability = gate;
    }
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
