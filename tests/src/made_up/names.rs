//! Names made up from a seed, for methods, members, headers and result kinds that sessions use.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::{Value, json};

use super::moves::Moves;

/// Members that have the same meaning wherever they are declared, and whose names aren't keywords of JSON Schema.
const MEMBERS: [&str; 32] = [
    "arguments",
    "capabilities",
    "clientInfo",
    "completions",
    "cursor",
    "elicitation",
    "guest",
    "host",
    "inputRequests",
    "inputResponses",
    "inputSchema",
    "instructions",
    "isError",
    "listChanged",
    "logging",
    "nextCursor",
    "notifications",
    "offers",
    "progressToken",
    "prompts",
    "promptsListChanged",
    "protocolVersion",
    "requestId",
    "requestState",
    "resourceSubscriptions",
    "resources",
    "resourcesListChanged",
    "resultType",
    "serverInfo",
    "structuredContent",
    "supportedVersions",
    "tools",
];

/// Values of `resultType`.
const KINDS: [&str; 2] = ["complete", "input_required"];

const SYLLABLES: [&str; 12] = ["ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te"];

/// New names by the old ones, and capabilities that move to other places.
#[derive(Default)]
pub struct Names {
    names: BTreeMap<String, String>,
    moves: Moves,
}

impl Names {
    /// Makes up names for about half of the names in a schema and its facts, and moves a capability of each side.
    #[must_use]
    pub fn of_seed(seed: u64, schema: &Value, facts: &Value) -> Self {
        let mut old = BTreeSet::new();
        declared(schema, &mut old);
        headers(facts, &mut old);
        let mut rng = Rng::with_seed(seed);
        let mut names = BTreeMap::new();
        old.retain(|_| rng.bool());
        for old in old {
            let mut new = name_like(&old, &mut rng);
            while names.values().any(|known| *known == new) {
                new = name_like(&old, &mut rng);
            }
            names.insert(old, new);
        }
        let moves = Moves::of_seed(&mut rng, schema, |member| {
            names.get(member).cloned().unwrap_or_else(|| member.to_owned())
        });
        Self { names, moves }
    }

    /// Returns the number of new names.
    #[must_use]
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns a schema with the new names and places.
    pub(super) fn apply_to_schema(&self, schema: &Value) -> Value {
        let mut schema = self.apply(schema);
        self.moves.apply(&mut schema);
        schema
    }

    /// Returns the contents of `capabilities.yaml` with the new names and places.
    pub(super) fn apply_to_needs(&self, needs: &Value) -> Value {
        self.moves.apply_to_places(&self.apply(needs))
    }

    /// Returns JSON with the new names in its keys and strings.
    pub(super) fn apply(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.text(text)),
            Value::Array(elements) => elements.iter().map(|element| self.apply(element)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                members
                    .map(|(name, value)| (self.text(name), self.apply(value)))
                    .collect()
            }
            other => other.clone(),
        }
    }

    /// Returns an overlay with the new names. Keys of its facts are names of this project and stay, except headers and
    /// methods.
    pub(super) fn apply_to_overlay(&self, overlay: &Value) -> Value {
        let mut renamed = self.apply(overlay);
        renamed["deprecated"] = self.moves.apply_to_places(&renamed["deprecated"]);
        renamed["facts"] = self.apply_to_values(&overlay["facts"]);
        if let Some(params) = overlay.pointer("/facts/mirrors/params") {
            renamed["facts"]["mirrors"]["params"] = self.apply(params);
        }
        renamed
    }

    /// Returns conversion rules with the new names, which are those of the later revision. Renamed and supplied members
    /// keep the names of the earlier one.
    pub(super) fn apply_to_rules(&self, rules: &Value) -> Value {
        let mut renamed = self.apply(rules);
        let (rules, renamed_rules) = (rules["rules"].as_array(), renamed["rules"].as_array_mut());
        for (rule, renamed) in rules.into_iter().flatten().zip(renamed_rules.into_iter().flatten()) {
            if rule.get("supplied").is_some() {
                *renamed = rule.clone();
            } else if rule.get("renamed").is_some() {
                renamed["at"] = rule["at"].clone();
            }
        }
        renamed
    }

    /// Returns JSON with the new names in its strings, but not in its keys.
    pub(super) fn apply_to_values(&self, value: &Value) -> Value {
        match value.as_object() {
            Some(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), self.apply_to_values(value)))
                .collect(),
            None => self.apply(value),
        }
    }

    /// Replaces names in a text: a name, a JSON pointer, a place such as `ServerCapabilities.tools.listChanged`, or a
    /// method and a condition.
    fn text(&self, text: &str) -> String {
        if let Some(new) = self.names.get(text) {
            return new.clone();
        }
        let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
        let mut parts = vec![text.to_owned()];
        for (old, new) in &self.names {
            let (old, new, ends) = match text.starts_with("#/") {
                true => (escaped(old), escaped(new), &['/'][..]),
                false if text.contains(['.', ' ']) => (old.clone(), new.clone(), &['.', ' ', '='][..]),
                false => break,
            };
            parts = parts.iter().flat_map(|part| split(part, &old, &new, ends)).collect();
        }
        parts.concat()
    }

    /// Returns a conversion rule for each renamed or moved member.
    pub(super) fn rules(&self) -> impl Iterator<Item = Value> {
        let members = self.names.iter().filter(|(old, _)| MEMBERS.contains(&old.as_str()));
        let renamed = members.map(|(old, new)| {
            json!({
                "at": format!("*.{old}"),
                "renamed": new,
                "why": "It is the same by another name.",
                "link": "https://example.org/names",
            })
        });
        self.moves.rules().chain(renamed)
    }
}

