//! The changes that ingesting makes to an official schema.

use std::collections::BTreeMap;

use mcp_wire::json_schema::{DEFINITIONS, Dialect, change_schemas, pointer, schema_at, walk};
use mcp_wire::validator::reference_targets;
use serde_json::{Map, Value, json};

use crate::load::PROSE;

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

/// Replaces `{"allOf": [{"$ref": …}]}` by the reference, which some generators write with prose beside it in this way, and
/// conditions on the value of one member by the union that they express.
pub(super) fn simplify_all_of(root: &mut Value) {
    let (mut targets, mut places) = (Vec::new(), Vec::new());
    walk(root, |at, schema| {
        targets.extend(schema.get("$ref").and_then(Value::as_str).and_then(pointer::canonical));
        places.extend(schema.get("allOf").map(|_| at.to_owned()));
    });
    // A reference may lead into an `allOf`.
    places.retain(|at| {
        let parts = format!("{at}/allOf/");
        !targets.iter().any(|target| target.starts_with(&parts))
    });
    // Inner schemas are simplified first.
    for at in places.iter().rev() {
        let schema = pointer::resolve(root, at).and_then(Value::as_object);
        let simpler = schema.and_then(|schema| only_reference(schema).or_else(|| union_of_conditions(root, schema)));
        if let (Some(simpler), Some(schema)) = (simpler, root.pointer_mut(&at[1..])) {
            *schema = Value::Object(simpler);
        }
    }
}

fn only_reference(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    match schema.get("allOf")?.as_array()?.as_slice() {
        [Value::Object(single)] if schema.len() == 1 && single.keys().eq(["$ref"]) => Some(single.clone()),
        _ => None,
    }
}

/// Returns the union that a schema expresses by a condition for each value of a required member.
fn union_of_conditions(root: &Value, schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let parts = schema.get("allOf")?.as_array()?;
    let cases: Vec<_> = parts.iter().map(condition).collect::<Option<_>>()?;
    let (tag, ..) = *cases.first()?;
    let properties = schema.get("properties")?.as_object()?;
    let values = properties.get(tag)?.get("enum")?.as_array()?;
    let is_union = ["anyOf", "oneOf"].iter().any(|keyword| schema.contains_key(*keyword));
    if is_union || schema.get("type")? != "object" || !requires(schema, tag) || values.len() != cases.len() {
        return None;
    }
    let case_of = |value: &Value| cases.iter().find(|(name, other, _)| (*name, *other) == (tag, value));
    let cases: Vec<_> = values.iter().map(case_of).collect::<Option<_>>()?;
    let is_tagged = |(tag, value, then): &(&str, &Value, &Value)| {
        let target = then.get("$ref").and_then(Value::as_str).and_then(pointer::canonical);
        let target = target.and_then(|target| pointer::resolve(root, &target)?.as_object());
        let constant = target.and_then(|target| constant(target.get("properties")?.get(tag)?));
        constant == Some(value)
            && target.is_some_and(|target| requires(target, tag) && target.get("type") == schema.get("type"))
    };
    let variant = |case: &(&str, &Value, &Value)| match (*case, is_tagged(case)) {
        ((.., then), true) => then.clone(),
        ((tag, value, then), false) => json!({ "allOf": [{ "properties": { tag: { "const": value } } }, then] }),
    };
    let variants: Vec<Value> = cases.iter().copied().map(variant).collect();
    let mut union = schema.clone();
    union.remove("allOf");
    if cases.iter().copied().all(is_tagged) && properties.len() == 1 && schema["required"] == json!([tag]) {
        // The variants imply all of this.
        union.retain(|keyword, _| !["type", "properties", "required"].contains(&keyword.as_str()));
    }
    union.insert("anyOf".to_owned(), variants.into());
    Some(union)
}

