//! Locates the syntax error in a broken JSON text.

use mcp_wire::json_schema::pointer;

use crate::problem::{Place, Problem};

const NO_JSON: &str = "the file is damaged or is no JSON: get it again; a YAML file needs a name that ends in .yaml";

/// The problem of a text that serde_json refuses.
pub(super) fn broken_json(file: &str, text: &str, error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
    // serde_json counts the bytes of a line. Column 0 is the end of the line before.
    let (line, bytes) = match (error.line(), error.column()) {
        (line, 0) => (line.max(2) - 1, usize::MAX),
        (line, column) => (line, column - 1),
    };
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = text[start..].split('\n').next().unwrap_or_default();
    let end = rest.char_indices().map(|(at, _)| at).find(|at| *at >= bytes);
    let before = &rest[..end.unwrap_or(rest.len())];
    let column = before.chars().count() + 1;
    Problem::new(file, what)
        .at(Place { line, column })
        .pointer(pointer_at_end(&text[..start + before.len()]))
        .help(NO_JSON)
}

/// An object or array that isn't closed yet.
enum Open {
    /// An object, with the name of the current member.
    Object(Option<String>),
    /// An array, with the index of the current element.
    Array(usize),
}

/// The pointer of the value that the last byte of `json` belongs to. `json` is the beginning of a JSON text.
fn pointer_at_end(json: &str) -> String {
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(byte) = json.as_bytes().get(at) {
        let token = at;
        at += 1;
        match (byte, open.last_mut()) {
            (b'{', _) => open.push(Open::Object(None)),
            (b'[', _) => open.push(Open::Array(0)),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(Open::Object(name))) => *name = None,
            (b',', Some(Open::Array(index))) => *index += 1,
            (b'"', around) => {
                at = string_end(json, at);
                if let Some(Open::Object(name @ None)) = around {
                    *name = serde_json::from_str(&json[token..at]).ok();
                }
            }
            _ => {}
        }
    }
    let mut pointer = String::from("#");
    for value in open {
        match value {
            Open::Object(None) => {}
            Open::Object(Some(name)) => pointer::push(&mut pointer, &name),
            Open::Array(index) => pointer::push(&mut pointer, &index.to_string()),
        }
    }
    pointer
}

/// The end of the string whose first character is at `start`.
fn string_end(json: &str, start: usize) -> usize {
    let mut is_escaped = false;
    let quote = json[start..].bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    quote.map_or(json.len(), |quote| start + quote + 1)
}

#[cfg(test)]
mod tests {
    use super::pointer_at_end;

    #[test]
    fn the_value_that_breaks_off_is_named() {
        for (json, pointer) in [
            ("", "#"),
            ("x", "#"),
            (r#"{"a"#, "#"),
            (r#"{"a": "#, "#/a"),
            (r#"{"a": [1, {"b/c\"": "x\\\"}"#, "#/a/1/b~1c\""),
            (r#"{"a": {"b": [{}, []], "#, "#/a"),
            (r#"{"a": {"b": [{}, []]} "#, "#/a"),
            (r#"{"a": 1} "#, "#"),
            ("]", "#"),
        ] {
            assert_eq!(pointer_at_end(json), pointer, "{json}");
        }
    }
}
