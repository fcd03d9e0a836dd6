//! The effect of a change of a tool's schema.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::Effect;
use super::keyword::{Values, bounds, same, types};
use super::normal::{Beneath, beneath, is_annotation, kinds, lists_values, normalised};

/// The direction in which values of a schema are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From clients to the server.
    Input,
    /// From the server to clients.
    Output,
}

/// Keywords that don't affect values, or whose schemas are compared where they are used.
const IGNORED: [&str; 6] = ["$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"];
/// The maximum number of references to references that are followed.
const REFERENCES: usize = 16;
/// Keywords whose contents are compared one by one.
const COMPARED: [&str; 6] = ["properties", "required", "enum", "anyOf", "oneOf", "allOf"];
/// The maximum depth of schemas that are compared, including references.
const DEPTH: usize = 200;
/// The maximum number of schemas that are compared to find equivalent ones.
const TRIALS: usize = 100_000;

/// Returns the changes between two schemas, each with its effect and description.
pub fn compare(direction: Direction, old: &Value, new: &Value) -> Vec<(Effect, String)> {
    let (old, new) = (normalised(old), normalised(new));
    let mut comparison = Comparison {
        direction,
        documents: (&old, &new),
        compared: HashSet::new(),
        depth: 0,
        trials: TRIALS,
        is_trial: false,
        changes: Vec::new(),
    };
    comparison.schemas("", &old, &new);
    let changes = comparison.changes.into_iter();
    changes.map(|change| (change.effect, change.text)).collect()
}

struct Comparison<'a> {
    direction: Direction,
    /// The documents into which references point.
    documents: (&'a Value, &'a Value),
    /// The pairs of references that have been followed.
    compared: HashSet<(&'a str, &'a str)>,
    /// The depth of the current schema.
    depth: usize,
    /// The number of schemas that can still be compared to find equivalent ones.
    trials: usize,
    /// Whether this comparison only determines whether two schemas are equivalent.
    is_trial: bool,
    changes: Vec<Found>,
}

/// A change of a schema.
struct Found {
    effect: Effect,
    text: String,
    /// Whether the same values are still allowed.
    is_annotation: bool,
}

impl<'a> Comparison<'a> {
    fn add(&mut self, effect: Effect, path: &str, change: &str) {
        self.find(effect, path, change, false);
    }

    fn find(&mut self, effect: Effect, path: &str, change: &str, is_annotation: bool) {
        let of = match (path, self.direction) {
            ("", Direction::Input) => "input".to_owned(),
            ("", Direction::Output) => "output".to_owned(),
            (path, Direction::Input) => format!("argument {path}"),
            (path, Direction::Output) => format!("result {path}"),
        };
        let text = format!("{of}: {change}");
        self.changes.push(Found {
            effect,
            text,
            is_annotation,
        });
    }

    /// Returns the changes of annotations if two schemas allow the same values, as far as this comparison can
    /// determine.
    fn trial(&mut self, compare: impl FnOnce(&mut Self)) -> Option<Vec<Found>> {
        let mut trial = Self {
            compared: self.compared.clone(),
            is_trial: true,
            changes: Vec::new(),
            ..*self
        };
        compare(&mut trial);
        self.trials = trial.trials;
        let is_same = trial.changes.iter().all(|change| change.is_annotation);
        is_same.then_some(trial.changes)
    }

    /// The effect of a change in the allowed values.
    fn effect(&self, values: Values) -> Effect {
        match (self.direction, values) {
            (Direction::Input, Values::More) | (Direction::Output, Values::Fewer) => Effect::Additive,
            _ => Effect::Breaking,
        }
    }

    fn schemas(&mut self, path: &str, old: &'a Value, new: &'a Value) {
        if self.is_trial && self.trials == 0 {
            return self.add(Effect::Breaking, path, "schema changed");
        }
        if self.depth == DEPTH {
            return self.add(Effect::Breaking, path, "nested too deeply to be compared");
        }
        if self.is_trial {
            self.trials -= 1;
        }
        self.depth += 1;
        self.referred(path, old, new);
        self.depth -= 1;
    }

    fn referred(&mut self, path: &str, old: &'a Value, new: &'a Value) {
        let (before, after) = (reference(old), reference(new));
        if let (Some(before), Some(after)) = (before, after) {
            // Keywords next to a reference apply as well.
            self.values(path, old, new);
            if !self.compared.insert((before, after)) {
                return;
            }
        }
        self.values(path, resolved(self.documents.0, old), resolved(self.documents.1, new));
    }

