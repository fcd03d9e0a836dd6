//! The names of methods and members that sessions lose with a new revision, and those that replace them.

use super::renamed::successors_of_methods;
use crate::model::{Method, Model, SESSION_TYPES, TypeRef, declares_role, written_value};
use crate::problem::Problem;

/// Returns a warning for each role, and for each required capability, whose method or member the revision before a new one
/// has and the new one hasn't, or has by another name.
///
/// A method is only missed if the new revision has another one that could be meant.
pub(super) fn lost(before: &Model, after: &Model) -> Vec<Problem> {
    lost_roles(before, after)
        .chain(lost_capabilities(before, after))
        .collect()
}

fn lost_roles<'m>(before: &'m Model, after: &'m Model) -> impl Iterator<Item = Problem> + 'm {
    let revision = &after.revision;
    let gone = before.lifecycle.names.iter();
    let gone = gone.filter(|(role, name)| !declares_role(after, role, name));
    gone.filter_map(move |(role, name)| {
        if let Some(new) = after.lifecycle.names.get(role) {
            let what =
                format!("{revision} has `{new}` instead of `{name}`: its sessions use that for the role `{role}`");
            return Some(Problem::new("lifecycle.yaml", what).help("check that it means the same"));
        }
        if let Some(member) = after.member_anywhere(name).filter(|_| before.method(name).is_none()) {
            let (written, _) = written_value(after, role, &member.ty);
            let what = format!(
                "{revision} has another type of `{name}` than {written}, so its sessions lack what the role `{role}` is for"
            );
            let help = "if the schema is wrong, correct it by an entry under `corrections` in the revision's overlay.yaml";
            return Some(Problem::new("lifecycle.yaml", what).help(help));
        }
        let names = match before.method(name) {
            Some(method) => candidates(method, before, after)?,
            // The role of a member.
            None => Vec::new(),
        };
        let (such_as, new) = match &names[..] {
            [] => (String::new(), "…"),
            [only] => (such_as(&names), *only),
            _ => (such_as(&names), "…"),
        };
        let what = format!("{revision} has no `{name}`, so its sessions lack what the role `{role}` is for");
        let help = format!("if it has this by another name{such_as}, add the name: `{role}: [{name}, {new}]`");
        Some(Problem::new("lifecycle.yaml", what).help(help))
    })
}

fn lost_capabilities<'m>(before: &'m Model, after: &'m Model) -> impl Iterator<Item = Problem> + 'm {
    let revision = &after.revision;
    before.methods.iter().filter_map(move |method| {
        let (name, capability) = (&method.name, method.capability.as_ref()?);
        let renamed = || after.methods.iter().find(|other| other.definition == method.definition);
        let (what, help) = match after.method(name).or_else(renamed) {
            Some(same) if same.capability.is_some() => return None,
            Some(same) => (
                format!(
                    "{revision} doesn't declare `{capability}`, so `{}` requires no capability",
                    same.name
                ),
                format!(
                    "if it declares this by another name{}, add that to the line of the method",
                    moved_capability(capability, before, after).unwrap_or_default()
                ),
            ),
            None => {
                let names = candidates(method, before, after)?;
                (
                    format!("{revision} has no `{name}`, which requires `{capability}`"),
                    format!(
                        "if it has this by another name{}, add a line for that name",
                        such_as(&names)
                    ),
                )
            }
        };
        Some(Problem::new("capabilities.yaml", what).help(help))
    })
}

/// Returns the place of a capability in an object that the new revision puts around it, if there is only one.
fn moved_capability(capability: &str, before: &Model, after: &Model) -> Option<String> {
    let [client, server, ..] = SESSION_TYPES;
    let declaring = [client, server].into_iter();
    let declaring = declaring.filter(|ty| before.declares(&format!("{ty}.{capability}")));
    let places = declaring.flat_map(|ty| {
        let object = after.struct_of(&TypeRef::Named(ty.to_owned())).into_iter();
        let members = object.flat_map(|object| &object.members);
        members.map(move |member| format!("{ty}.{}.{capability}", member.name))
    });
    let places: Vec<String> = places.filter(|place| after.declares(place)).collect();
    match &places[..] {
        [only] => Some(format!(", such as `{only}`")),
        _ => None,
    }
}

/// Returns the new methods that a method of the earlier revision could have become: the one that seems to be the same, or else
/// all of its kind and direction.
fn candidates<'m>(method: &Method, before: &'m Model, after: &'m Model) -> Option<Vec<&'m str>> {
    let successor = successors_of_methods([before, after]).remove(&*method.name);
    let is_candidate = |other: &&Method| {
        let is_alike = (other.kind, other.direction) == (method.kind, method.direction);
        let is_known = before
            .methods
            .iter()
            .any(|known| known.name == other.name || known.definition == other.definition);
        let is_free = other.role.is_none() && other.capability.is_none() && !is_known;
        successor
            .as_ref()
            .map_or(is_alike && is_free, |successor| *successor == other.name)
    };
    let found = after.methods.iter().filter(is_candidate);
    let names: Vec<&str> = found.map(|other| other.name.as_str()).collect();
    (!names.is_empty()).then_some(names)
}

fn such_as(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!(", such as {}", names.join(" or "))
}
