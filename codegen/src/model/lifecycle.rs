//! Which methods a session deals with by itself: data, because no schema says so.

use std::collections::BTreeMap;

use super::Model;

/// The method of each role in a session.
pub type Lifecycle = BTreeMap<String, String>;

/// The roles that there are.
pub(super) const ROLES: [&str; 7] = [
    "acknowledge",
    "begin",
    "cancel",
    "discover",
    "listen",
    "ping",
    "progress",
];

/// Puts the roles into a model's methods.
pub fn assign_roles(model: &mut Model, lifecycle: &Lifecycle) {
    for method in &mut model.methods {
        let role = lifecycle.iter().find(|(_, name)| **name == method.name);
        method.role = role.map(|(role, _)| role.clone());
    }
}
