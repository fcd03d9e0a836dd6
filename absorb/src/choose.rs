//! Random edits of a schema.

use std::borrow::Cow;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::edit::{Edit, inside};
use crate::new_schema::new_schema;
use crate::pick::{
    ENVELOPE, Root, any, any_definition, any_member, any_object, any_union, any_value, is_direction, messages,
    new_member, new_name, places,
};

/// The number of places that are tried for an edit, before another edit is chosen.
const TRIES: usize = 30;

type Choice = fn(&Root<'_>, &mut Rng) -> Option<Edit>;

/// All edits.
pub(crate) const EDITS: [Choice; 42] = [
    rename_definition,
    |root, rng| {
        let (object, from, _) = any_member(root, rng)?;
        let to = new_member(rng);
        Some(Edit::RenameMember { object, from, to })
    },
    rename_tag_member,
    rename_meta_key,
    rename_method,
    rename_tag,
    |root, rng| add_member(root, false, rng),
    |root, rng| add_member(root, true, rng),
    remove_member,
    |root, rng| {
        let (object, name, _) = any_member(root, rng)?;
        Some(Edit::Require { object, name })
    },
    relax,
    |root, rng| {
        let (at, schema) = (any_value(root, rng)?, new_schema(root, rng));
        Some(Edit::Retype { at, schema })
    },
    |root, rng| any_value(root, rng).map(|at| Edit::MakeNullable { at }),
    |root, rng| any_value(root, rng).map(|at| Edit::MakeListOrOne { at }),
    |root, rng| any_value(root, rng).map(|at| Edit::MakeList { at }),
    |root, rng| any_list(root, rng).map(|at| Edit::TakeElement { at }),
    |root, rng| any_value(root, rng).map(|at| Edit::MakeMap { at }),
    |root, rng| {
        let maps = places(root, |schema| {
            schema["additionalProperties"].is_object() && schema.get("properties").is_none()
        });
        let (at, name) = (any(&maps, rng)?, new_member(rng));
        Some(Edit::ListEntries { at, name })
    },
    inline,
    extract,
    split_union,
    merge_unions,
    move_into,
    move_out,
    move_beside,
    |root, rng| {
        let (at, name) = (any_value(root, rng)?, new_member(rng));
        Some(Edit::Wrap { at, name })
    },
    |root, rng| {
        let (list, name) = (any_list(root, rng)?, new_member(rng));
        let at = format!("{list}/items");
        Some(Edit::Wrap { at, name })
    },
    add_variant,
    merge_variants,
    |root, rng| add_method(root, "Request", rng),
    |root, rng| add_method(root, "Notification", rng),
    add_pages,
    add_capability,
    remove_method,
    |root, rng| any_enumeration(root, rng).map(|at| Edit::OpenEnum { at }),
    |root, rng| any_enumeration(root, rng).map(|at| Edit::KeepKnown { at }),
    |root, rng| {
        let at = any(&places(root, |schema| schema.get("const").is_some()), rng)?;
        Some(Edit::RespellConstant { at })
    },
    |root, rng| {
        let at = any_value(root, rng)?;
        let values = ["low", "medium", "high"].map(str::to_owned).to_vec();
        Some(Edit::CloseString { at, values })
    },
    constrain_text_or_number,
    constrain_array_or_object,
    use_one_of,
    use_all_of_or_recur,
];

/// Edits after which an overlay still applies, and whose constraints a conversion can violate even if both revisions
/// have them.
pub(crate) const CONSTRAINTS: [Choice; 2] = [constrain_in_place, use_one_of];

/// Chooses a sequence of edits, each applied to the result of the ones before it. Returns the edits and the edited
/// schema.
pub(crate) fn choose<'s>(
    schema: &'s Value,
    choices: &[Choice],
    count: usize,
    rng: &mut Rng,
) -> (Vec<Edit>, Cow<'s, Value>) {
    let (mut edits, mut edited) = (Vec::new(), Cow::Borrowed(schema));
    for _ in 0..count {
        let (edit, next) = choose_one(&edited, choices, rng);
        edits.push(edit);
        edited = Cow::Owned(next);
    }
    (edits, edited)
}

/// Chooses an edit that changes the schema. Returns it and the edited schema.
fn choose_one(schema: &Value, choices: &[Choice], rng: &mut Rng) -> (Edit, Value) {
    let (root, mut edited) = (Root::new(schema), schema.clone());
    loop {
        let choice = choices[rng.usize(..choices.len())];
        for _ in 0..TRIES {
            let Some(edit) = choice(&root, rng) else { continue };
            let applies = edit.apply(&mut edited).is_some();
            match edited == *schema {
                true => {}
                false if applies => return (edit, edited),
                // It was applied in part.
                false => edited.clone_from(schema),
            }
        }
    }
}

fn rename_definition(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let from = any_definition(root, rng).filter(|name| !is_direction(name))?;
    let kinds = [
        "RequestParams",
        "NotificationParams",
        "Request",
        "Notification",
        "Result",
    ];
    let kind = kinds.into_iter().find(|kind| from.ends_with(kind)).unwrap_or_default();
    let to = format!("{}{kind}", new_name("", rng));
    Some(Edit::RenameDefinition { from, to })
}

