//! What a change of a tool's schema means.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Effect;
use super::keyword::{Values, bounds, types};

/// Which way the values of a schema go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From clients to the server.
    Input,
    /// From the server to clients.
    Output,
}

/// The keywords that are only read by people and models.
const ANNOTATIONS: [&str; 7] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "format",
    "$comment",
];
/// The keywords that say nothing of values, or whose schemas are compared where they are used.
const IGNORED: [&str; 4] = ["$schema", "$id", "$defs", "definitions"];
/// References to references that are followed.
const REFERENCES: usize = 16;
/// The keywords that are compared by what is in them.
const COMPARED: [&str; 7] = ["properties", "required", "enum", "items", "anyOf", "oneOf", "allOf"];

/// The changes between two schemas: what each means, and what it is.
pub fn compare(direction: Direction, old: &Value, new: &Value) -> Vec<(Effect, String)> {
    let mut comparison = Comparison {
        direction,
        documents: (old, new),
        compared: HashSet::new(),
        changes: Vec::new(),
    };
    comparison.schemas("", old, new);
    comparison.changes
}

struct Comparison<'a> {
    direction: Direction,
    /// What references point into.
    documents: (&'a Value, &'a Value),
    /// The pairs of references that were followed.
    compared: HashSet<(&'a str, &'a str)>,
    changes: Vec<(Effect, String)>,
}

impl<'a> Comparison<'a> {
    fn add(&mut self, effect: Effect, path: &str, change: &str) {
        let of = match (path, self.direction) {
            ("", Direction::Input) => "input".to_owned(),
            ("", Direction::Output) => "output".to_owned(),
            (path, Direction::Input) => format!("argument {path}"),
            (path, Direction::Output) => format!("result {path}"),
        };
        self.changes.push((effect, format!("{of}: {change}")));
    }

    /// What it means that other values are allowed.
    fn effect(&self, values: Values) -> Effect {
        match (self.direction, values) {
            (Direction::Input, Values::More) | (Direction::Output, Values::Fewer) => Effect::Additive,
            _ => Effect::Breaking,
        }
    }

    fn schemas(&mut self, path: &str, old: &'a Value, new: &'a Value) {
        let (before, after) = (reference(old), reference(new));
        if let (Some(before), Some(after)) = (before, after) {
            // What stands beside a reference holds as well.
            self.values(path, old, new);
            if !self.compared.insert((before, after)) {
                return;
            }
        }
        self.values(path, resolved(self.documents.0, old), resolved(self.documents.1, new));
    }

    /// Compares two schemas without what they refer to.
    fn values(&mut self, path: &str, old: &'a Value, new: &'a Value) {
        match (old.as_object(), new.as_object()) {
            (Some(before), Some(after)) => self.objects(path, before, after),
            _ if old == new => {}
            _ => self.add(Effect::Breaking, path, "another schema"),
        }
    }

    fn objects(&mut self, path: &str, before: &'a Map<String, Value>, after: &'a Map<String, Value>) {
        self.properties(path, before, after);
        self.enumeration(path, before, after);
        if let (Some(before), Some(after)) = (before.get("items"), after.get("items")) {
            self.schemas(&format!("{path}[]"), before, after);
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            self.alternatives(path, keyword, list(before, keyword), list(after, keyword));
        }
        let added = after.keys().filter(|keyword| !before.contains_key(*keyword));
        for keyword in before.keys().chain(added) {
            if !IGNORED.contains(&keyword.as_str()) && !COMPARED.contains(&keyword.as_str()) {
                self.keyword(path, keyword, before.get(keyword), after.get(keyword));
            }
        }
    }

