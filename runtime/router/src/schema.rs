//! The schemas that are derived from the types of arguments and results.

use std::collections::BTreeMap;

use mcp_wire::json_schema::pointer;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::{RecursiveTransform, ReplaceBoolSchemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The schemas of arguments.
pub(super) struct Input {
    /// The schema in lists of tools. Optional members aren't nullable in it, because several clients don't support
    /// members with two types.
    pub(super) shown: Value,
    /// The schema that arguments are validated by. Optional members are nullable in it, because serde decodes `null`
    /// too.
    pub(super) accepted: Value,
}

/// The schemas of a type that is decoded.
pub(super) fn input<T: JsonSchema>() -> Input {
    let settings = || settings(Contract::Deserialize);
    let shown = derive::<T>(settings().with_transform(RecursiveTransform(optional_not_nullable)));
    Input {
        shown: inlined(&shown, Inlined::Once),
        accepted: derive::<T>(settings()),
    }
}

/// The schema of a type that clients are shown, without references.
pub(super) fn inline<T: JsonSchema>() -> Value {
    let settings = settings(Contract::Deserialize).with(|settings| settings.inline_subschemas = true);
    derive::<T>(settings.with_transform(RecursiveTransform(optional_not_nullable)))
}

/// The schema of a type that is encoded.
pub(super) fn output<T: JsonSchema>() -> Value {
    inlined(&derive::<T>(settings(Contract::Serialize)), Inlined::Once)
}

fn settings(contract: Contract) -> SchemaSettings {
    // In the protocol's schemas, the schema of a member is an object, and never `true`.
    let mut no_booleans = ReplaceBoolSchemas::default();
    no_booleans.skip_additional_properties = true;
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.contract = contract;
            // Revisions that define a default dialect for schemas without `$schema` define this one. For the other
            // revisions, several clients support only their own dialect, and refuse a tool that names another.
            settings.meta_schema = None;
        })
        .with_transform(no_booleans)
        .with_transform(RecursiveTransform(bounds_for_formats))
}

/// Replaces the format of a number by bounds. JSON Schema defines no formats of numbers, and some clients refuse them or
/// warn of them.
fn bounds_for_formats(schema: &mut Schema) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let bounds: [Option<Value>; 2] = match keywords.get("format").and_then(Value::as_str) {
        Some("int8") => [Some(i8::MIN.into()), Some(i8::MAX.into())],
        Some("int16") => [Some(i16::MIN.into()), Some(i16::MAX.into())],
        Some("int32") => [Some(i32::MIN.into()), Some(i32::MAX.into())],
        Some("uint8") => [None, Some(u8::MAX.into())],
        Some("uint16") => [None, Some(u16::MAX.into())],
        Some("uint32") => [None, Some(u32::MAX.into())],
        Some("int" | "int64" | "int128" | "uint" | "uint64" | "uint128" | "float" | "double") => [None, None],
        _ => return,
    };
    keywords.remove("format");
    for (keyword, bound) in ["minimum", "maximum"].into_iter().zip(bounds) {
        if let Some(bound) = bound {
            keywords.entry(keyword).or_insert(bound);
        }
    }
}

fn derive<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The title is the name of the Rust type.
    schema.remove("title");
    schema.to_value()
}

/// The definitions that replace the references to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inlined {
    /// Definitions with only one reference.
    Once,
    /// All definitions except for recursive ones.
    All,
}

/// Replaces references in a schema by their definitions. Only definitions that still have references are kept in
/// `$defs`.
pub(super) fn inlined(schema: &Value, which: Inlined) -> Value {
    let Some(definitions) = schema.get(DEFINITIONS).and_then(Value::as_object) else {
        return schema.clone();
    };
    let mut counts = BTreeMap::new();
    count_references(schema, &mut counts);
    if counts.keys().any(|name| !definitions.contains_key(name)) {
        // A reference to a part of a definition: the definition has to stay in its place.
        return schema.clone();
    }
    let mut inliner = Inliner {
        definitions,
        counts,
        which,
        within: Vec::new(),
        kept: Vec::new(),
    };
    let mut root = schema.clone();
    root.as_object_mut().map(|root| root.remove(DEFINITIONS));
    let mut root = inliner.inline(&root);
    let mut kept = Map::new();
    // Definitions that are kept may refer to others.
    while let Some(name) = inliner.kept.pop() {
        if let Some(definition) = definitions.get(name).filter(|_| !kept.contains_key(name)) {
            inliner.within = vec![name];
            kept.insert(name.to_owned(), inliner.inline(definition));
        }
    }
    if let (Value::Object(root), false) = (&mut root, kept.is_empty()) {
        root.insert(DEFINITIONS.to_owned(), kept.into());
    }
    root
}

