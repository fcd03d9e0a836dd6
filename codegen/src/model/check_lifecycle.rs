//! Checks that a lifecycle has the methods and members that sessions need.

use std::collections::BTreeMap;

use mcp_json_schema::pointer;
use serde_json::{Value, json};

use super::assign_roles::{SESSION_TYPES, written_value};
use super::lifecycle::{Lifecycle, Members};
use super::roles::{Roles, is_of_member};
use super::types::Model;
use crate::normalise::NormalisedSchema;
use crate::problem::correction;

/// Returns what the lifecycle of a model needs and lacks, by role, and the way to supply it. `roles` are the names of all
/// revisions.
pub(super) fn incomplete<'m>(
    model: &'m Model,
    schema: &NormalisedSchema,
    roles: &Roles,
) -> Vec<(&'m str, String, String)> {
    let (lifecycle, root) = (&model.lifecycle, schema.document.root());
    let lacking = lacking(lifecycle).map(|(role, what, other)| match constant(model, root, other, roles) {
        Some(correction) => {
            let what = format!("{what} whose value sessions can choose: the schema has a constant");
            (role, what, format!("allow any text there by {correction}"))
        }
        None => {
            let undeclared = undeclared(model, root, role, other, roles).unwrap_or_default();
            (role, what.to_owned(), help(model, role, other, roles) + &undeclared)
        }
    });
    let mut incomplete: Vec<_> = lacking.collect();
    // A required member that is the one that a role lacks needs no preset.
    let complete = lifecycle
        .names
        .iter()
        .filter(|(role, _)| incomplete.iter().all(|(other, ..)| other != role));
    let without_preset = complete.flat_map(|(role, name)| {
        let message = lifecycle.messages.get(name).into_iter();
        let members = message.flat_map(|message| message.params.lacking.iter().chain(&message.result.lacking));
        members.map(move |(member, value)| (role, member, value))
    });
    let unknown = without_preset.map(|(role, member, (at, empty))| {
        let what = format!("`x-preset` in the overlay for `{member}`, which it requires and sessions don't supply");
        let Some(empty) = empty else {
            let help = format!(
                "members of its type can't have one: correct the schema at {at} by an entry under `corrections` in the \
                 revision's overlay.yaml, to a type that can, or so that the member isn't required"
            );
            return (role.as_str(), what, help);
        };
        let renamed = match member.starts_with("_meta.") {
            true => "if lifecycle.yaml has it by another name, add this name to its line there; ",
            false => "",
        };
        let schema_of = pointer::resolve(root, at);
        let declared = ["default", "minimum"]
            .into_iter()
            .filter_map(|keyword| schema_of?.get(keyword));
        let is_valid = |value: &&Value| schema.validator.validate(at, value).is_empty();
        let valid = [empty].into_iter().chain(declared).find(is_valid);
        let to = valid.map_or_else(|| "…".to_owned(), Value::to_string);
        let line = correction(&pointer::child(at, "x-preset"), None, to);
        let help = format!("{renamed}if sessions can always write one value, add it as in {line}");
        (role.as_str(), what, help)
    });
    let unknown: Vec<_> = unknown.collect();
    incomplete.extend(unknown);
    incomplete
}

/// Returns the correction of a member with a role that the schema declares as a constant, such as the name of the
/// revision.
fn constant(model: &Model, schema: &Value, role: Option<&str>, roles: &Roles) -> Option<String> {
    let names = roles.get(role?)?;
    let mut objects = model.objects();
    objects.find_map(|(ty, object)| {
        let name = names.iter().find(|name| object.constant_text(name).is_some())?;
        let at = pointer::child(&pointer::child(&ty.pointer, "properties"), name);
        let mut expect = pointer::resolve(schema, &at)?.clone();
        // The overlay's annotations come after its corrections.
        expect.as_object_mut()?.retain(|keyword, _| !keyword.starts_with("x-"));
        Some(correction(&at, Some(&expect), json!({"type": "string"})))
    })
}

/// Returns the correction that declares the revision or the client's capabilities in `_meta`, where the schema has only
/// one of them.
fn undeclared(model: &Model, schema: &Value, role: &str, other: Option<&str>, roles: &Roles) -> Option<String> {
    let [client, ..] = SESSION_TYPES;
    let to = match other? {
        "meta.capabilities" => json!({"$ref": model.definitions.get(client)?.pointer}),
        "meta.version" => json!({"type": "string"}),
        _ => return None,
    };
    let beside = model.lifecycle.names.get(role)?;
    let (meta, object) = model.objects().find(|(_, object)| object.member(beside).is_some())?;
    let members = pointer::child(&meta.pointer, "properties");
    pointer::resolve(schema, &members)?;
    let name = roles.get(other?)?.first()?;
    if object.declares(name) {
        return None;
    }
    let at = pointer::child(&members, name);
    let correction = correction(&at, None, to);
    Some(format!(
        "; if peers send it although the schema doesn't declare it, declare it by {correction}"
    ))
}