/// Replaces a name that is delimited by `ends`. The new name becomes a separate part, so that it isn't replaced again.
fn split(text: &str, old: &str, new: &str, ends: &[char]) -> Vec<String> {
    let found = text.match_indices(old).find(|(start, _)| {
        let before = text[..*start].chars().next_back();
        let after = text[start + old.len()..].chars().next();
        [before, after]
            .iter()
            .all(|end| end.is_none_or(|end| ends.contains(&end)))
    });
    match found {
        Some((start, _)) => vec![
            text[..start].to_owned(),
            new.to_owned(),
            text[start + old.len()..].to_owned(),
        ],
        None => vec![text.to_owned()],
    }
}

/// Collects the methods, keys of `_meta`, members and kinds of results that a schema declares.
fn declared(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Array(elements) => elements.iter().for_each(|element| declared(element, names)),
        Value::Object(members) => {
            let properties = members.get("properties").and_then(Value::as_object);
            for (name, value) in properties.into_iter().flatten() {
                if name == "method" && value["const"].is_string() {
                    names.insert(text(&value["const"]));
                }
                if MEMBERS.contains(&name.as_str()) || name.contains('/') {
                    names.insert(name.clone());
                }
                if name == "resultType" {
                    names.extend(KINDS.map(str::to_owned));
                }
            }
            members.values().for_each(|value| declared(value, names));
        }
        _ => {}
    }
}

/// Collects the HTTP headers that facts name.
fn headers(facts: &Value, names: &mut BTreeSet<String>) {
    let mirrors = &facts["mirrors"];
    for header in [
        &facts["session_header"],
        &facts["version_header"],
        &mirrors["method"],
        &mirrors["arguments"]["prefix"],
    ] {
        names.extend(header.as_str().map(str::to_owned));
    }
    let params = mirrors["params"].as_object().into_iter().flatten();
    names.extend(params.map(|(header, _)| header.clone()));
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Makes up a name of the same form as the old one.
fn name_like(old: &str, rng: &mut Rng) -> String {
    let mut word = || {
        (0..3)
            .map(|_| SYLLABLES[rng.usize(..SYLLABLES.len())])
            .collect::<String>()
    };
    let header = |word: String| word[..1].to_uppercase() + &word[1..];
    match old {
        _ if old.starts_with("io.modelcontextprotocol/") => format!("org.example/{}", word()),
        _ if old.contains('/') => format!("{}/{}", word(), word()),
        _ if old.starts_with(char::is_uppercase) && old.ends_with('-') => {
            format!("{}-{}-", header(word()), header(word()))
        }
        _ if old.starts_with(char::is_uppercase) => format!("{}-{}", header(word()), header(word())),
        _ => word(),
    }
}

/// Merges two versions of a file about all revisions: the entries of both lists, or the members of both objects. A
/// member with different values gets a list of both.
pub(super) fn merged(known: &Value, other: &Value) -> Value {
    match (known, other) {
        (Value::Object(known), Value::Object(other)) => {
            let mut both = known.clone();
            for (name, value) in other {
                let member = both.entry(name).or_insert_with(|| value.clone());
                if member != value {
                    *member = merged(&json!(list(member)), &json!(list(value)));
                }
            }
            Value::Object(both)
        }
        _ => {
            let mut both = list(known);
            both.extend(list(other).into_iter().filter(|entry| !list(known).contains(entry)));
            json!(both)
        }
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])
}
