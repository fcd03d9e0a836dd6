//! The problems of a document, and their positions.

use std::collections::BTreeMap;

use mcp_registry_types::mcp_wire::path::{Path, Segment};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::stream::Place;

/// Whether the registry would reject a document with the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// A problem of a part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    pub path: Path,
    pub message: String,
    /// The line and column of a syntax error, which has no path.
    pub at: Option<(u64, u64)>,
}

impl Problem {
    pub fn error(path: Path, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            path,
            message: message.into(),
            at: None,
        }
    }

    pub fn warning(path: Path, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(path, message)
        }
    }
}

/// The position of the part at a path in the text of a document, or else of the innermost part that exists.
pub fn place_of(text: &str, path: &Path) -> Place {
    let Ok(mut part) = serde_json::from_str::<&RawValue>(text) else {
        return Place::START;
    };
    for segment in path.segments() {
        let inner = match segment {
            Segment::Member(name) => serde_json::from_str::<BTreeMap<String, &RawValue>>(part.get())
                .ok()
                .and_then(|members| members.get(name).copied()),
            Segment::Index(index) => serde_json::from_str::<Vec<&RawValue>>(part.get())
                .ok()
                .and_then(|elements| elements.get(*index).copied()),
        };
        match inner {
            Some(inner) => part = inner,
            None => break,
        }
    }
    // The part borrows from the text, so its address gives the offset.
    let start = part.get().as_ptr().addr() - text.as_ptr().addr();
    let mut place = Place::START;
    text.bytes().take(start).for_each(|byte| place.advance(byte));
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_part_has_the_position_of_the_innermost_existing_part() {
        let text = "{\n  \"é\": [1, {\"b\": 2}],\n  \"c\": 3\n}";
        let mut path = Path::default();
        let found = |path: &Path| {
            let Place { line, column, .. } = place_of(text, path);
            (line, column)
        };
        assert_eq!(found(&path), (1, 1));
        path.push_member("é");
        path.push_index(1);
        assert_eq!(found(&path), (2, 12));
        path.push_member("b");
        assert_eq!(found(&path), (2, 18));
        path.pop();
        path.push_member("nonesuch");
        assert_eq!(found(&path), (2, 12));
    }
}
