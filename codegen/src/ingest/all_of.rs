//! Simpler forms of what official schemas write as an `allOf`.

use mcp_wire::json_schema::{pointer, walk};
use serde_json::{Map, Value, json};

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
}
