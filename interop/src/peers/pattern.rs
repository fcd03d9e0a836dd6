//! Patterns for JSON, written as JSON.
//!
//! An object matches every object that has at least matching members, an array every array in which each of its
//! elements has a match, and a string every equal string, in which `*` matches any characters. Every other value
//! matches only itself.

use serde_json::Value;

/// Describes where a value doesn't match a pattern; `None` if it matches.
pub fn departure(pattern: &Value, value: &Value) -> Option<String> {
    depart(pattern, value, "").map(|(at, wanted)| {
        let found = value.pointer(&at).unwrap_or(&Value::Null);
        format!("{at}: expected {wanted}, found {}", brief(found))
    })
}

fn depart(pattern: &Value, value: &Value, at: &str) -> Option<(String, String)> {
    let here = || Some((at.to_owned(), pattern.to_string()));
    match (pattern, value) {
        (Value::Object(members), Value::Object(values)) => members.iter().find_map(|(name, pattern)| {
            let value = values.get(name).unwrap_or(&Value::Null);
            depart(
                pattern,
                value,
                &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
            )
        }),
        (Value::Array(patterns), Value::Array(values)) => patterns.iter().find_map(|pattern| {
            let found = values.iter().any(|value| depart(pattern, value, "").is_none());
            (!found).then(|| (at.to_owned(), format!("an element like {pattern}")))
        }),
        (Value::String(pattern), Value::String(text)) if fits(pattern, text) => None,
        (Value::Number(pattern), Value::Number(number)) if pattern.as_f64() == number.as_f64() => None,
        _ if pattern == value => None,
        _ => here(),
    }
}

/// Whether a text matches a pattern with asterisks.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().any(|at| fits(rest, &text[at..]))
}

fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pattern_matches_values_with_more_members_but_not_with_fewer() {
        let pattern = json!({"content": [{"type": "text", "text": "Echo: *!"}]});
        let more =
            json!({"content": [{"type": "image"}, {"type": "text", "text": "Echo: a!", "more": 1}], "isError": false});
        assert_eq!(departure(&pattern, &more), None);
        let less = json!({"content": [{"type": "text", "text": "Echo: a"}]});
        let expected = "/content: expected an element like {\"text\":\"Echo: *!\",\"type\":\"text\"}, found ";
        assert!(departure(&pattern, &less).unwrap().starts_with(expected));
        assert!(departure(&json!({"a": {}}), &json!({})).is_some());
    }

    #[test]
    fn numbers_match_regardless_of_spelling() {
        assert_eq!(departure(&json!(21), &json!(21.0)), None);
        assert!(departure(&json!(21), &json!("21")).is_some());
    }

    #[test]
    fn asterisks_match_any_characters() {
        assert!(fits("*b*", "abc") && fits("*", "") && fits("a*c", "abcc"));
        assert!(!fits("*b*", "ac") && !fits("a", "ab") && !fits("a*c", "ab"));
    }
}
