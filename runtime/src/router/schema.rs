//! The schemas that the types of arguments and results derive.

use mcp_wire::json_schema::pointer;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::{RecursiveTransform, ReplaceBoolSchemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The schemas of arguments.
pub(super) struct Input {
    /// What clients are shown. A member that may be absent isn't `null` as well: several clients can't take a member of two
    /// types.
    pub(super) shown: Value,
    /// What arguments are validated by. A member that may be absent may be `null`, which serde decodes as well.
    pub(super) accepted: Value,
}

/// The schemas of a type as it is decoded.
pub(super) fn input<T: JsonSchema>() -> Input {
    let settings = || settings(Contract::Deserialize);
    Input {
        shown: derive::<T>(settings().with_transform(RecursiveTransform(optional_not_nullable))),
        accepted: derive::<T>(settings()),
    }
}

/// What clients are shown of a type, without references.
pub(super) fn inline<T: JsonSchema>() -> Value {
    let settings = settings(Contract::Deserialize).with(|settings| settings.inline_subschemas = true);
    derive::<T>(settings.with_transform(RecursiveTransform(optional_not_nullable)))
}

/// The schema of a type as it is encoded.
pub(super) fn output<T: JsonSchema>() -> Value {
    derive::<T>(settings(Contract::Serialize))
}

fn settings(contract: Contract) -> SchemaSettings {
    // In the protocol's schemas, the schema of a member is an object, and never `true`.
    let mut no_booleans = ReplaceBoolSchemas::default();
    no_booleans.skip_additional_properties = true;
    SchemaSettings::draft2020_12()
        .with(|settings| settings.contract = contract)
        .with_transform(no_booleans)
}

fn derive<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // It is the name of the Rust type.
    schema.remove("title");
    schema.to_value()
}

/// How many references in a row are followed.
const MAX_REFERENCES: usize = 16;

/// The schema with `type: object` at its root, as the protocol wants it. If it doesn't say that every value is an object, it
/// comes back as an error, to be shown.
pub(super) fn object_root(mut schema: Value) -> Result<Value, Value> {
    let is_object = has_type(&["object"], &schema, &schema, MAX_REFERENCES);
    match schema.as_object_mut() {
        Some(keywords) if is_object => {
            keywords.insert("type".to_owned(), json!("object"));
            Ok(schema)
        }
        keywords => {
            keywords.and_then(|keywords| keywords.remove("$schema"));
            Err(schema)
        }
    }
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) is_required: bool,
    /// Whether its values can be written as text: they are strings, numbers or Booleans.
    pub(super) is_text: bool,
    pub(super) schema: Value,
}

/// The members that a schema of objects declares.
pub(super) fn members(schema: &Value) -> Vec<Member> {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |member: &Value, keyword| member[keyword].as_str().map(str::to_owned);
    let properties = schema["properties"].as_object().into_iter().flatten();
    let members = properties.map(|(name, member)| Member {
        name: name.clone(),
        title: text(member, "title"),
        description: text(member, "description"),
        is_required: required.iter().any(|required| required == name),
        is_text: has_type(TEXTS, member, schema, MAX_REFERENCES),
        schema: member.clone(),
    });
    members.collect()
}

/// The types of values that can be written as text.
const TEXTS: &[&str] = &["string", "integer", "number", "boolean"];

/// Whether a schema that is part of `root` says that every value has one of these types.
fn has_type(types: &[&str], schema: &Value, root: &Value, references: usize) -> bool {
    if let Some(kind) = schema.get("type") {
        return kind.as_str().is_some_and(|kind| types.contains(&kind));
    }
    let of = |keyword: &str| schema[keyword].as_array().map_or(&[][..], Vec::as_slice);
    let each = |schema: &Value| has_type(types, schema, root, references);
    let target = schema["$ref"].as_str().and_then(pointer::canonical);
    ["oneOf", "anyOf"]
        .iter()
        .any(|keyword| !of(keyword).is_empty() && of(keyword).iter().all(each))
        || of("allOf").iter().any(each)
        || references > 0
            && target
                .and_then(|target| pointer::resolve(root, &target))
                .is_some_and(|target| has_type(types, target, root, references - 1))
}

/// Takes `null` away from the members that may be absent.
fn optional_not_nullable(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        required
            .as_array()
            .is_some_and(|names| names.iter().any(|of| of == name))
    };
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, member) in members.into_iter().flatten() {
        if let (false, Some(member)) = (is_required(name), member.as_object_mut()) {
            not_nullable(member);
        }
    }
}

/// Takes `null` away from the values that a schema accepts, if there are others.
fn not_nullable(schema: &mut Map<String, Value>) {
    if let Some(types) = schema.get_mut("type") {
        take(types, &json!("null"));
        if let Some([only]) = types.as_array().map(Vec::as_slice) {
            *types = only.clone();
        }
    }
    if let Some(values) = schema.get_mut("enum") {
        take(values, &Value::Null);
    }
    if let Some(alternatives) = schema.get_mut("anyOf") {
        take(alternatives, &json!({"type": "null"}));
        // What remains of an `Option` is one schema, whose keywords can stand beside the description.
        if let Some([Value::Object(only)]) = alternatives.as_array().map(Vec::as_slice) {
            let only = only.clone();
            if !only.keys().any(|keyword| schema.contains_key(keyword)) {
                schema.remove("anyOf");
                schema.extend(only);
            }
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

/// Takes an element out of a list, unless nothing else is in it.
fn take(list: &mut Value, element: &Value) {
    if let Some(list) = list.as_array_mut()
        && list.iter().any(|other| other != element)
    {
        list.retain(|other| other != element);
    }
}
