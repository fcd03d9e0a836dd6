//! Names of types in TypeScript.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::names::unique;

/// Names that a type can't have in a module.
#[rustfmt::skip]
const RESERVED: [&str; 48] = [
    "any", "as", "bigint", "boolean", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
    "delete", "do", "else", "enum", "export", "extends", "false", "finally", "for", "function", "if", "import",
    "in", "instanceof", "interface", "let", "never", "new", "null", "number", "object", "return", "static",
    "string", "super", "switch", "symbol", "this", "throw", "true", "try", "type", "undefined", "unknown", "void",
    "with",
];

/// Returns the name of each definition: its own, unless that isn't valid in TypeScript or already used in the file.
pub(super) fn type_names<'d>(
    definitions: impl Iterator<Item = &'d String>,
    taken: &[String],
) -> BTreeMap<&'d str, String> {
    let mut used: BTreeSet<String> = taken.iter().cloned().collect();
    let mut names = BTreeMap::new();
    for definition in definitions {
        let name = unique(&identifier(definition), |name| used.contains(name));
        used.insert(name.clone());
        names.insert(definition.as_str(), name);
    }
    names
}

/// Returns the identifier that is most like a name.
pub(super) fn identifier(name: &str) -> String {
    let mut identifier = word(name);
    if RESERVED.contains(&identifier.as_str()) {
        identifier.push('_');
    }
    identifier
}

/// Returns the word that is most like a name and has the form of an identifier. It may be reserved.
fn word(name: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let mut word: String = name.chars().map(|c| if is_part(c) { c } else { '_' }).collect();
    if word.is_empty() || word.starts_with(|first: char| first.is_ascii_digit()) {
        word.insert(0, '_');
    }
    word
}

pub(super) fn key(name: &str) -> String {
    match word(name) {
        word if word == name => word,
        _ => serde_json::Value::from(name).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{key, type_names};

    #[test]
    fn invalid_reserved_and_taken_names_are_replaced() {
        let definitions = ["Tool", "object", "a b", "a_b", "2Tools", "ClientRequests"].map(str::to_owned);
        let names = type_names(definitions.iter(), &["ClientRequests".to_owned()]);
        let names: Vec<&str> = definitions.iter().map(|name| names[name.as_str()].as_str()).collect();
        assert_eq!(names, ["Tool", "object_", "a_b", "a_b2", "_2Tools", "ClientRequests2"]);
    }

    #[test]
    fn a_key_is_quoted_if_it_must_be() {
        assert_eq!(
            ["name", "_meta", "a/b", "2", ""].map(key),
            ["name", "_meta", "\"a/b\"", "\"2\"", "\"\""]
        );
    }
}
