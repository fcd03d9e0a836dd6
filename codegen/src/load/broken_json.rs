//! Locates the syntax error in a broken JSON text.

use mcp_wire::json_schema::pointer;
use serde_path_to_error::{Path, Segment};

use crate::problem::{Place, Problem};

const NO_JSON: &str = "the file is damaged or is no JSON: get it again; a YAML file needs a name that ends in .yaml";

/// The problem of a text that serde_json refuses in the value at a path.
pub(super) fn broken_json(file: &str, text: &str, path: &Path, error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
    // serde_json counts the bytes of a line. Column 0 is the end of the line before.
    let (line, bytes) = match (error.line(), error.column()) {
        (line, 0) => (line.max(2) - 1, usize::MAX),
        (line, column) => (line, column - 1),
    };
    let line_text = text.split('\n').nth(line - 1).unwrap_or_default();
    let before = line_text.char_indices().take_while(|(at, _)| *at < bytes);
    let column = before.count() + 1;
    Problem::new(file, what)
        .at(Place { line, column })
        .pointer(pointer_of(path))
        .help(NO_JSON)
}

fn pointer_of(path: &Path) -> String {
    let mut pointer = String::from("#");
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer::push(&mut pointer, &index.to_string()),
            Segment::Map { key } => pointer::push(&mut pointer, key),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}
