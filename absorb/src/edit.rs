//! Edits of schemas, as new revisions make them.

use mcp_json_schema::{DEFINITIONS, change_schemas, pointer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An edit of a schema. Places are JSON pointers such as `/$defs/Tool/properties/title`, and definitions are names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "edit")]
pub(crate) enum Edit {
    /// Renames a definition.
    RenameDefinition { from: String, to: String },
    /// Renames a member of an object.
    RenameMember { object: String, from: String, to: String },
    /// Renames a member wherever it is declared, such as a tag or a key of `_meta`.
    RenameEverywhere { from: String, to: String },
    /// Changes a constant of all members with this name, such as a method or the value of a tag.
    RenameConstant { member: String, from: String, to: String },
    /// Adds a member to an object.
    AddMember {
        object: String,
        name: String,
        schema: Value,
        required: bool,
    },
    /// Removes a member from an object.
    RemoveMember { object: String, name: String },
    /// Makes a member required.
    Require { object: String, name: String },
    /// Makes a member optional.
    Relax { object: String, name: String },
    /// Replaces the schema of a value.
    Retype { at: String, schema: Value },
    /// Makes a value nullable.
    MakeNullable { at: String },
    /// Allows an array of the values in place of a value.
    MakeListOrOne { at: String },
    /// Replaces a value by an array of such values.
    MakeList { at: String },
    /// Replaces an array by one of its values.
    TakeElement { at: String },
    /// Replaces a value by a map of such values.
    MakeMap { at: String },
    /// Replaces a map by a list of objects with its keys and values.
    ListEntries { at: String, name: String },
    /// Replaces a reference by its definition.
    Inline { at: String },
    /// Replaces an inline schema by a reference to a new definition.
    Extract { at: String, name: String },
    /// Moves the last variants of a union into an inner union.
    SplitUnion { union: String, name: String, count: usize },
    /// Replaces an inner union by its variants.
    MergeUnions { union: String, variant: usize },
    /// Moves members into a new object, or into the first of two kinds of elements of a new list.
    MoveInto {
        object: String,
        members: Vec<String>,
        into: String,
        #[serde(default)]
        is_list: bool,
    },
    /// Moves a member out of an object, or of its definition, into the object around it.
    MoveOut {
        object: String,
        outer: String,
        name: String,
    },
    /// Moves a member into an object beside it, or into its definition.
    MoveBeside {
        object: String,
        name: String,
        outer: String,
    },
    /// Replaces a value by an object that has it as a member.
    Wrap { at: String, name: String },
    /// Adds a copy of a variant with another tag to a union.
    AddVariant {
        union: String,
        variant: usize,
        name: String,
    },
    /// Replaces two variants of a union by one whose tag has the values of both.
    MergeVariants {
        union: String,
        variants: [usize; 2],
        name: String,
    },
    /// Adds a method: a request with or without a definition of its result, or a notification.
    AddMethod {
        like: String,
        method: String,
        name: String,
        has_result: bool,
    },
    /// Adds pagination to a result.
    AddPages { result: String },
    /// Adds a capability to a side.
    AddCapability { side: String, name: String },
    /// Removes a method.
    RemoveMethod { definition: String },
    /// Replaces an enumeration by any string.
    OpenEnum { at: String },
    /// Allows any string where an enumeration is, whose values are still known.
    KeepKnown { at: String },
    /// Writes a constant as an enumeration of one value, as some schema generators do.
    RespellConstant { at: String },
    /// Replaces a string by an enumeration.
    CloseString { at: String, values: Vec<String> },
    /// Adds keywords to a value, such as bounds.
    Constrain { at: String, keywords: Map<String, Value> },
    /// Turns an object into an intersection that declares a member again.
    DeclareAgain {
        object: String,
        name: String,
        schema: Value,
    },
    /// Replaces `anyOf` of a union by `oneOf`.
    UseOneOf { at: String },
    /// Turns an object into an intersection of two schemas with half of its members each.
    UseAllOf { object: String },
    /// Makes a definition recursive.
    Recur { definition: String, name: String },
}

/// Returns the name of an edit's kind in reports.
#[must_use]
pub(crate) fn kind(edit: &Edit) -> String {
    let value = serde_json::to_value(edit).unwrap_or_default();
    value["edit"].as_str().unwrap_or_default().to_owned()
}

