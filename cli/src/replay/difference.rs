//! The differences between two messages.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::pointer::Pointer;
use crate::report::Finding;

/// The members whose values the server chooses and the client sends back.
const TOKENS: [&str; 3] = ["nextCursor", "requestState", "taskId"];
/// The number of characters of a value that a finding shows.
const SHOWN: usize = 200;

/// The values that the client sends back to the server: from the recorded value to the current one.
#[derive(Default)]
pub struct Tokens(HashMap<String, String>);

impl Tokens {
    /// Replaces the recorded values in a message of the client by the current ones.
    pub fn replace(&self, json: &[u8]) -> Vec<u8> {
        let mut replaced = Vec::with_capacity(json.len());
        let mut rest = json;
        while let Some(start) = rest.iter().position(|&byte| byte == b'"') {
            let (before, from_string) = rest.split_at(start);
            let (string, after) = from_string.split_at(length_of_string(from_string));
            let then = serde_json::from_slice::<String>(string).ok();
            replaced.extend(before);
            match then.and_then(|then| self.0.get(&then)) {
                Some(now) => replaced.extend(Value::from(now.as_str()).to_string().bytes()),
                None => replaced.extend(string),
            }
            rest = after;
        }
        replaced.extend(rest);
        replaced
    }
}

/// The length of the JSON string at the start of a text, with both quotation marks.
fn length_of_string(json: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = json.iter().skip(1).position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(json.len(), |end| end + 2)
}

/// Returns the differences between a message and the recorded one, except in ignored places.
pub fn differences(recorded: &Value, now: &Value, ignored: &[Pointer], tokens: &mut Tokens) -> Vec<Finding> {
    let mut comparison = Comparison {
        ignored,
        tokens,
        place: Vec::new(),
        findings: Vec::new(),
    };
    comparison.compare(Some(recorded), Some(now));
    comparison.findings
}

struct Comparison<'c> {
    ignored: &'c [Pointer],
    tokens: &'c mut Tokens,
    place: Vec<String>,
    findings: Vec<Finding>,
}

impl Comparison<'_> {
    /// Compares the values at a place, if any. The recursion is bounded, because parsed JSON has a limited depth.
    fn compare(&mut self, recorded: Option<&Value>, now: Option<&Value>) {
        if recorded == now || self.ignored.iter().any(|pointer| pointer.holds(&self.place)) {
            return;
        }
        match (recorded, now) {
            (Some(Value::Object(then)), Some(Value::Object(now))) => {
                let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
                for name in names {
                    self.compare_at(name.clone(), then.get(name), now.get(name));
                }
            }
            (Some(Value::Array(then)), Some(Value::Array(now))) => {
                for index in 0..then.len().max(now.len()) {
                    self.compare_at(index.to_string(), then.get(index), now.get(index));
                }
            }
            (Some(Value::String(then)), Some(Value::String(now))) if self.is_token() => {
                self.tokens.0.insert(then.clone(), now.clone());
            }
            (recorded, now) => self.findings.push(Finding {
                path: Some(self.pointer()),
                recorded: recorded.cloned(),
                now: now.cloned(),
                ..Finding::new(format!("recorded {}, now {}", shown(recorded), shown(now)))
            }),
        }
    }

    fn compare_at(&mut self, name: String, recorded: Option<&Value>, now: Option<&Value>) {
        self.place.push(name);
        self.compare(recorded, now);
        self.place.pop();
    }

    fn is_token(&self) -> bool {
        self.place.last().is_some_and(|name| TOKENS.contains(&name.as_str()))
    }

    fn pointer(&self) -> String {
        let escaped = |name: &String| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        self.place.iter().map(escaped).collect()
    }
}

/// The first characters of a value as JSON.
fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(recorded: Value, now: Value, ignored: &[&str]) -> Vec<String> {
        let ignored: Vec<Pointer> = ignored.iter().map(|it| it.parse().expect("a pointer")).collect();
        let findings = differences(&recorded, &now, &ignored, &mut Tokens::default());
        findings.into_iter().filter_map(|finding| finding.path).collect()
    }

    #[test]
    fn every_difference_is_reported() {
        let recorded = json!({"a": [1, {"b/c": 2}], "d": {"e": "x"}, "f": null});
        let now = json!({"a": [1, {"b/c": 3}, 4], "d": [], "g": true, "f": null});
        assert_eq!(places(recorded, now, &[]), ["/a/1/b~1c", "/a/2", "/d", "/g"]);
    }

    #[test]
    fn ignored_places_are_not_compared() {
        let recorded = json!({"a": [{"b": 1, "c": 1}, {"b": 2, "c": 2}], "d/e": {"f": 1}});
        let now = json!({"a": [{"b": 3, "c": 4}, {"b": 5, "c": 2}], "d/e": 7});
        assert_eq!(places(recorded.clone(), now.clone(), &["/a/*/b", "/d~1e"]), ["/a/0/c"]);
        assert!(places(recorded, now, &["/*"]).is_empty());
    }

    #[test]
    fn cursors_of_the_recording_are_replaced_by_the_current_ones() {
        let mut tokens = Tokens::default();
        let (recorded, now) = (json!({"nextCursor": "a\"b"}), json!({"nextCursor": "é"}));
        assert!(differences(&recorded, &now, &[], &mut tokens).is_empty());
        let request = json!({"params": {"cursor": "a\"b", "text": "a\"b c"}}).to_string();
        let sent: Value = serde_json::from_slice(&tokens.replace(request.as_bytes())).expect("JSON");
        assert_eq!(sent, json!({"params": {"cursor": "é", "text": "a\"b c"}}));
    }

    #[test]
    fn replaced_values_are_not_replaced_again() {
        let mut tokens = Tokens::default();
        for (then, now) in [("1", "2"), ("2", "3"), ("3", "1"), ("a\\", "b"), ("\"", "\\\"")] {
            let (recorded, now) = (json!({"taskId": then}), json!({"taskId": now}));
            assert!(differences(&recorded, &now, &[], &mut tokens).is_empty());
        }
        for (sent, now) in [
            (r#"["1", "2","3"]"#, r#"["2", "3","1"]"#),
            (r#"{"taskId": "\u0031", "n": 1}"#, r#"{"taskId": "2", "n": 1}"#),
            (r#"["a\\", "\"", "\"1\"", "a\\1"]"#, r#"["b", "\\\"", "\"1\"", "a\\1"]"#),
            (r#"["1", "2"#, r#"["2", "2"#),
        ] {
            assert_eq!(String::from_utf8_lossy(&tokens.replace(sent.as_bytes())), now);
        }
    }
}