    /// Compares two schemas without following references.
    fn values(&mut self, path: &str, old: &'a Value, new: &'a Value) {
        match (old.as_object(), new.as_object()) {
            (Some(before), Some(after)) => self.objects(path, before, after),
            _ if old == new => {}
            _ => self.add(Effect::Breaking, path, "schema changed"),
        }
    }

    fn objects(&mut self, path: &str, before: &'a Map<String, Value>, after: &'a Map<String, Value>) {
        self.properties(path, before, after);
        self.enumeration(path, before, after);
        for keyword in ["anyOf", "oneOf", "allOf"] {
            self.alternatives(path, keyword, list(before, keyword), list(after, keyword));
        }
        let added = after.keys().filter(|keyword| !before.contains_key(*keyword));
        for keyword in before.keys().chain(added) {
            if IGNORED.contains(&keyword.as_str()) || COMPARED.contains(&keyword.as_str()) {
                continue;
            }
            if keyword == "type" {
                if !(lists_values(before) && lists_values(after)) {
                    self.keyword(path, keyword, kinds(before).as_ref(), kinds(after).as_ref());
                }
                continue;
            }
            let (before, after) = (before.get(keyword), after.get(keyword));
            if !self.is_same_beneath(path, keyword, before, after) {
                self.keyword(path, keyword, before, after);
            }
        }
    }

    /// Compares the schemas in a keyword. Returns whether that covers all changes of the keyword.
    fn is_same_beneath(
        &mut self,
        path: &str,
        keyword: &str,
        before: Option<&'a Value>,
        after: Option<&'a Value>,
    ) -> bool {
        let (Some(before), Some(after)) = (before, after) else {
            return false;
        };
        let Some(pairs) = pairs(keyword, before, after) else {
            return false;
        };
        let inner = match keyword {
            "items" => format!("{path}[]"),
            "additionalProperties" => join(path, "*"),
            _ => path.to_owned(),
        };
        let compare = |comparison: &mut Self| {
            for (old, new) in pairs {
                comparison.schemas(&inner, old, new);
            }
        };
        // More values in these keywords mean more values of the schema.
        if ["items", "additionalProperties"].contains(&keyword) && before.is_object() && after.is_object() {
            compare(self);
            return true;
        }
        match self.trial(compare) {
            Some(annotations) => {
                self.changes.extend(annotations);
                true
            }
            None => false,
        }
    }

