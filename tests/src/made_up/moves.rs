//! Capabilities that are within another object, whose name is made up from a seed.

use fastrand::Rng;
use serde_json::{Value, json};

/// What declares capabilities.
const SIDES: [&str; 2] = ["ClientCapabilities", "ServerCapabilities"];

/// The capabilities that are moved.
#[derive(Default)]
pub(super) struct Moves(Vec<Move>);

struct Move {
    side: &'static str,
    /// The capability in the revision before.
    member: String,
    /// Its name.
    new: String,
    /// The object that it is in.
    into: String,
}

impl Moves {
    /// A capability of each side. `name` is what a member is called.
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

    /// A schema in which they are where they move to.
    pub(super) fn apply(&self, schema: &mut Value) {
        for Move { side, new, into, .. } in &self.0 {
            let members = schema["$defs"][side]["properties"].as_object_mut().unwrap();
            let moved = members.remove(new).unwrap();
            members.insert(into.clone(), json!({"type": "object", "properties": {new: moved}}));
        }
    }

    /// JSON in whose texts the capabilities have their new places.
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

    /// A rule for each.
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
