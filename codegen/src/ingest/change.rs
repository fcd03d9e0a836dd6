//! The changes that ingesting makes to an official schema.

use std::collections::BTreeMap;

use mcp_json_schema::{Dialect, change_schemas, definitions, pointer, reference_targets, schema_at, walk};
use serde_json::{Map, Value};

use crate::normalise::is_annotation;

/// Removes keywords from all schemas. A member that is *named* `description`, and the contents of a constant or default,
/// aren't keywords.
pub(super) fn remove_keywords<'k>(root: &mut Value, names: impl IntoIterator<Item = &'k str>) {
    let names: Vec<&str> = names.into_iter().collect();
    change_keywords(root, |keywords| {
        keywords.retain(|keyword, _| !names.contains(&keyword.as_str()));
    });
}

/// Changes the keywords of each schema in a document.
fn change_keywords(root: &mut Value, mut change: impl FnMut(&mut Map<String, Value>)) {
    change_schemas(root, &mut |schema| {
        if let Some(keywords) = schema.as_object_mut() {
            change(keywords);
        }
    });
}

/// Replaces a list of one type by the type, which means the same.
pub(super) fn unwrap_single_types(root: &mut Value) {
    change_keywords(root, |keywords| {
        if let Some(types) = keywords.get_mut("type")
            && let Some([only]) = types.as_array().map(Vec::as_slice)
        {
            *types = only.clone();
        }
    });
}

/// Removes `$schema` inside a document where it repeats the document's: some generators write it into every definition.
pub(super) fn remove_repeated_dialects(root: &mut Value) {
    let Some(dialect) = root.get("$schema").cloned() else {
        return;
    };
    change_keywords(root, |keywords| {
        keywords.retain(|keyword, value| keyword != "$schema" || *value != dialect);
    });
    if let Some(keywords) = root.as_object_mut() {
        keywords.insert("$schema".to_owned(), dialect);
    }
}

/// Names the dialect that is read instead of one of which schemas mean the same in it. Draft-07 only adds keywords to
/// draft-06, and 2019-09 has other names for the keywords of lists.
pub(super) fn replace_dialect(root: &mut Value) {
    let uri = root.get("$schema").and_then(Value::as_str);
    let dialect = match uri.map(|uri| uri.trim_end_matches('#')) {
        Some("http://json-schema.org/draft-06/schema") => Dialect::Draft07,
        Some("https://json-schema.org/draft/2019-09/schema") => {
            change_keywords(root, |keywords| {
                rename_lists(keywords);
                // A recursive reference is reported by the check.
                keywords.remove("$recursiveAnchor");
            });
            Dialect::Draft202012
        }
        _ => return,
    };
    if let Some(keywords) = root.as_object_mut() {
        keywords.insert("$schema".to_owned(), dialect.uri().into());
    }
}

/// Replaces each dynamic reference by a reference, if only one schema has the dynamic anchor that it names: it always leads
/// to this schema then.
pub(super) fn replace_dynamic_references(root: &mut Value) {
    const ANCHOR: &str = "$dynamicAnchor";
    const REFERENCE: &str = "$dynamicRef";
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    walk(root, |_, schema| {
        if let Some(anchor) = schema.get(ANCHOR).and_then(Value::as_str) {
            *counts.entry(anchor.to_owned()).or_default() += 1;
        }
    });
    let is_single = |name: &str| counts.get(name) == Some(&1);
    let leads_to_one = |reference: &str| {
        let fragment = reference.split_once('#').map(|(_, fragment)| fragment);
        fragment.is_some_and(|fragment| fragment.starts_with('/') || is_single(fragment))
    };
    change_keywords(root, |keywords| {
        let mut replace = |dynamic: &str, keyword: &str, is_meant: &dyn Fn(&str) -> bool| {
            let value = keywords.get(dynamic).and_then(Value::as_str).map(str::to_owned);
            if let Some(value) = value.filter(|value| is_meant(value) && !keywords.contains_key(keyword)) {
                keywords.remove(dynamic);
                keywords.insert(keyword.to_owned(), value.into());
            }
        };
        replace(ANCHOR, "$anchor", &is_single);
        replace(REFERENCE, "$ref", &leads_to_one);
    });
}