/// The keyword of a schema's definitions.
const DEFINITIONS: &str = "$defs";

/// The name of the definition that a schema refers to.
fn reference(schema: &Map<String, Value>) -> Option<String> {
    let pointer = pointer::canonical(schema.get("$ref")?.as_str()?)?;
    let name = pointer.strip_prefix("#/$defs/")?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// Counts the references to each definition.
fn count_references(schema: &Value, counts: &mut BTreeMap<String, usize>) {
    match schema {
        Value::Object(keywords) => {
            if let Some(name) = reference(keywords) {
                *counts.entry(name).or_default() += 1;
            }
            keywords.values().for_each(|inner| count_references(inner, counts));
        }
        Value::Array(schemas) => schemas.iter().for_each(|inner| count_references(inner, counts)),
        _ => {}
    }
}

/// An object with these members. Collecting an iterator into a map would compile separate sorting code for each type of
/// iterator.
pub(super) fn object(members: &mut dyn Iterator<Item = (String, Value)>) -> Value {
    let mut object = Map::new();
    for (name, value) in members {
        object.insert(name, value);
    }
    Value::Object(object)
}

/// Replaces references by their definitions.
struct Inliner<'s> {
    definitions: &'s Map<String, Value>,
    counts: BTreeMap<String, usize>,
    which: Inlined,
    /// The definitions that contain the current schema.
    within: Vec<&'s str>,
    /// The definitions that still have references.
    kept: Vec<&'s str>,
}

impl<'s> Inliner<'s> {
    fn inline(&mut self, schema: &Value) -> Value {
        match schema {
            Value::Object(keywords) => match reference(keywords).and_then(|name| self.definition(&name)) {
                Some((name, definition)) => {
                    self.within.push(name);
                    let definition = self.inline(definition);
                    self.within.pop();
                    beside(definition, keywords)
                }
                None => object(&mut keywords.iter().map(|(name, inner)| (name.clone(), self.inline(inner)))),
            },
            Value::Array(schemas) => schemas.iter().map(|inner| self.inline(inner)).collect(),
            other => other.clone(),
        }
    }

    /// The definition with this name, if it replaces the reference.
    fn definition(&mut self, name: &str) -> Option<(&'s str, &'s Value)> {
        let (name, definition) = self.definitions.get_key_value(name)?;
        let is_inlined = self.which == Inlined::All || self.counts.get(name) == Some(&1);
        if is_inlined && !self.within.contains(&&**name) {
            return Some((name, definition));
        }
        self.kept.push(name);
        None
    }
}

/// Merges a definition with the keywords next to the reference that it replaces. The description of a member takes
/// precedence over that of its type.
fn beside(definition: Value, reference: &Map<String, Value>) -> Value {
    const ANNOTATIONS: [&str; 7] = [
        "title",
        "description",
        "default",
        "deprecated",
        "readOnly",
        "writeOnly",
        "examples",
    ];
    let mut keywords = reference.clone();
    keywords.remove("$ref");
    match definition {
        Value::Object(mut definition) => {
            let clashes = |name: &String| definition.contains_key(name) && !ANNOTATIONS.contains(&&**name);
            if keywords.keys().any(clashes) {
                let all = json!([definition]);
                match keywords.get_mut("allOf").and_then(Value::as_array_mut) {
                    Some(others) => others.push(definition.into()),
                    None => drop(keywords.insert("allOf".to_owned(), all)),
                }
                return keywords.into();
            }
            definition.extend(keywords);
            definition.into()
        }
        other => other,
    }
}

/// The maximum length of a chain of references that is followed.
const MAX_REFERENCES: usize = 16;

/// Adds `type: object` to the root of a schema, as the protocol requires. If the schema doesn't declare that every
/// value is an object, it is returned as the error, for the error message.
pub(super) fn object_root(mut schema: Value) -> Result<Value, Value> {
    let is_object = has_type(&["object"], &schema, &schema, MAX_REFERENCES);
    match schema.as_object_mut() {
        Some(keywords) if is_object => {
            keywords.insert("type".to_owned(), json!("object"));
            Ok(schema)
        }
        _ => Err(schema),
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

/// Whether a schema, which is part of `root`, declares that every value has one of these types.
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

/// Makes optional members not nullable.
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

/// Makes a schema not accept `null`, if it accepts other values.
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
        // The remaining schema of an `Option` can be merged into the one with the description.
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

/// Removes an element from a list, unless the list has no others.
fn take(list: &mut Value, element: &Value) {
    if let Some(list) = list.as_array_mut()
        && list.iter().any(|other| other != element)
    {
        list.retain(|other| other != element);
    }
}