/// Returns the way to supply what a role lacks, which may be a method or a member with another role.
fn help(model: &Model, role: &str, other: Option<&str>, roles: &Roles) -> String {
    if let Some(other) = other {
        let names = roles.get(other).into_iter().flat_map(|names| names.iter());
        let declared = names.clone().filter(|_| is_of_member(other));
        let mut declared = declared.filter_map(|name| Some((name, model.member_anywhere(name)?)));
        if let Some((name, member)) = declared.next() {
            let (written, _) = written_value(model, other, &member.ty);
            return format!(
                "the schema has another type of `{name}` than {written}: if the schema is wrong, correct it by an entry \
                 under `corrections` in the revision's overlay.yaml"
            );
        }
        let names: String = names.map(|name| format!("{name}, ")).collect();
        return format!(
            "if the revision has it by another name, add that name in lifecycle.yaml: `{other}: [{names}…]`"
        );
    }
    match role {
        "cancel" => {
            "the parameter and the `id` of JSON-RPC's messages must refer to one definition, or have one type without a \
             definition; then the parameter must be required, and the only one of its type. The type must accept \
             integers, because sessions number their requests. Otherwise add entries under `corrections` in the \
             revision's overlay.yaml: `at` is the pointer of the schema of the parameter or of the `id`, `expect` is \
             this schema, and `to` is a reference such as {$ref: \"#/$defs/RequestId\"}; another entry adds the \
             definition"
        }
        _ => {
            "sessions need it; see which members the schema declares. Of several that could be meant, those with an \
             `x-preset` in the overlay don't count"
        }
    }
    .to_owned()
}

/// Returns the missing counterparts of the roles of a lifecycle, and their roles, if they have their own.
fn lacking(lifecycle: &Lifecycle) -> impl Iterator<Item = (&str, &'static str, Option<&'static str>)> {
    let has = |role: &str| lifecycle.names.contains_key(role);
    let declares = |members: &BTreeMap<String, Members>, role: &str, member: &str| {
        members.get(role).is_some_and(|members| members.contains_key(member))
    };
    let params = |role: &str, member: &str| declares(&lifecycle.params, role, member);
    let result = |role: &str, member: &str| declares(&lifecycle.results, role, member);
    #[rustfmt::skip]
    let needed = [
        ("begin", params("begin", "name"), "parameter that names the revision: one required text", None),
        ("begin", params("begin", "capabilities"), "parameter with the client's capabilities", None),
        ("begin", params("begin", "implementation"), "parameter with the client's name and version", None),
        ("begin", result("begin", "name"), "member of its result that names the revision: one required text", None),
        ("begin", result("begin", "capabilities"), "member of its result with the server's capabilities", None),
        ("begin", result("begin", "implementation"), "member of its result with the server's name and version", None),
        ("discover", result("discover", "versions"), "member of its result that names revisions: one list of texts", None),
        ("discover", result("discover", "capabilities"), "member of its result with the server's capabilities", None),
        ("cancel", params("cancel", "request"), "parameter with the id of a request", None),
        ("acknowledge", params("acknowledge", "filter"), "parameter with members that have the roles of a filter", None),
        ("listen", params("listen", "filter"), "parameter with members that have the roles of a filter", None),
        ("listen", has("acknowledge"), "notification that acknowledges it", Some("acknowledge")),
        ("listen", has("meta.subscription"), "key for the subscription in notifications", Some("meta.subscription")),
        ("set-level", params("set-level", "level"), "parameter with a log level", None),
        ("subscribe", params("subscribe", "name"), "parameter with the URI: one required text", None),
        ("unsubscribe", params("unsubscribe", "name"), "parameter with the URI: one required text", None),
        ("meta.version", has("meta.capabilities"), "key for the client's capabilities beside it", Some("meta.capabilities")),
        ("meta.capabilities", has("meta.version"), "key for the revision beside it", Some("meta.version")),
    ];
    let lacking = needed
        .into_iter()
        .filter(move |(role, is_there, ..)| has(role) && !is_there);
    lacking.map(|(role, _, what, other)| (role, what, other))
}