/// Replaces each reference by the pointer of its target from the document's root, and removes the identifiers of schemas,
/// which nothing needs then: some generators name every definition by `$id` or `$anchor`.
///
/// A reference that leads nowhere stays, and so do all identifiers if one is malformed or occurs twice. The check reports
/// both.
pub(super) fn replace_identifiers(root: &mut Value) {
    let Ok(targets) = reference_targets(root) else {
        return;
    };
    for (at, target) in targets {
        let place = pointer::child(&at, "$ref");
        let reference = pointer::resolve(root, &place).and_then(Value::as_str);
        if reference.and_then(pointer::canonical).as_ref() != Some(&target)
            && let Some(reference) = root.pointer_mut(&place[1..])
        {
            *reference = pointer::reference(&target).into();
        }
    }
    let document = root.get("$id").cloned();
    change_keywords(root, |keywords| {
        keywords.remove("$id");
        keywords.remove("$anchor");
    });
    if let (Some(keywords), Some(document)) = (root.as_object_mut(), document) {
        keywords.insert("$id".to_owned(), document);
    }
}

/// Completes references that can't be resolved from the document's root, but can be from the root of the definition
/// that they are in. They occur in bundles of documents, each of which has become a definition.
pub(super) fn complete_references(root: &mut Value) {
    let leads_somewhere = |target: &str| schema_at(root, target).is_some();
    let mut completed = Vec::new();
    for (around, _, definition) in definitions(root, "#") {
        walk(definition, |at, schema| {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(pointer::canonical);
            let target = target.filter(|target| !leads_somewhere(target));
            let inner = target.and_then(|target| Some(format!("{around}{}", target.strip_prefix('#')?)));
            let inner = inner.filter(|inner| leads_somewhere(inner));
            completed.extend(inner.map(|inner| (format!("{around}{}/$ref", &at[1..]), pointer::reference(&inner))));
        });
    }
    for (at, complete) in completed {
        if let Some(reference) = root.pointer_mut(&at[1..]) {
            *reference = complete.into();
        }
    }
}

/// Replaces each external reference by its alias. A reference without an alias stays, and is reported by the check.
pub(super) fn replace_aliases(root: &mut Value, dialect: Dialect, aliases: &BTreeMap<String, Value>) {
    change_keywords(root, |keywords| {
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let Some(alias) = reference.and_then(|reference| aliases.get(reference)) else {
            return;
        };
        keywords.remove("$ref");
        // Draft-07 ignores the keywords next to a `$ref`. Without the `$ref` they would apply.
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
                // Both must apply, and there may already be an `allOf` next to the reference.
                let mut all = vec![other.clone()];
                if let Some(Value::Array(own)) = keywords.remove("allOf") {
                    all.extend(own);
                }
                keywords.insert("allOf".into(), Value::Array(all));
            }
        }
    });
}

const OLD: &str = "#/definitions/";
const NEW: &str = "#/$defs/";

/// Rewrites a schema of draft-07 as an equivalent one of 2020-12. Definitions go below `$defs`.
pub(super) fn modernise(root: &mut Value) {
    change_keywords(root, modernise_keywords);
    if let Some(document) = root.as_object_mut() {
        document.insert("$schema".to_owned(), Dialect::Draft202012.uri().into());
        if let Some(Value::Object(definitions)) = document.remove("definitions") {
            let defined = document.entry("$defs").or_insert_with(|| Map::new().into());
            if let Some(defined) = defined.as_object_mut() {
                defined.extend(definitions);
            }
        }
    }
}

fn modernise_keywords(keywords: &mut Map<String, Value>) {
    if let Some(Value::String(reference)) = keywords.get_mut("$ref") {
        if let Some(name) = reference.strip_prefix(OLD) {
            *reference = format!("{NEW}{name}");
        }
        // Draft-07 ignores the keywords next to a reference.
        keywords.retain(|keyword, _| keyword == "$ref" || keyword == "description" || keyword == "definitions");
    }
    rename_lists(keywords);
    if let Some(Value::Object(dependencies)) = keywords.remove("dependencies") {
        let is_names = |(_, value): &(String, Value)| value.is_array();
        let (names, schemas): (Vec<_>, Vec<_>) = dependencies.into_iter().partition(is_names);
        for (keyword, entries) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
            if !entries.is_empty() {
                keywords.insert(keyword.to_owned(), Value::Object(entries.into_iter().collect()));
            }
        }
    }
}