    fn keyword(&mut self, path: &str, keyword: &str, before: Option<&Value>, after: Option<&Value>) {
        let is_followed = |document: &Value, schema: Option<&Value>| {
            let pointer = schema.and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
            pointer.is_some_and(|pointer| document.pointer(pointer).is_some())
        };
        let (old, new) = self.documents;
        if before == after || (keyword == "$ref" && is_followed(old, before) && is_followed(new, after)) {
            return;
        }
        if is_annotation(keyword) {
            return self.find(Effect::Risky, path, &format!("{keyword} changed"), true);
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
        self.required_alone(path, before, after);
    }

    /// Compares properties that are required but not declared.
    fn required_alone(&mut self, path: &str, before: &'a Map<String, Value>, after: &'a Map<String, Value>) {
        let names = list(before, "required").iter().chain(list(after, "required"));
        let is_described = |name: &str| {
            [before, after]
                .iter()
                .any(|it| members(it).is_some_and(|it| it.contains_key(name)))
        };
        let names: BTreeSet<&str> = names
            .filter_map(Value::as_str)
            .filter(|name| !is_described(name))
            .collect();
        for name in names {
            self.required(&join(path, name), requires(before, name), requires(after, name));
        }
    }

    fn required(&mut self, path: &str, before: bool, after: bool) {
        match (before, after) {
            (false, true) => self.add(self.effect(Values::Fewer), path, "required now"),
            (true, false) => self.add(self.effect(Values::More), path, "optional now"),
            _ => {}
        }
    }

    /// Compares enumerations. A new value in a result is risky, because a client may not know it.
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
                let is_in = |values: &[Value], value: &Value| values.iter().any(|it| same(it, value));
                for value in old.iter().filter(|value| !is_in(new, value)) {
                    self.add(self.effect(Values::Fewer), path, &format!("value {value} removed"));
                }
                for value in new.iter().filter(|value| !is_in(old, value)) {
                    self.add(added, path, &format!("value {value} added"));
                }
            }
        }
    }

    /// Compares schemas of which one or all must match. Equivalent schemas are paired first, and the others in their
    /// order.
    fn alternatives(&mut self, path: &str, keyword: &str, before: &'a [Value], after: &'a [Value]) {
        let (mut changed, mut left) = (Vec::new(), after.iter().collect::<Vec<_>>());
        for old in before {
            let same = left.iter().enumerate().filter_map(|(at, new)| {
                let annotations = self.trial(|trial| trial.schemas(path, old, new))?;
                Some((at, annotations))
            });
            match same.min_by_key(|(_, annotations)| annotations.len()) {
                Some((at, annotations)) => {
                    left.remove(at);
                    self.changes.extend(annotations);
                }
                None => changed.push(old),
            }
        }
        for (old, new) in changed.into_iter().zip(left) {
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

/// The target of a schema's reference in its document, or the schema itself.
fn resolved<'v>(document: &'v Value, schema: &'v Value) -> &'v Value {
    let follow = |schema: &&'v Value| reference(schema).and_then(|pointer| document.pointer(pointer));
    let last = std::iter::successors(Some(schema), follow).take(REFERENCES).last();
    last.unwrap_or(schema)
}

/// Pairs the schemas in a keyword; `None` if one side has schemas without a counterpart.
fn pairs<'v>(keyword: &str, before: &'v Value, after: &'v Value) -> Option<Vec<(&'v Value, &'v Value)>> {
    let kind = beneath(keyword, before);
    if kind != beneath(keyword, after) {
        return None;
    }
    match (kind, before, after) {
        (Beneath::Schema, ..) => Some(vec![(before, after)]),
        (Beneath::List, Value::Array(before), Value::Array(after)) => {
            (before.len() == after.len()).then(|| before.iter().zip(after).collect())
        }
        (Beneath::Object, Value::Object(before), Value::Object(after)) if before.len() == after.len() => {
            let pairs = before.iter().map(|(name, schema)| Some((schema, after.get(name)?)));
            pairs.collect()
        }
        _ => None,
    }
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
    fn newly_required_or_narrower_arguments_are_breaking() {
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
    fn removed_results_and_wider_result_values_are_breaking() {
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
    fn schemas_that_allow_the_same_values_have_no_changes() {
        let point = json!({"type": "object", "properties": {"x": {"type": "number"}}});
        for (old, new) in [
            (json!({"type": ["string"]}), json!({"type": "string"})),
            (json!({"type": ["string", "null"]}), json!({"type": ["null", "string"]})),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                json!({"type": ["string", "null"]}),
            ),
            (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "a"]})),
            (json!({"enum": ["a"]}), json!({"const": "a"})),
            (json!({"enum": [1]}), json!({"enum": [1.0]})),
            (
                json!({"enum": ["a", 1]}),
                json!({"enum": ["a", 1], "type": ["string", "integer"]}),
            ),
            (
                json!({"enum": ["a", 1.5], "type": ["string", "integer"]}),
                json!({"const": "a"}),
            ),
            (json!({"required": ["a", "b"]}), json!({"required": ["b", "a"]})),
            (
                json!({}),
                json!({"required": [], "properties": {}, "additionalProperties": true, "minLength": 0}),
            ),
            (
                json!({"additionalProperties": {}}),
                json!({"additionalProperties": true, "uniqueItems": false}),
            ),
            (json!({"items": true}), json!({"items": {}, "minItems": 0})),
            (json!({"properties": {"a": {}}}), json!({"properties": {"a": true}})),
            (json!({"minimum": 1}), json!({"minimum": 1.0})),
            (
                json!({"allOf": [{"$ref": "#/$defs/P"}], "$defs": {"P": point}}),
                point.clone(),
            ),
            (
                json!({"anyOf": [{"type": "string", "maxLength": 5}, point]}),
                json!({"anyOf": [point, {"type": "string", "maxLength": 5}]}),
            ),
            (
                json!({"not": {"$ref": "#/$defs/P"}, "$defs": {"P": point}}),
                json!({"not": {"$ref": "#/definitions/Q"}, "definitions": {"Q": point}}),
            ),
            (
                json!({"prefixItems": [{"$ref": "#/$defs/P"}], "$defs": {"P": point}}),
                json!({"prefixItems": [point]}),
            ),
        ] {
            for direction in [Direction::Input, Direction::Output] {
                assert_eq!(lines(direction, &old, &new), [""; 0], "{old} {new}");
                assert_eq!(lines(direction, &new, &old), [""; 0], "{new} {old}");
            }
        }
    }

    #[test]
    fn changed_annotations_in_any_keyword_are_risky_and_changed_types_breaking() {
        let words = |word: &str| json!({"type": "string", "title": word});
        for schema in [
            |inner: Value| json!({"additionalProperties": inner}),
            |inner: Value| json!({"patternProperties": {"^a": inner}}),
            |inner: Value| json!({"prefixItems": [inner]}),
            |inner: Value| json!({"anyOf": [inner, {"type": "integer"}]}),
            |inner: Value| json!({"not": inner}),
        ] {
            let changes = compare(Direction::Input, &schema(words("A")), &schema(words("B")));
            let [(Effect::Risky, change)] = changes.as_slice() else {
                panic!("{changes:?}")
            };
            assert!(change.ends_with(": title changed"), "{change}");
            let changes = compare(
                Direction::Input,
                &schema(words("A")),
                &schema(json!({"type": "boolean"})),
            );
            assert!(
                changes.iter().any(|(effect, _)| *effect == Effect::Breaking),
                "{changes:?}"
            );
        }
        let (old, new) = (
            json!({}),
            json!({"x-order": 1, "readOnly": true, "contentEncoding": "base64"}),
        );
        let expected = [
            "risky input: contentEncoding changed",
            "risky input: readOnly changed",
            "risky input: x-order changed",
        ];
        assert_eq!(lines(Direction::Input, &old, &new), expected);
    }

    #[test]
    fn a_schema_that_allows_other_values_is_a_change_in_any_keyword() {
        for (old, new, expected) in [
            (
                json!({}),
                json!({"items": {"type": "string"}}),
                "breaking input: items added",
            ),
            (
                json!({}),
                json!({"required": ["a"]}),
                "breaking argument a: required now",
            ),
            (
                json!({"additionalProperties": {"type": "string"}}),
                json!({"additionalProperties": {"type": "integer"}}),
                "breaking argument *: integer instead of string",
            ),
            (
                json!({"additionalProperties": false}),
                json!({"additionalProperties": {"type": "integer"}}),
                "additive input: additionalProperties {\"type\":\"integer\"} instead of false",
            ),
            (
                json!({"$ref": "#/$defs/A"}),
                json!({"$ref": "#/$defs/B"}),
                "breaking input: $ref \"#/$defs/B\" instead of \"#/$defs/A\"",
            ),
            (
                json!({"allOf": [{"additionalProperties": false}], "properties": {"a": {}}}),
                json!({"additionalProperties": false, "properties": {"a": {}}}),
                "breaking input: additionalProperties added",
            ),
        ] {
            let found = lines(Direction::Input, &old, &new);
            assert!(found.contains(&expected.to_owned()), "{found:?}");
        }
    }

    #[test]
    fn a_type_that_excludes_all_enumerated_values_is_breaking() {
        let (some, none) = (
            json!({"enum": ["a"], "type": "string"}),
            json!({"enum": ["a"], "type": "integer"}),
        );
        assert_eq!(
            lines(Direction::Input, &some, &none),
            ["breaking input: integer instead of string"]
        );
    }

    #[test]
    fn an_enumeration_implies_the_types_of_its_values() {
        let (text, enumeration) = (json!({"type": "string"}), json!({"enum": ["a", "b"]}));
        for enumeration in [enumeration, json!({"enum": ["a", "b"], "type": "string"})] {
            let changes = lines(Direction::Input, &enumeration, &text);
            assert_eq!(changes, ["additive input: no longer limited to some values"]);
            let changes = lines(Direction::Input, &text, &enumeration);
            assert_eq!(changes, ["breaking input: limited to some values now"]);
        }
    }

    #[test]
    fn the_comparison_of_huge_schemas_terminates() {
        let mut definitions = Map::new();
        for n in 0..300 {
            let next = json!({"$ref": format!("#/$defs/{}", n + 1)});
            let schema = json!({"anyOf": [{"items": next}, {"not": next}, {"contains": next}]});
            definitions.insert(n.to_string(), schema);
        }
        definitions.insert("300".to_owned(), json!({"type": "string"}));
        let old = json!({"$ref": "#/$defs/0", "$defs": definitions});
        let mut new = old.clone();
        new["$defs"]["300"] = json!({"type": "integer"});
        assert!(!lines(Direction::Input, &old, &new).is_empty());
    }

    #[test]
    fn a_changed_description_is_risky() {
        let (old, new) = (json!({"description": "A"}), json!({"description": "B", "$schema": "x"}));
        assert_eq!(
            lines(Direction::Input, &old, &new),
            ["risky input: description changed"]
        );
    }

    #[test]
    fn recursive_references_are_followed_once() {
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