fn rename_tag_member(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (_, from, schema) = any_member(root, rng)?;
    schema.get("const")?;
    let to = new_member(rng);
    Some(Edit::RenameEverywhere { from, to })
}

fn rename_meta_key(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let metas = places(root, |schema| {
        let members = schema["properties"].as_object().into_iter().flatten();
        members
            .into_iter()
            .any(|(name, _)| name.contains('/') || name == "progressToken")
    });
    let members = root.pointer(&any(&metas, rng)?)?.get("properties")?.as_object()?;
    let keys = members.keys().filter(|key| !ENVELOPE.contains(&key.as_str()));
    let from = any(&keys.cloned().collect::<Vec<_>>(), rng)?;
    let to = format!("org.example/{}", new_member(rng));
    Some(Edit::RenameEverywhere { from, to })
}

fn rename_method(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let kind = ["Request", "Notification"][rng.usize(..2)];
    let (_, from) = any(&messages(root, kind), rng)?;
    let member = "method".to_owned();
    let to = format!("{}/{}", new_member(rng), new_member(rng));
    Some(Edit::RenameConstant { member, from, to })
}

fn rename_tag(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (_, member, schema) = any_member(root, rng)?;
    let from = schema.get("const")?.as_str()?.to_owned();
    let to = new_member(rng);
    Some(Edit::RenameConstant { member, from, to })
}

fn add_member(root: &Root<'_>, required: bool, rng: &mut Rng) -> Option<Edit> {
    let (object, name, schema) = (any_object(root, rng)?, new_member(rng), new_schema(root, rng));
    Some(Edit::AddMember {
        object,
        name,
        schema,
        required,
    })
}

fn remove_member(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (object, name, schema) = any_member(root, rng)?;
    schema
        .get("const")
        .is_none()
        .then_some(Edit::RemoveMember { object, name })
}

fn relax(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (object, name, schema) = any_member(root, rng)?;
    schema.get("const").is_none().then_some(Edit::Relax { object, name })
}

fn inline(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let at = any_value(root, rng)?;
    // A definition that contains itself can't be inlined.
    let reference = root.pointer(&at)?.get("$ref")?.as_str()?;
    let target = root.pointer(reference.strip_prefix('#')?)?.to_string();
    (!target.contains(reference)).then_some(Edit::Inline { at })
}

fn extract(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let at = any_value(root, rng)?;
    root.pointer(&at)?.get("$ref").is_none().then(|| Edit::Extract {
        at,
        name: new_name("", rng),
    })
}

fn split_union(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (union, _) = any_union(root, rng)?;
    let name = new_name("Other", rng);
    Some(Edit::SplitUnion { union, name, count: 2 })
}

fn merge_unions(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (union, variants) = any_union(root, rng)?;
    let variant = rng.usize(..variants.len());
    Some(Edit::MergeUnions { union, variant })
}

fn move_into(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (object, first, schema) = any_member(root, rng)?;
    let into = new_member(rng);
    schema.get("const").is_none().then_some(Edit::MoveInto {
        object,
        members: vec![first],
        into,
        is_list: rng.bool(),
    })
}

fn move_out(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (object, outer, _) = any_member(root, rng)?;
    let inner = root.pointer(&inside(root, &object, &outer)?)?;
    let members: Vec<&String> = inner.get("properties")?.as_object()?.keys().collect();
    let name = any(&members, rng)?.clone();
    Some(Edit::MoveOut { object, outer, name })
}

fn move_beside(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (object, outer, _) = any_member(root, rng)?;
    let inner = root.pointer(&inside(root, &object, &outer)?)?;
    inner.get("properties")?.as_object()?;
    let members = root.pointer(&object)?.get("properties")?.as_object()?;
    let members: Vec<&String> = members.keys().filter(|name| **name != outer).collect();
    let name = any(&members, rng)?.clone();
    Some(Edit::MoveBeside { object, name, outer })
}

fn add_variant(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (union, variants) = any_union(root, rng)?;
    let (variant, name) = (rng.usize(..variants.len()), new_name("Made", rng));
    Some(Edit::AddVariant { union, variant, name })
}

fn merge_variants(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (union, all) = any_union(root, rng)?;
    let variants = [rng.usize(..all.len()), rng.usize(..all.len())];
    let name = new_name("Merged", rng);
    (variants[0] != variants[1]).then_some(Edit::MergeVariants { union, variants, name })
}

fn add_method(root: &Root<'_>, kind: &str, rng: &mut Rng) -> Option<Edit> {
    let (like, _) = any(&messages(root, kind), rng)?;
    let (method, name) = (format!("made/{}", new_member(rng)), new_name("", rng));
    let has_result = kind == "Request" && rng.u8(..4) > 0;
    Some(Edit::AddMethod {
        like,
        method,
        name,
        has_result,
    })
}

fn add_pages(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let result = any_object(root, rng).filter(|at| at.ends_with("Result"))?;
    Some(Edit::AddPages { result })
}

