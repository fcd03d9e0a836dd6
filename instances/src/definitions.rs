//! The definitions of a document.

use mcp_json_schema::{all_definitions, pointer};
use serde_json::Value;

/// A named schema of the document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// `Name`, or `Outer/Inner` for a nested one.
    pub(crate) name: String,
    /// Its JSON pointer.
    pub(crate) pointer: String,
}

/// Lists the definitions of a document. A nested definition follows the one that contains it.
pub(crate) fn definitions(root: &Value) -> Vec<Definition> {
    let definitions = all_definitions(root).into_iter();
    let named = definitions.map(|(pointer, ..)| {
        // Each name follows the keyword that contains it.
        let tokens = pointer::tokens(&pointer).unwrap_or_default();
        let names: Vec<String> = tokens.into_iter().skip(1).step_by(2).collect();
        Definition {
            name: names.join("/"),
            pointer: pointer.trim_start_matches('#').to_owned(),
        }
    });
    named.collect()
}