/// Gives the keywords of lists their names in 2020-12.
fn rename_lists(keywords: &mut Map<String, Value>) {
    if keywords.get("items").is_some_and(Value::is_array) {
        let elements = keywords.remove("items").unwrap_or_default();
        keywords.insert("prefixItems".to_owned(), elements);
        if let Some(others) = keywords.remove("additionalItems") {
            keywords.insert("items".to_owned(), others);
        }
    }
    keywords.remove("additionalItems");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_of_one_type_becomes_the_type_and_other_values_stay() {
        let mut schema = json!({"$defs": {"A": {
            "type": ["object"],
            "properties": {
                "type": {"type": ["string", "null"], "enum": [["string"], null], "default": {"type": ["string"]}},
                "b": {"type": ["array"], "items": {"type": ["string"]}},
            },
        }}});
        unwrap_single_types(&mut schema);
        let expected = json!({"$defs": {"A": {
            "type": "object",
            "properties": {
                "type": {"type": ["string", "null"], "enum": [["string"], null], "default": {"type": ["string"]}},
                "b": {"type": "array", "items": {"type": "string"}},
            },
        }}});
        assert_eq!(schema, expected);
    }

    #[test]
    fn a_draft_07_schema_is_rewritten_in_2020_12() {
        let mut schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {
                "A": {"$ref": "#/definitions/B", "maxLength": 1, "description": "…"},
                "B": {"type": "array", "items": [{"type": "string"}], "additionalItems": false},
                "C": {"additionalItems": false, "items": {"$ref": "#/definitions/A"}},
                "D": {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            },
        });
        modernise(&mut schema);
        let expected = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "A": {"$ref": "#/$defs/B", "description": "…"},
                "B": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
                "C": {"items": {"$ref": "#/$defs/A"}},
                "D": {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
            },
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn a_schema_of_draft_06_or_2019_09_gets_the_dialect_in_which_it_means_the_same() {
        let pair = json!({"items": [{"type": "string"}], "additionalItems": false});
        for (uri, expected) in [
            (
                "http://json-schema.org/draft-06/schema#",
                json!({"$schema": "http://json-schema.org/draft-07/schema", "definitions": {"Pair": pair}}),
            ),
            (
                "https://json-schema.org/draft/2019-09/schema",
                json!({
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "definitions": {"Pair": {"prefixItems": [{"type": "string"}], "items": false}},
                }),
            ),
            (
                "http://json-schema.org/draft-04/schema#",
                json!({"$schema": "http://json-schema.org/draft-04/schema#", "definitions": {"Pair": pair}}),
            ),
        ] {
            let mut schema = json!({"$schema": uri, "definitions": {"Pair": pair}});
            replace_dialect(&mut schema);
            assert_eq!(schema, expected);
        }
    }

    #[test]
    fn a_dynamic_reference_stays_if_several_schemas_have_its_anchor() {
        let list = |keyword: &str, reference: &str| json!({"items": {(keyword): reference}});
        let mut schema = json!({"$defs": {
            "Tree": {"$dynamicAnchor": "tree", "properties": {"children": list("$dynamicRef", "#tree")}},
            "Node": {"$dynamicAnchor": "node"},
            "Leaf": {"$id": "leaf", "$dynamicAnchor": "node"},
            "Nodes": list("$dynamicRef", "#node"),
            "Trees": list("$dynamicRef", "#/$defs/Tree"),
        }});
        replace_dynamic_references(&mut schema);
        let expected = json!({"$defs": {
            "Tree": {"$anchor": "tree", "properties": {"children": list("$ref", "#tree")}},
            "Node": {"$dynamicAnchor": "node"},
            "Leaf": {"$id": "leaf", "$dynamicAnchor": "node"},
            "Nodes": list("$dynamicRef", "#node"),
            "Trees": list("$ref", "#/$defs/Tree"),
        }});
        assert_eq!(schema, expected);
    }
}