    fn keyword(&mut self, path: &str, keyword: &str, before: Option<&Value>, after: Option<&Value>) {
        let is_local = |schema: Option<&Value>| schema.and_then(Value::as_str).is_some_and(|it| it.starts_with('#'));
        if before == after || (keyword == "$ref" && is_local(before) && is_local(after)) {
            return;
        }
        if ANNOTATIONS.contains(&keyword) {
            return self.add(Effect::Risky, path, &format!("other {keyword}"));
        }
        let change = match (before, after) {
            _ if keyword == "type" => format!("{} instead of {}", shown(after), shown(before)),
            (Some(before), Some(after)) => format!("{keyword} {after} instead of {before}"),
            (None, _) => format!("{keyword} added"),
            (_, None) => format!("{keyword} removed"),
        };
        let values = match keyword {
            "type" => types(before, after),
            _ => bounds(keyword, before, after),
        };
        if let Some(values) = values {
            self.add(self.effect(values), path, &change);
        }
    }

    fn properties(&mut self, path: &str, before: &'a Map<String, Value>, after: &'a Map<String, Value>) {
        let (old, new) = (members(before), members(after));
        for (name, schema) in old.into_iter().flatten() {
            let path = join(path, name);
            match (new.and_then(|new| new.get(name)), self.direction) {
                (Some(now), _) => {
                    self.schemas(&path, schema, now);
                    self.required(&path, requires(before, name), requires(after, name));
                }
                (None, Direction::Output) => self.add(Effect::Breaking, &path, "removed"),
                (None, Direction::Input) if after.get("additionalProperties") == Some(&Value::Bool(false)) => {
                    self.add(Effect::Breaking, &path, "removed, and refused now");
                }
                (None, Direction::Input) => self.add(Effect::Risky, &path, "removed"),
            }
        }
        for (name, _) in new.into_iter().flatten() {
            if old.is_some_and(|old| old.contains_key(name)) {
                continue;
            }
            let path = join(path, name);
            match self.direction == Direction::Input && requires(after, name) {
                true => self.add(Effect::Breaking, &path, "added, and required"),
                false => self.add(Effect::Additive, &path, "added"),
            }
        }
    }

    fn required(&mut self, path: &str, before: bool, after: bool) {
        match (before, after) {
            (false, true) => self.add(self.effect(Values::Fewer), path, "required now"),
            (true, false) => self.add(self.effect(Values::More), path, "optional now"),
            _ => {}
        }
    }

    /// The values of an enumeration. A client may not know a new one of a result, which is why it is risky.
    fn enumeration(&mut self, path: &str, before: &'a Map<String, Value>, after: &'a Map<String, Value>) {
        let added = match self.direction {
            Direction::Input => Effect::Additive,
            Direction::Output => Effect::Risky,
        };
        match (list(before, "enum"), list(after, "enum")) {
            ([], []) => {}
            ([], _) => self.add(self.effect(Values::Fewer), path, "limited to some values now"),
            (_, []) => self.add(added, path, "no longer limited to some values"),
            (old, new) => {
                for value in old.iter().filter(|value| !new.contains(value)) {
                    self.add(self.effect(Values::Fewer), path, &format!("value {value} removed"));
                }
                for value in new.iter().filter(|value| !old.contains(value)) {
                    self.add(added, path, &format!("value {value} added"));
                }
            }
        }
    }