fn add_capability(_: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let side = ["ClientCapabilities", "ServerCapabilities"][rng.usize(..2)].to_owned();
    let name = new_member(rng);
    Some(Edit::AddCapability { side, name })
}

fn remove_method(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let kind = ["Request", "Notification"][rng.usize(..2)];
    let (definition, _) = any(&messages(root, kind), rng)?;
    Some(Edit::RemoveMethod { definition })
}

/// Returns the pointer of an enumeration of several values. An enumeration of one value is a constant.
fn any_list(root: &Root<'_>, rng: &mut Rng) -> Option<String> {
    let mut lists = places(root, |schema| schema["items"].is_object());
    lists.retain(|at| at.contains("/properties/"));
    any(&lists, rng)
}

fn any_enumeration(root: &Root<'_>, rng: &mut Rng) -> Option<String> {
    let is_one = |schema: &Value| schema["enum"].as_array().is_some_and(|values| values.len() > 1);
    any(&places(root, is_one), rng)
}

fn constrain_text_or_number(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let at = any_value(root, rng)?;
    let keywords = match root.pointer(&at)?.get("type")?.as_str()? {
        "string" => match rng.u8(..5) {
            0 => json!({ "minLength": 1 }),
            1 => json!({ "maxLength": 12 }),
            2 => json!({ "pattern": "^[a-z]*$" }),
            3 => json!({ "not": { "const": "" } }),
            _ => json!({ "format": "uri" }),
        },
        "integer" | "number" => match rng.u8(..5) {
            0 => json!({ "minimum": 0 }),
            1 => json!({ "maximum": 100 }),
            2 => json!({ "exclusiveMinimum": 0 }),
            3 => json!({ "multipleOf": 5 }),
            _ => json!({ "enum": [0, 1, 2] }),
        },
        _ => return None,
    };
    constrain(root, at, keywords, rng)
}

fn constrain_array_or_object(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let is_one = |schema: &Value| schema["type"] == "array" || schema["type"] == "object";
    let at = any(&places(root, is_one), rng)?;
    let schema = root.pointer(&at)?;
    if schema["type"] == "array" {
        let keywords = match rng.u8(..4) {
            0 => json!({ "minItems": 1 }),
            1 => json!({ "maxItems": 2 }),
            2 => json!({ "uniqueItems": true }),
            _ => json!({ "prefixItems": [schema.get("items").unwrap_or(&Value::Bool(true))] }),
        };
        return constrain(root, at, keywords, rng);
    }
    let members = schema["properties"].as_object().into_iter().flatten();
    let optional: Vec<_> = members.map(|(name, _)| name.clone()).collect();
    let first = any(&optional, rng);
    let second = any(&optional, rng).filter(|second| Some(second) != first.as_ref());
    let keywords = match (rng.u8(..9), first, second) {
        (0, ..) => json!({ "minProperties": 1 }),
        (1, ..) => json!({ "maxProperties": 6 }),
        (2, ..) => json!({ "additionalProperties": false }),
        (3, ..) => json!({ "patternProperties": { "^x-": { "type": "string" } } }),
        (4, ..) => json!({ "propertyNames": { "maxLength": 24 } }),
        (5, Some(first), Some(second)) => json!({ "dependentRequired": { first: [second] } }),
        (6, Some(first), Some(second)) => json!({ "if": { "required": [first] }, "then": { "required": [second] } }),
        (7, Some(first), Some(second)) => json!({ "anyOf": [{ "required": [first] }, { "required": [second] }] }),
        (8, Some(first), Some(second)) => json!({ "not": { "required": [first, second] } }),
        _ => return None,
    };
    constrain(root, at, keywords, rng)
}

fn constrain_in_place(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    constrain_array_or_object(root, rng).filter(|edit| matches!(edit, Edit::Constrain { .. }))
}

/// Adds keywords to a schema, or declares the member again with these keywords in an intersection.
fn constrain(root: &Root<'_>, at: String, keywords: Value, rng: &mut Rng) -> Option<Edit> {
    let Value::Object(mut keywords) = keywords else {
        return None;
    };
    // A member can have the name `properties` too, and then the place before it isn't a schema.
    let is_schema = |object: &str| places(root, Value::is_object).iter().any(|place| place == object);
    match at.rsplit_once("/properties/") {
        Some((object, name)) if rng.u8(..3) == 0 && is_schema(object) => {
            keywords.insert("type".to_owned(), root.pointer(&at)?["type"].clone());
            Some(Edit::DeclareAgain {
                object: object.to_owned(),
                name: name.to_owned(),
                schema: Value::Object(keywords),
            })
        }
        _ => Some(Edit::Constrain { at, keywords }),
    }
}

fn use_one_of(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    let (at, _) = any_union(root, rng)?;
    Some(Edit::UseOneOf { at })
}

fn use_all_of_or_recur(root: &Root<'_>, rng: &mut Rng) -> Option<Edit> {
    if rng.bool() {
        let object = any_object(root, rng)?;
        return Some(Edit::UseAllOf { object });
    }
    let (definition, name) = (any_definition(root, rng)?, new_member(rng));
    Some(Edit::Recur { definition, name })
}