/// Returns the definitions of a schema, and the keyword that contains them.
pub(crate) fn definitions(root: &Value) -> (&'static str, Option<&Map<String, Value>>) {
    let mut containers = DEFINITIONS.iter().map(|keyword| (*keyword, root.get(keyword)));
    let found = containers.find_map(|(keyword, found)| Some((keyword, Some(found?.as_object()?))));
    found.unwrap_or(("$defs", None))
}

/// Returns the pointer of a definition.
pub(crate) fn place_of(root: &Value, definition: &str) -> String {
    let (keyword, _) = definitions(root);
    pointer::child(&format!("/{keyword}"), definition)
}

fn reference_to(root: &Value, definition: &str) -> Value {
    json!({ "$ref": format!("#{}", place_of(root, definition)) })
}

fn members_at<'r>(root: &'r mut Value, place: &str) -> Option<&'r mut Map<String, Value>> {
    root.pointer_mut(place)?.as_object_mut()
}

fn properties<'r>(root: &'r mut Value, object: &str) -> Option<&'r mut Map<String, Value>> {
    members_at(root, object)?.get_mut("properties")?.as_object_mut()
}

fn required<'r>(root: &'r mut Value, object: &str) -> Option<&'r mut Vec<Value>> {
    let required = members_at(root, object)?.entry("required").or_insert_with(|| json!([]));
    required.as_array_mut()
}

/// Returns the place of a member's schema, or of the definition that it refers to.
pub(crate) fn inside(root: &Value, object: &str, member: &str) -> Option<String> {
    let place = pointer::child(&format!("{object}/properties"), member);
    match root.pointer(&place)?.get("$ref") {
        Some(reference) => reference.as_str()?.strip_prefix('#').map(str::to_owned),
        None => Some(place),
    }
}

/// Moves a member to another object, where it is optional, and replaces the one there only if that is wanted.
fn move_member(root: &mut Value, name: &str, [from, to]: [&str; 2], replaces: bool) -> Option<()> {
    let schema = properties(root, from)?.remove(name)?;
    required(root, from)?.retain(|required| required != name);
    let properties = properties(root, to)?;
    if properties.contains_key(name) && !replaces {
        return None;
    }
    properties.insert(name.to_owned(), schema);
    Some(())
}

/// Replaces the schema at a place by the result of `change`.
fn replace(root: &mut Value, at: &str, change: impl FnOnce(Value) -> Option<Value>) -> Option<()> {
    let place = root.pointer_mut(at)?;
    *place = change(place.clone())?;
    Some(())
}

/// Changes the keywords of every schema of a document.
fn every_schema(root: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    change_schemas(root, &mut |schema| {
        if let Some(keywords) = schema.as_object_mut() {
            change(keywords);
        }
    });
}

/// Whether a schema refers to a definition.
fn is_used(root: &mut Value, definition: &str) -> bool {
    let reference = reference_to(root, definition);
    let mut is_used = false;
    every_schema(root, &mut |members| {
        is_used |= members.get("$ref") == Some(&reference["$ref"])
    });
    is_used
}

/// Renames a member, if the new name is free.
fn rename(members: &mut Map<String, Value>, from: &str, to: &str) -> Option<()> {
    if members.contains_key(to) {
        return None;
    }
    let value = members.remove(from)?;
    members.insert(to.to_owned(), value);
    Some(())
}

fn rename_required(members: &mut Map<String, Value>, from: &str, to: &str) {
    let required = members.get_mut("required").and_then(Value::as_array_mut);
    for name in required.into_iter().flatten().filter(|name| *name == from) {
        *name = json!(to);
    }
}

/// Removes the references to a definition from every union.
fn leave_unions(root: &mut Value, definition: &str) {
    let reference = reference_to(root, definition);
    every_schema(root, &mut |members| {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(variants)) = members.get_mut(keyword) {
                variants.retain(|variant| *variant != reference);
            }
        }
    });
}

/// Adds a definition to every union that contains another one.
fn join_unions(root: &mut Value, beside: &str, definition: &str) {
    let (reference, added) = (reference_to(root, beside), reference_to(root, definition));
    every_schema(root, &mut |members| {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(variants)) = members.get_mut(keyword)
                && variants.contains(&reference)
            {
                variants.push(added.clone());
            }
        }
    });
}