    /// Schemas of which one or all hold, compared in their order.
    fn alternatives(&mut self, path: &str, keyword: &str, before: &'a [Value], after: &'a [Value]) {
        for (old, new) in before.iter().zip(after) {
            self.schemas(path, old, new);
        }
        let (more, fewer) = match keyword {
            "allOf" => (Values::Fewer, Values::More),
            _ => (Values::More, Values::Fewer),
        };
        match (before.len(), after.len()) {
            (0, 0) => {}
            (0, _) => self.add(self.effect(Values::Fewer), path, &format!("{keyword} added")),
            (_, 0) => self.add(self.effect(Values::More), path, &format!("{keyword} removed")),
            (old, new) if old < new => self.add(self.effect(more), path, &format!("more schemas in {keyword}")),
            (old, new) if old > new => self.add(self.effect(fewer), path, &format!("fewer schemas in {keyword}")),
            _ => {}
        }
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix('#')
}

/// What a schema refers to in its document, or the schema itself.
fn resolved<'v>(document: &'v Value, schema: &'v Value) -> &'v Value {
    let follow = |schema: &&'v Value| reference(schema).and_then(|pointer| document.pointer(pointer));
    let last = std::iter::successors(Some(schema), follow).take(REFERENCES).last();
    last.unwrap_or(schema)
}

fn members(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn list<'v>(schema: &'v Map<String, Value>, keyword: &str) -> &'v [Value] {
    let list = schema.get(keyword).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

fn requires(schema: &Map<String, Value>, name: &str) -> bool {
    list(schema, "required").iter().any(|required| required == name)
}

fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

fn shown(kind: Option<&Value>) -> String {
    match kind {
        None => "anything".to_owned(),
        Some(Value::String(name)) => name.clone(),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(direction: Direction, old: &Value, new: &Value) -> Vec<String> {
        let changes = compare(direction, old, new).into_iter();
        let mut lines: Vec<_> = changes
            .map(|(effect, change)| format!("{} {change}", effect.name()))
            .collect();
        lines.sort();
        lines
    }

    #[test]
    fn arguments_that_are_required_or_narrower_break_calls() {
        let old = json!({"properties": {"a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": "integer", "maximum": 9},
            "c": {"type": "string"}, "f": {"type": "string", "maxLength": 9}}, "required": ["b"]});
        let new = json!({"properties": {"a": {"type": "string", "enum": ["x", "z"]}, "b": {"type": "number"},
            "d": {}, "e": {}, "f": {"type": "integer", "maxLength": 8}}, "required": ["a", "e"]});
        assert_eq!(
            lines(Direction::Input, &old, &new),
            [
                "additive argument a: value \"z\" added",
                "additive argument b: maximum removed",
                "additive argument b: number instead of integer",
                "additive argument b: optional now",
                "additive argument d: added",
                "breaking argument a: required now",
                "breaking argument a: value \"y\" removed",
                "breaking argument e: added, and required",
                "breaking argument f: integer instead of string",
                "breaking argument f: maxLength 8 instead of 9",
                "risky argument c: removed",
            ]
        );
    }

    #[test]
    fn results_break_clients_by_what_they_lack_and_by_values_that_are_new() {
        let old = json!({"properties": {"a": {"items": {"type": "string"}}, "b": {}, "n": {"minimum": 1}, "e": {"enum": [1]}},
            "required": ["a"]});
        let new = json!({"properties": {"a": {"items": {"type": "object"}}, "c": {}, "n": {"minimum": 0}, "e": {"enum": [1, 2]}}});
        assert_eq!(
            lines(Direction::Output, &old, &new),
            [
                "additive result c: added",
                "breaking result a: optional now",
                "breaking result a[]: object instead of string",
                "breaking result b: removed",
                "breaking result n: minimum 0 instead of 1",
                "risky result e: value 2 added",
            ]
        );
    }

    #[test]
    fn what_models_read_is_risky() {
        let (old, new) = (json!({"description": "A"}), json!({"description": "B", "$schema": "x"}));
        assert_eq!(lines(Direction::Input, &old, &new), ["risky input: other description"]);
    }

    #[test]
    fn references_are_followed_once_to_what_they_name() {
        let schema = |kind: &str, definition: &str| {
            json!({"properties": {"a": {"anyOf": [{"$ref": format!("#/$defs/{definition}")}, {"type": "null"}]}},
                "$defs": {definition: {"type": "object", "properties": {
                    "x": {"type": kind}, "next": {"$ref": format!("#/$defs/{definition}")}}}}})
        };
        let same = lines(Direction::Input, &schema("string", "A"), &schema("string", "B"));
        assert_eq!(same, [""; 0]);
        assert_eq!(
            lines(Direction::Input, &schema("string", "A"), &schema("integer", "A")),
            ["breaking argument a.x: integer instead of string"]
        );
    }
}
