//! Members that a new revision seems to have renamed, and the rules that keep their values.

use std::collections::BTreeMap;

use serde_json::json;

use crate::model::{Member, Model, ModelledRevision, Struct, TypeRef};
use crate::problem::Problem;

/// Returns a warning for each member that a new revision doesn't have, if each type that had it has one new member that
/// could be the same.
pub(super) fn renamed(before: &ModelledRevision, after: &ModelledRevision) -> Vec<Problem> {
    let revision = &after.model.revision;
    let models = [&before.model, &after.model];
    let mut found = BTreeMap::<[&str; 2], Vec<&str>>::new();
    for name in before.model.types.keys() {
        let ty = TypeRef::Named(name.clone());
        if let [Some(earlier), Some(later)] = models.map(|model| model.struct_of(&ty)) {
            for names in successors(models, [earlier, later]) {
                found.entry(names).or_default().push(name);
            }
        }
    }
    let rules = &after.documents.rules;
    let is_ruled = |new: &str| {
        rules.root()["rules"]
            .as_array()
            .is_some_and(|rules| rules.iter().any(|rule| rule["renamed"] == new))
    };
    let has_role = |names: [&str; 2]| {
        let role = models[0].lifecycle.names.iter().find(|(_, name)| **name == names[0]);
        role.is_some_and(|(role, _)| models[1].lifecycle.names.get(role).is_some_and(|name| name == names[1]))
    };
    let new = found
        .into_iter()
        .filter(|(names, _)| !is_ruled(names[1]) && !has_role(*names));
    let warnings = new.map(|([old, new], types)| {
        let at = match types[..] {
            [only] => format!("{only}.{old}"),
            _ => format!("*.{old}"),
        };
        let what = format!(
            "{revision} has `{new}` instead of `{old}` in {}: conversions lose the value",
            types.join(", ")
        );
        let help = format!(
            "if it is the same member, add this line under `rules` in the revision's adapt.yaml: \
             - {{at: {}, renamed: {}, why: \"…\", link: \"https://…\"}}",
            json!(at),
            json!(new)
        );
        Problem::new(rules.file(), what).help(help)
    });
    warnings.collect()
}

/// Returns the members that the later object doesn't declare, each with the only new one that is like it, and like no
/// other.
fn successors<'m>(models: [&Model; 2], objects: [&'m Struct; 2]) -> Vec<[&'m str; 2]> {
    let [gone, new] = [0, 1].map(|index| {
        let members = objects[index].members.iter();
        let only_here = members.filter(|member| !objects[1 - index].declares(&member.name));
        only_here.collect::<Vec<&Member>>()
    });
    let is_alike = |old: &Member, new: &Member| {
        old.required == new.required && models[0].resolve(&old.ty) == models[1].resolve(&new.ty)
    };
    let pairs = gone.iter().filter_map(|old| {
        let mut alike = new.iter().filter(|new| is_alike(old, new));
        let only = alike.next().filter(|_| alike.next().is_none())?;
        let is_only = gone.iter().filter(|old| is_alike(old, only)).count() == 1;
        is_only.then_some([old.name.as_str(), only.name.as_str()])
    });
    pairs.collect()
}