/// Returns an object with the members of two, and with the values of both in a member that is a different constant in
/// each.
fn merged(mut first: Value, second: &Value) -> Option<Value> {
    let others = second.get("properties")?.as_object()?;
    let members = first.get_mut("properties")?.as_object_mut()?;
    let (tag, values) = members.iter().find_map(|(name, schema)| {
        let (value, other) = (schema.get("const")?, others.get(name)?.get("const")?);
        (value != other).then(|| (name.clone(), [value.clone(), other.clone()]))
    })?;
    members.insert(tag, json!({ "type": "string", "enum": values }));
    for (name, schema) in others {
        members.entry(name.clone()).or_insert_with(|| schema.clone());
    }
    let required = second.get("required").and_then(Value::as_array)?;
    first
        .get_mut("required")?
        .as_array_mut()?
        .retain(|name| required.contains(name));
    Some(first)
}

impl Edit {
    /// Edits a schema. Returns `None` if the edit doesn't apply to it, or only in part.
    pub(crate) fn apply(&self, root: &mut Value) -> Option<()> {
        let (keyword, _) = definitions(root);
        let all = format!("/{keyword}");
        let define = |root: &mut Value, name: &str, schema: Value| {
            let definitions = members_at(root, &all)?;
            if definitions.contains_key(name) {
                return None;
            }
            definitions.insert(name.to_owned(), schema);
            Some(())
        };
        match self {
            Self::RenameDefinition { from, to } => {
                let (old, new) = (reference_to(root, from), reference_to(root, to));
                rename(members_at(root, &all)?, from, to)?;
                every_schema(root, &mut |members| {
                    if members.get("$ref") == Some(&old["$ref"]) {
                        members.insert("$ref".to_owned(), new["$ref"].clone());
                    }
                });
            }
            Self::RenameMember { object, from, to } => {
                rename(properties(root, object)?, from, to)?;
                rename_required(members_at(root, object)?, from, to);
            }
            Self::RenameEverywhere { from, to } => {
                every_schema(root, &mut |members| {
                    let properties = members.get_mut("properties").and_then(Value::as_object_mut);
                    if properties.is_some_and(|properties| rename(properties, from, to).is_some()) {
                        rename_required(members, from, to);
                    }
                });
            }
            Self::RenameConstant { member, from, to } => {
                every_schema(root, &mut |members| {
                    let constant = members
                        .get_mut("properties")
                        .and_then(|members| members.get_mut(member));
                    let constant = constant.and_then(|schema| schema.get_mut("const"));
                    if let Some(constant) = constant.filter(|constant| *constant == from) {
                        *constant = json!(to);
                    }
                });
            }
            Self::AddMember {
                object,
                name,
                schema,
                required: is_required,
            } => {
                let properties = properties(root, object)?;
                if properties.contains_key(name) {
                    return None;
                }
                properties.insert(name.clone(), schema.clone());
                if *is_required {
                    required(root, object)?.push(json!(name));
                }
            }
            Self::RemoveMember { object, name } => {
                properties(root, object)?.remove(name)?;
                required(root, object)?.retain(|required| required != name);
            }
            Self::Require { object, name } => {
                properties(root, object)?.get(name)?;
                let required = required(root, object)?;
                if required.contains(&json!(name)) {
                    return None;
                }
                required.push(json!(name));
            }
            Self::Relax { object, name } => required(root, object)?.retain(|required| required != name),
            Self::Retype { at, schema } => replace(root, at, |_| Some(schema.clone()))?,
            Self::MakeNullable { at } => replace(root, at, |schema| {
                Some(json!({ "anyOf": [schema, { "type": "null" }] }))
            })?,
            Self::MakeListOrOne { at } => replace(root, at, |schema| {
                Some(json!({ "anyOf": [schema, { "type": "array", "items": schema }] }))
            })?,
            Self::MakeList { at } => replace(root, at, |schema| Some(json!({ "type": "array", "items": schema })))?,
            Self::TakeElement { at } => replace(root, at, |schema| schema.get("items").cloned())?,
            Self::MakeMap { at } => replace(root, at, |schema| {
                Some(json!({ "type": "object", "additionalProperties": schema }))
            })?,
            Self::ListEntries { at, name } => replace(root, at, |schema| {
                let value = schema.get("additionalProperties").filter(|value| value.is_object())?;
                let members = json!({ "key": { "type": "string" }, name: value });
                let entry = json!({ "type": "object", "properties": members, "required": ["key", name] });
                Some(json!({ "type": "array", "items": entry }))
            })?,
            Self::Inline { at } => {
                let reference = root.pointer(at)?.get("$ref")?.as_str()?;
                let target = root.pointer(reference.strip_prefix('#')?)?.clone();
                replace(root, at, |_| Some(target))?;
            }
            Self::Extract { at, name } => {
                let reference = reference_to(root, name);
                let schema = root.pointer(at)?.clone();
                define(root, name, schema)?;
                replace(root, at, |_| Some(reference))?;
            }
            Self::SplitUnion { union, name, count } => {
                let reference = reference_to(root, name);
                let variants = root.pointer_mut(union)?.get_mut("anyOf")?.as_array_mut()?;
                if variants.len() <= *count || *count < 2 {
                    return None;
                }
                let split = variants.split_off(variants.len() - count);
                variants.push(reference);
                define(root, name, json!({ "anyOf": split }))?;
            }
            Self::MergeUnions { union, variant } => {
                let reference = root.pointer(union)?.get("anyOf")?.get(variant)?.get("$ref")?.as_str()?;
                let inner = root
                    .pointer(reference.strip_prefix('#')?)?
                    .get("anyOf")?
                    .as_array()?
                    .clone();
                let variants = root.pointer_mut(union)?.get_mut("anyOf")?.as_array_mut()?;
                variants.splice(*variant..=*variant, inner);
            }
            Self::MoveInto {
                object,
                members,
                into,
                is_list,
            } => {
                let mut moved = Map::new();
                let mut needed = Vec::new();
                for name in members {
                    moved.insert(name.clone(), properties(root, object)?.remove(name)?);
                    let required = required(root, object)?;
                    if required.contains(&json!(name)) {
                        required.retain(|required| required != name);
                        needed.push(name.clone());
                    }
                }
                if !needed.is_empty() {
                    required(root, object)?.push(json!(into));
                }
                let properties = properties(root, object)?;
                if properties.contains_key(into) {
                    return None;
                }
                let around = match is_list {
                    false => json!({ "type": "object", "properties": moved, "required": needed }),
                    true => {
                        moved.insert("made".to_owned(), json!({ "const": "moved" }));
                        needed.push("made".to_owned());
                        let first = json!({ "type": "object", "properties": moved, "required": needed });
                        let other = json!({ "const": "other" });
                        let other = json!({ "type": "object", "properties": { "made": other }, "required": ["made"] });
                        json!({ "type": "array", "items": { "oneOf": [first, other] } })
                    }
                };
                properties.insert(into.clone(), around);
            }
            Self::MoveOut { object, outer, name } => {
                let inner = inside(root, object, outer)?;
                move_member(root, name, [&inner, object], name == outer)?;
            }
            Self::MoveBeside { object, name, outer } => {
                let inner = inside(root, object, outer)?;
                move_member(root, name, [object, &inner], false)?;
            }
            Self::Wrap { at, name } => replace(root, at, |schema| {
                Some(json!({ "type": "object", "properties": { name: schema }, "required": [name] }))
            })?,
            Self::AddVariant { union, variant, name } => {
                let variants = root.pointer(union)?.get("anyOf")?.as_array()?;
                let reference = variants.get(*variant)?.get("$ref")?.as_str()?.strip_prefix('#')?;
                let mut like = root.pointer(reference)?.clone();
                let tagged = like.get_mut("properties")?.as_object_mut()?;
                let mut constants = tagged.values_mut().filter_map(|member| member.get_mut("const"));
                *constants.next()? = json!(name.to_lowercase());
                define(root, name, like)?;
                let reference = reference_to(root, name);
                root.pointer_mut(union)?
                    .get_mut("anyOf")?
                    .as_array_mut()?
                    .push(reference);
            }
            Self::MergeVariants { union, variants, name } => {
                let [first, second] = variants.map(|variant| {
                    let reference = root.pointer(union)?.get("anyOf")?.get(variant)?.get("$ref")?.as_str()?;
                    root.pointer(reference.strip_prefix('#')?).cloned()
                });
                let merged = merged(first?, &second?)?;
                define(root, name, merged)?;
                let reference = reference_to(root, name);
                let all = root.pointer_mut(union)?.get_mut("anyOf")?.as_array_mut()?;
                all[variants[0]] = reference;
                all.remove(variants[1]);
            }
            Self::AddMethod {
                like,
                method,
                name,
                has_result,
            } => {
                let kind = ["Request", "Notification"]
                    .into_iter()
                    .find(|kind| like.ends_with(kind))?;
                let mut message = root.pointer(&place_of(root, like))?.clone();
                *message.pointer_mut("/properties/method/const")? = json!(method);
                define(root, &format!("{name}{kind}"), message)?;
                join_unions(root, like, &format!("{name}{kind}"));
                if *has_result {
                    define(
                        root,
                        &format!("{name}Result"),
                        json!({ "type": "object", "properties": { "done": { "type": "boolean" } } }),
                    )?;
                }
            }
            Self::AddPages { result } => {
                properties(root, result)?.insert("nextCursor".to_owned(), json!({ "type": "string" }));
            }
            Self::AddCapability { side, name } => {
                let object = format!("{}/properties", place_of(root, side));
                let schema = json!({ "type": "object", "properties": { "listChanged": { "type": "boolean" } } });
                members_at(root, &object)?.insert(name.clone(), schema);
            }
            Self::RemoveMethod { definition } => {
                leave_unions(root, definition);
                members_at(root, &all)?.remove(definition)?;
                if is_used(root, definition) {
                    return None;
                }
                let left: Vec<String> = ["ResultResponse", "Result"]
                    .into_iter()
                    .filter_map(|kind| Some(definition.strip_suffix("Request")?.to_owned() + kind))
                    .collect();
                for name in left {
                    leave_unions(root, &name);
                    if !is_used(root, &name) {
                        members_at(root, &all)?.remove(&name);
                    }
                }
            }
            Self::OpenEnum { at } => replace(root, at, |schema| {
                schema.get("enum").map(|_| json!({ "type": "string" }))
            })?,
            Self::KeepKnown { at } => replace(root, at, |schema| {
                schema
                    .get("enum")
                    .map(|_| json!({ "anyOf": [schema, { "type": "string" }] }))
            })?,
            Self::RespellConstant { at } => {
                let schema = root.pointer_mut(at)?.as_object_mut()?;
                let constant = schema.remove("const")?;
                schema.insert("enum".to_owned(), json!([constant]));
            }
            Self::CloseString { at, values } => replace(root, at, |schema| {
                (schema == json!({ "type": "string" })).then(|| json!({ "type": "string", "enum": values }))
            })?,
            Self::Constrain { at, keywords } => {
                let schema = root.pointer_mut(at)?.as_object_mut()?;
                if keywords.keys().any(|keyword| schema.contains_key(keyword)) {
                    return None;
                }
                schema.extend(keywords.clone());
            }
            Self::DeclareAgain { object, name, schema } => replace(root, object, |first| {
                first.pointer("/properties")?.get(name)?;
                let second = json!({ "type": "object", "properties": { name: schema } });
                Some(json!({ "allOf": [first, second] }))
            })?,
            Self::UseOneOf { at } => {
                let schema = root.pointer_mut(at)?.as_object_mut()?;
                let variants = schema.remove("anyOf")?;
                schema.insert("oneOf".to_owned(), variants);
            }
            Self::UseAllOf { object } => replace(root, object, |schema| {
                let all = schema.get("properties")?.as_object()?;
                let required = schema
                    .get("required")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                let half = |second: bool| {
                    let is_in = |index: usize| (index * 2 >= all.len()) == second;
                    let members = all.iter().enumerate().filter(|(index, _)| is_in(*index));
                    let members: Map<_, _> = members
                        .map(|(_, (name, member))| (name.clone(), member.clone()))
                        .collect();
                    let required = required
                        .iter()
                        .filter_map(Value::as_str)
                        .filter(|name| members.contains_key(*name));
                    let required: Vec<&str> = required.collect();
                    json!({ "type": "object", "properties": members, "required": required })
                };
                Some(json!({ "allOf": [half(false), half(true)] }))
            })?,
            Self::Recur { definition, name } => {
                let items = reference_to(root, definition);
                let object = place_of(root, definition);
                properties(root, &object)?.insert(name.clone(), json!({ "type": "array", "items": items }));
            }
        }
        Some(())
    }
}
