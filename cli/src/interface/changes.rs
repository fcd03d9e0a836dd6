//! The changes between two interfaces.

use std::collections::BTreeMap;

use serde_json::Value;

use super::schema::{Direction, compare};
use super::{Change, Effect};

/// The lists of an interface: the member with the list, the word for an item, and the member with the item's name.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools", "tool", "name"),
    ("resources", "resource", "uri"),
    ("resourceTemplates", "resource template", "uriTemplate"),
    ("prompts", "prompt", "name"),
];

/// The changes from one interface to another.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut changes = Changes::default();
    for (member, what, key) in LISTS {
        let (before, after) = (items(old, member, key), items(new, member, key));
        for (name, item) in &before {
            let subject = format!("{what} {name}");
            match after.get(name) {
                None => changes.add(Effect::Breaking, &subject, "removed"),
                Some(now) => changes.item(&subject, item, now),
            }
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            changes.add(Effect::Additive, &format!("{what} {name}"), "added");
        }
    }
    changes.capabilities(&old["capabilities"], &new["capabilities"]);
    if old["instructions"] != new["instructions"] {
        changes.add(Effect::Risky, "server", "instructions changed");
    }
    if old["revision"] != new["revision"] {
        let change = format!(
            "revision {} instead of {}",
            shown(&new["revision"]),
            shown(&old["revision"])
        );
        changes.add(Effect::Risky, "server", &change);
    }
    changes.0
}

#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn add(&mut self, effect: Effect, subject: &str, change: &str) {
        self.0.push(Change {
            effect,
            subject: subject.to_owned(),
            change: change.to_owned(),
        });
    }

    /// Adds the changes of an item that both interfaces have.
    fn item(&mut self, subject: &str, old: &Value, new: &Value) {
        let schemas = [("inputSchema", Direction::Input), ("outputSchema", Direction::Output)];
        for (member, direction) in schemas {
            match (&old[member], &new[member]) {
                (Value::Null, Value::Null) => {}
                (Value::Null, _) => self.add(Effect::Additive, subject, &format!("has {member} now")),
                (_, Value::Null) => self.add(Effect::Breaking, subject, &format!("has no {member} any more")),
                (old, new) => {
                    for (effect, change) in compare(direction, old, new) {
                        self.add(effect, subject, &change);
                    }
                }
            }
        }
        self.arguments(subject, old, new);
        let compared = ["inputSchema", "outputSchema", "arguments"];
        let members = old
            .as_object()
            .into_iter()
            .chain(new.as_object())
            .flat_map(serde_json::Map::keys);
        let mut members: Vec<_> = members.filter(|member| !compared.contains(&member.as_str())).collect();
        members.sort_unstable();
        members.dedup();
        for member in members.into_iter().filter(|member| old[*member] != new[*member]) {
            self.add(Effect::Risky, subject, &format!("{member} changed"));
        }
    }

    /// Adds the changes of a prompt's arguments.
    fn arguments(&mut self, subject: &str, old: &Value, new: &Value) {
        let (before, after) = (items(old, "arguments", "name"), items(new, "arguments", "name"));
        let is_required = |argument: &Value| argument["required"] == true;
        for (name, argument) in &before {
            let Some(now) = after.get(name) else {
                self.add(Effect::Risky, subject, &format!("argument {name} removed"));
                continue;
            };
            match (is_required(argument), is_required(now)) {
                (false, true) => self.add(Effect::Breaking, subject, &format!("argument {name} is required now")),
                (true, false) => self.add(Effect::Additive, subject, &format!("argument {name} is optional now")),
                _ => {}
            }
            if argument["description"] != now["description"] {
                self.add(
                    Effect::Risky,
                    subject,
                    &format!("description of argument {name} changed"),
                );
            }
        }
        for (name, argument) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
            let (effect, kind) = match is_required(argument) {
                true => (Effect::Breaking, "required"),
                false => (Effect::Additive, "optional"),
            };
            self.add(effect, subject, &format!("{kind} argument {name} added"));
        }
    }

    /// Adds the changes of the server's capabilities.
    fn capabilities(&mut self, old: &Value, new: &Value) {
        let (before, after) = (old.as_object(), new.as_object());
        for (name, _) in before.into_iter().flatten() {
            if new.get(name).is_none() {
                self.add(Effect::Breaking, &format!("capability {name}"), "removed");
            }
        }
        for (name, now) in after.into_iter().flatten() {
            let subject = format!("capability {name}");
            match old.get(name) {
                None => self.add(Effect::Additive, &subject, "added"),
                Some(before) if before != now => {
                    self.add(Effect::Risky, &subject, &format!("{now} instead of {before}"));
                }
                Some(_) => {}
            }
        }
    }
}

/// The items of a list by name.
fn items<'v>(value: &'v Value, member: &str, key: &str) -> BTreeMap<&'v str, &'v Value> {
    let items = value[member].as_array().into_iter().flatten();
    items.filter_map(|item| Some((item[key].as_str()?, item))).collect()
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn removals_and_new_required_arguments_are_breaking() {
        let old = json!({"tools": [{"name": "a"}, {"name": "b", "description": "B"}], "capabilities": {"tools": {}},
            "prompts": [{"name": "p", "arguments": [{"name": "x"}, {"name": "y", "required": true}]}]});
        let new = json!({"tools": [{"name": "b", "description": "C"}, {"name": "c"}], "capabilities": {},
            "prompts": [{"name": "p", "arguments": [{"name": "x", "required": true}, {"name": "z"}]}]});
        let mut found: Vec<_> = changes(&old, &new).iter().map(line).collect();
        found.sort();
        assert_eq!(
            found,
            [
                "additive prompt p: optional argument z added",
                "additive tool c: added",
                "breaking capability tools: removed",
                "breaking prompt p: argument x is required now",
                "breaking tool a: removed",
                "risky prompt p: argument y removed",
                "risky tool b: description changed",
            ]
        );
        assert_eq!(changes(&old, &old), []);
    }

    fn line(change: &Change) -> String {
        format!("{} {}: {}", change.effect.name(), change.subject, change.change)
    }
}
