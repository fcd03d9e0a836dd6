//! The names of methods and members that sessions lose with a new revision, and those that replace them.

use crate::model::{Method, Model, declares_role};
use crate::problem::Problem;
use crate::protocol::Protocol;

/// Returns a warning for each role, and for each required capability, whose method or member the revision before a new one
/// has and the new one hasn't, or has by another name.
///
/// A method is only missed if the new revision has another one that could be meant.
pub(super) fn lost(protocol: &Protocol, revision: &str) -> Vec<Problem> {
    let models = protocol.revisions.iter().map(|revision| &revision.model);
    let mut pairs = models.clone().zip(models.skip(1));
    let Some((before, after)) = pairs.find(|(_, after)| after.revision == revision) else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    for (role, name) in &before.lifecycle.names {
        if declares_role(after, role, name) {
            continue;
        }
        if let Some(new) = after.lifecycle.names.get(role) {
            let what =
                format!("{revision} has `{new}` instead of `{name}`: its sessions use that for the role `{role}`");
            warnings.push(Problem::new("lifecycle.yaml", what).help("check that it means the same"));
            continue;
        }
        let such_as = match before.method(name) {
            Some(method) => candidates(method, before, after).map(|names| format!(", such as {names}")),
            // The role of a member.
            None => Some(String::new()),
        };
        let Some(such_as) = such_as else { continue };
        let what = format!("{revision} has no `{name}`, so its sessions lack what the role `{role}` is for");
        let help = format!("if it has this by another name{such_as}, add the name: `{role}: [{name}, …]`");
        warnings.push(Problem::new("lifecycle.yaml", what).help(help));
    }
    for method in &before.methods {
        let is_renamed = after.methods.iter().any(|other| other.definition == method.definition);
        let Some(capability) = method.capability.as_ref().filter(|_| !is_renamed) else {
            continue;
        };
        if let (None, Some(names)) = (after.method(&method.name), candidates(method, before, after)) {
            let what = format!("{revision} has no `{}`, which requires `{capability}`", method.name);
            let help = format!("if it has this by another name, such as {names}, add a line for that name");
            warnings.push(Problem::new("capabilities.yaml", what).help(help));
        }
    }
    warnings
}

/// Returns the new methods that a method of the earlier revision could have become.
fn candidates(method: &Method, before: &Model, after: &Model) -> Option<String> {
    let is_candidate = |other: &&Method| {
        let is_alike = (other.kind, other.direction) == (method.kind, method.direction);
        is_alike && other.role.is_none() && other.capability.is_none() && before.method(&other.name).is_none()
    };
    let found = after.methods.iter().filter(is_candidate);
    let names: Vec<String> = found.map(|other| format!("`{}`", other.name)).collect();
    (!names.is_empty()).then(|| names.join(" or "))
}
