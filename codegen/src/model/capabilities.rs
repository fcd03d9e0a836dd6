//! The capabilities that methods require: data, because schemas don't define them.

use std::collections::BTreeMap;

use super::method::Need;
use super::types::Model;
use crate::load::OneOrMany;

/// The capabilities that methods require, by method, each as the path of a member: `Type.member.member`. A key can
/// restrict the method's requests by a member of the parameters: `method member`, `method member=value` or
/// `method member!=value`. The suffix ` or empty` of a path means that an empty object around the member also declares
/// the capability.
pub(crate) type Capabilities = BTreeMap<String, OneOrMany>;

/// Adds the capabilities that the model declares to its methods.
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

/// Returns the first capability that a model declares, and whether an empty object around it also declares it.
fn declared(model: &Model, places: &OneOrMany) -> Option<(String, bool)> {
    places.iter().find_map(|line| {
        let place = bare_place(line);
        let (_, path) = place.split_once('.').filter(|_| model.declares(place))?;
        Some((path.to_owned(), place != line))
    })
}

/// Returns a path without ` or empty`.
pub(super) fn bare_place(place: &str) -> &str {
    place.strip_suffix(" or empty").unwrap_or(place)
}
