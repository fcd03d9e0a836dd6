//! Where the definitions of a document stand.

use serde_json::Value;

/// The keywords that hold definitions, one a dialect; documents mix them.
const CONTAINERS: [&str; 2] = ["definitions", "$defs"];

/// A named schema of the document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// `Name`, or `Outer/Inner` for a nested one.
    pub(crate) name: String,
    /// Its JSON pointer.
    pub(crate) pointer: String,
}

/// Lists the definitions of a document, each nested one after the one it is nested in.
pub(crate) fn definitions(root: &Value) -> Vec<Definition> {
    let mut found = Vec::new();
    collect(root, "", "", &mut found);
    found
}

fn collect(schema: &Value, prefix: &str, at: &str, found: &mut Vec<Definition>) {
    for container in CONTAINERS {
        let Some(entries) = schema.get(container).and_then(Value::as_object) else {
            continue;
        };
        for (key, schema) in entries {
            let name = format!("{prefix}{key}");
            let pointer = format!("{at}/{container}/{}", escape(key));
            found.push(Definition {
                name: name.clone(),
                pointer: pointer.clone(),
            });
            collect(schema, &format!("{name}/"), &pointer, found);
        }
    }
}

/// Escapes a member's name for use in a JSON pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
