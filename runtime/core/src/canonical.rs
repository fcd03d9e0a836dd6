//! Canonical JSON: equal values have the same text.

use std::collections::BinaryHeap;

use serde_json::Value;

/// Returns the canonical JSON of a request's method and parameters. The id and the `_meta` are left out, because they
/// differ each time the request is sent.
pub fn canonical_request(mut request: Value) -> String {
    let mut take = |name| request.get_mut(name).map(Value::take).unwrap_or_default();
    let (method, mut params) = (take("method"), take("params"));
    if let Some(params) = params.as_object_mut() {
        params.remove("_meta");
    }
    canonical(&Value::Array(vec![method, params]))
}

/// Returns the JSON text of a value, with the members of each object sorted by name.
///
/// serde_json's own output isn't canonical: the order of members in a [`Value`] depends on features of serde_json that
/// any crate of a program can enable.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// The recursion is as deep as the value, whose depth serde_json limits when it parses it.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            // Sorted by a heap, which is less code than the standard library's sorting.
            let names: BinaryHeap<&String> = members.keys().collect();
            let write_member = |name: &&String, text: &mut String| {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(&members[*name], text);
            };
            write_list('{', &names.into_sorted_vec(), '}', text, write_member);
        }
        Value::Array(elements) => write_list('[', elements, ']', text, write),
        other => text.push_str(&other.to_string()),
    }
}

fn write_list<T>(open: char, items: &[T], close: char, text: &mut String, write: impl Fn(&T, &mut String)) {
    text.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(item, text);
    }
    text.push(close);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_request_has_only_the_method_and_the_parameters_without_meta() {
        let text = |json: &str| canonical_request(serde_json::from_str(json).unwrap());
        let one = text(r#"{"id": 1, "method": "a/b", "params": {"x": 1, "y": [2], "_meta": {"token": 1}}}"#);
        assert_eq!(one, r#"["a/b",{"x":1,"y":[2]}]"#);
        assert_eq!(one, text(r#"{"params": {"y": [2], "x": 1}, "method": "a/b", "id": 2}"#));
        assert_ne!(one, text(r#"{"id": 1, "method": "a/c", "params": {"x": 1, "y": [2]}}"#));
        assert_ne!(one, text(r#"{"id": 1, "method": "a/b", "params": {"x": 1}}"#));
        assert_eq!(text(r#"{"method": "a/b"}"#), r#"["a/b",null]"#);
        assert_eq!(text("[]"), "[null,null]");
    }

    #[test]
    fn equal_values_have_the_same_canonical_text_and_others_differ() {
        let text = |json: &str| canonical(&serde_json::from_str(json).unwrap());
        let expected = r#"{"a":[1,{"x":null,"y":"\"é\n"}],"b":1.5}"#;
        assert_eq!(
            text(r#" { "b": 1.5, "a": [1, {"y": "\"\u00e9\n", "x": null}] } "#),
            expected
        );
        assert_eq!(
            canonical(&json!({"b": 1.5, "a": [1, {"x": null, "y": "\"é\n"}]})),
            expected
        );
        assert_ne!(text("[1,2]"), text("[2,1]"));
        assert_ne!(text(r#"{"a":1}"#), text(r#"{"a":"1"}"#));
        assert_eq!(text("{}"), "{}");
        assert_eq!(text("[]"), "[]");
    }
}