/// Returns the member, its value and the schema of `{"if": {"properties": {member: {"const": value}}}, "then": schema}`.
fn condition(part: &Value) -> Option<(&str, &Value, &Value)> {
    let part = part.as_object().filter(|part| part.len() == 2)?;
    let (test, then) = (part.get("if")?.as_object()?, part.get("then")?);
    let (tag, value) = test.get("properties")?.as_object()?.iter().next()?;
    let mut others = test.iter().filter(|(keyword, _)| *keyword != "properties");
    let is_only = test["properties"].as_object()?.len() == 1
        && others.all(|(keyword, names)| keyword == "required" && *names == json!([tag]));
    Some((tag.as_str(), constant(value)?, then)).filter(|_| is_only)
}

/// Returns the only value that a schema accepts.
fn constant(schema: &Value) -> Option<&Value> {
    let only = schema
        .get("enum")
        .and_then(Value::as_array)
        .filter(|values| values.len() == 1);
    schema.get("const").or_else(|| only?.first())
}

fn requires(schema: &Map<String, Value>, member: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|name| name == member))
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
        let reference = place.strip_prefix('#').and_then(|place| root.pointer_mut(place));
        if let Some(Value::String(reference)) = reference
            && pointer::canonical(reference).as_ref() != Some(&target)
        {
            *reference = pointer::reference(&target);
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
                    *reference = pointer::reference(&inner);
                }
            });
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

/// Whether a keyword is an annotation, which accepts every instance.
fn is_annotation(keyword: &str) -> bool {
    PROSE.contains(&keyword)
        || keyword.starts_with("x-")
        || matches!(
            keyword,
            "default" | "deprecated" | "readOnly" | "writeOnly" | "contentEncoding" | "contentMediaType"
        )
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
    if keywords.get("items").is_some_and(Value::is_array) {
        let elements = keywords.remove("items").unwrap_or_default();
        keywords.insert("prefixItems".to_owned(), elements);
        if let Some(others) = keywords.remove("additionalItems") {
            keywords.insert("items".to_owned(), others);
        }
    }
    keywords.remove("additionalItems");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_for_all_values_of_a_member_become_a_union() {
        let tagged =
            |tag: &str| json!({"type": "object", "properties": {"type": {"const": tag}}, "required": ["type"]});
        let case = |tag: &str, then: &Value| json!({"if": {"properties": {"type": {"const": tag}}}, "then": then});
        let (text, image) = (json!({"$ref": "#/$defs/Text"}), json!({"$ref": "#/$defs/Image"}));
        let sized = json!({"required": ["size"]});
        let union = |tags: Value, cases: Value| json!({"type": "object", "properties": {"type": {"enum": tags}}, "required": ["type"], "allOf": cases});
        let open = union(
            json!(["text", "image", "other"]),
            json!([case("text", &text), case("image", &image)]),
        );
        let mut schema = json!({"$defs": {
            "Text": tagged("text"),
            "Image": tagged("image"),
            "Content": union(json!(["text", "image"]), json!([case("image", &image), case("text", &text)])),
            "Sized": union(json!(["text", "image"]), json!([case("text", &text), case("image", &sized)])),
            "Open": open,
        }});
        simplify_all_of(&mut schema);
        assert_eq!(schema["$defs"]["Content"], json!({"anyOf": [text, image]}));
        let sized = json!({"allOf": [{"properties": {"type": {"const": "image"}}}, sized]});
        assert_eq!(
            schema["$defs"]["Sized"],
            json!({
                "type": "object",
                "properties": {"type": {"enum": ["text", "image"]}},
                "required": ["type"],
                "anyOf": [text, sized]
            })
        );
        assert_eq!(schema["$defs"]["Open"], open, "a value has no condition");
    }

    #[test]
    fn an_all_of_stays_if_a_reference_leads_into_it() {
        let text = json!({"$ref": "#/$defs/Text"});
        let mut schema = json!({"$defs": {
            "Text": {"type": "string"},
            "Name": {"allOf": [text]},
            "Title": {"allOf": [text]},
            "Label": {"$ref": "#/$defs/Title/allOf/0"},
        }});
        simplify_all_of(&mut schema);
        assert_eq!(schema["$defs"]["Name"], text);
        assert_eq!(schema["$defs"]["Title"], json!({"allOf": [text]}));
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
}
