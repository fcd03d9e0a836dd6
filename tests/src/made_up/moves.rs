//! Capabilities that move into another object.

use fastrand::Rng;
use serde_json::{Value, json};

/// The definitions that declare capabilities.
const SIDES: [&str; 2] = ["ClientCapabilities", "ServerCapabilities"];

/// The capabilities that are moved.
#[derive(Default)]
pub(super) struct Moves(Vec<Move>);

struct Move {
    side: &'static str,
    /// The name of the capability in the previous revision.
    member: String,
    /// Its new name.
    new: String,
    /// The object that it moves into.
    into: String,
}

impl Moves {
    /// Chooses a capability of each side. `name` returns the new name of a member.
    pub(super) fn of_seed(rng: &mut Rng, schema: &Value, name: impl Fn(&str) -> String) -> Self {
        let moves = SIDES.into_iter().filter_map(|side| {
            let members = schema["$defs"][side]["properties"].as_object()?;
            let members: Vec<&String> = members.keys().collect();
            let member = rng.choice(members)?;
            Some(Move {
                side,
                member: member.clone(),
                new: name(member),
                into: format!("{}Features", side.to_lowercase()),
            })
        });
        Self(moves.collect())
    }

    /// Moves the capabilities in a schema that has the new names.
    pub(super) fn apply(&self, schema: &mut Value) {
        for Move { side, new, into, .. } in &self.0 {
            let members = schema["$defs"][side]["properties"].as_object_mut().unwrap();
            let moved = members.remove(new).unwrap();
            members.insert(into.clone(), json!({"type": "object", "properties": {new: moved}}));
        }
    }

    /// Returns JSON in which strings that are paths of moved capabilities have the new paths.
    pub(super) fn apply_to_places(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.place(text)),
            Value::Array(elements) => elements.iter().map(|element| self.apply_to_places(element)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                members
                    .map(|(name, value)| (name.clone(), self.apply_to_places(value)))
                    .collect()
            }
            other => other.clone(),
        }
    }

    fn place(&self, text: &str) -> String {
        let mut places = self.0.iter().filter_map(|Move { side, new, into, .. }| {
            if text == format!("#/$defs/{side}/properties/{new}") {
                return Some(format!("#/$defs/{side}/properties/{into}/properties/{new}"));
            }
            let rest = text.strip_prefix(&format!("{side}.{new}"))?;
            let is_whole = rest.is_empty() || rest.starts_with(['.', ' ']);
            is_whole.then(|| format!("{side}.{into}.{new}{rest}"))
        });
        places.next().unwrap_or_else(|| text.to_owned())
    }

    /// Returns a conversion rule for each moved capability.
    pub(super) fn rules(&self) -> impl Iterator<Item = Value> {
        self.0.iter().map(|it| {
            json!({
                "at": format!("{}.{}", it.side, it.member),
                "renamed": format!("{}.{}", it.into, it.new),
                "why": "It is the same in another object.",
                "link": "https://example.org/names",
            })
        })
    }
}
