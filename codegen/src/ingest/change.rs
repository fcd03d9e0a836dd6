//! The changes that ingesting makes to an official schema.

use std::collections::BTreeMap;

use mcp_wire::json_schema::{DEFINITIONS, Dialect, change_schemas, pointer, schema_at};
use serde_json::Value;

/// Prose, which doesn't affect validation and isn't ours to publish.
const PROSE: [&str; 5] = ["$comment", "description", "example", "examples", "title"];

/// Removes the prose of schemas. A member that is *named* `description`, and the contents of a constant or default, aren't
/// prose.
pub(super) fn remove_prose(root: &mut Value) {
    change_schemas(root, &mut |schema| {
        if let Some(keywords) = schema.as_object_mut() {
            PROSE.iter().for_each(|prose| {
                keywords.remove(*prose);
            });
        }
    });
}

/// Removes each dialect inside a document that is the document's own: some generators write it into every definition.
pub(super) fn remove_repeated_dialects(root: &mut Value) {
    let Some(dialect) = root.get("$schema").cloned() else {
        return;
    };
    change_schemas(root, &mut |schema| {
        if let Some(keywords) = schema.as_object_mut() {
            keywords.retain(|keyword, value| keyword != "$schema" || *value != dialect);
        }
    });
    if let Some(keywords) = root.as_object_mut() {
        keywords.insert("$schema".to_owned(), dialect);
    }
}

/// Completes references that lead to nothing from the document's root, and to something from the root of the definition that they are
/// in: a bundle of documents, each of which has become a definition.
pub(super) fn complete_references(root: &mut Value) {
    let whole = root.clone();
    let leads_somewhere = |target: &str| schema_at(&whole, target).is_some();
    for keyword in DEFINITIONS {
        let definitions = root.get_mut(keyword).and_then(Value::as_object_mut);
        for (name, definition) in definitions.into_iter().flatten() {
            let around = pointer::child(&format!("#/{keyword}"), name);
            change_schemas(definition, &mut |schema| {
                let Some(Value::String(reference)) = schema.get_mut("$ref") else {
                    return;
                };
                let target = pointer::canonical(reference).filter(|target| !leads_somewhere(target));
                let inner = target.and_then(|target| Some(format!("{around}{}", target.strip_prefix('#')?)));
                if let Some(inner) = inner.filter(|inner| leads_somewhere(inner)) {
                    *reference = inner;
                }
            });
        }
    }
}

/// Replaces each external reference by its alias. A reference without an alias stays, and is reported by the check.
pub(super) fn replace_aliases(root: &mut Value, dialect: Dialect, aliases: &BTreeMap<String, Value>) {
    change_schemas(root, &mut |schema| {
        let Some(keywords) = schema.as_object_mut() else {
            return;
        };
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let Some(alias) = reference.and_then(|reference| aliases.get(reference)) else {
            return;
        };
        keywords.remove("$ref");
        // Draft-07 ignores the keywords beside a `$ref`. Without the `$ref` they would apply.
        keywords.retain(|keyword, _| dialect == Dialect::Draft202012 || is_annotation(keyword));
        match alias {
            Value::Object(alias)
                if alias
                    .keys()
                    .all(|keyword| is_annotation(keyword) || !keywords.contains_key(keyword)) =>
            {
                for (keyword, value) in alias {
                    keywords.entry(keyword).or_insert_with(|| value.clone());
                }
            }
            other => {
                // Both must apply, and there may already be an `allOf` beside the reference.
                let mut all = vec![other.clone()];
                if let Some(Value::Array(own)) = keywords.remove("allOf") {
                    all.extend(own);
                }
                keywords.insert("allOf".into(), Value::Array(all));
            }
        }
    });
}

/// Whether a keyword is an annotation, which accepts every instance.
fn is_annotation(keyword: &str) -> bool {
    PROSE.contains(&keyword)
        || keyword.starts_with("x-")
        || matches!(
            keyword,
            "default" | "deprecated" | "readOnly" | "writeOnly" | "contentEncoding" | "contentMediaType"
        )
}
