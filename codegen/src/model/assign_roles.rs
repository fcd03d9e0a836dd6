//! Assigns roles in a model: to methods, keys of `_meta`, and members.

use std::collections::BTreeMap;

use super::lifecycle::{Lifecycle, Members};
use super::own_messages::{own_messages, usual_kinds};
use super::roles::{RESULT_KIND, Roles, is_of_member};
use super::type_ref::TypeRef;
use super::types::{Member, Model, Struct, TypeKind};
use crate::normalise::Scalar;

/// The names of the types by which sessions find members.
pub(crate) const SESSION_TYPES: [&str; 4] = [
    "ClientCapabilities",
    "ServerCapabilities",
    "Implementation",
    "LoggingLevel",
];

/// Assigns the roles to a model and its methods.
pub(crate) fn assign_roles(model: &mut Model, roles: &Roles) {
    let declared = roles.iter().filter_map(|(role, names)| {
        let name = names.iter().find(|name| declares_role(model, role, name));
        Some((role.clone(), name?.clone()))
    });
    let names: BTreeMap<String, String> = declared.collect();
    let (mut params, mut results) = (BTreeMap::new(), BTreeMap::new());
    for (role, name) in &names {
        let Some(method) = model.method(name) else {
            continue;
        };
        if let Some(of_request) = model.params(method) {
            let filter = filter(model, &of_request.ty, &names).map(|filter| ("filter", filter));
            let mut of_request = members(model, &of_request.ty, None);
            of_request.extend(filter);
            params.insert(role.clone(), of_request);
        }
        if let Some(result) = method.results.first() {
            let kind = names.get(RESULT_KIND).map(String::as_str);
            results.insert(role.clone(), members(model, result, kind));
        }
    }
    let mut lifecycle = Lifecycle {
        names,
        params,
        results,
        ..Lifecycle::default()
    };
    lifecycle.versions = enumerated_versions(model, &lifecycle).unwrap_or_default();
    lifecycle.messages = own_messages(model, &lifecycle);
    lifecycle.kinds = usual_kinds(model, &lifecycle);
    for method in &mut model.methods {
        let role = lifecycle.names.iter().find(|(_, name)| **name == method.name);
        method.role = role.map(|(role, _)| role.clone());
    }
    model.lifecycle = lifecycle;
}

/// Returns the revisions that the result of the discovery can list, if the schema enumerates them.
fn enumerated_versions(model: &Model, lifecycle: &Lifecycle) -> Option<Vec<String>> {
    let member = lifecycle.results.get("discover")?.get("versions")?;
    let result = model.method(lifecycle.names.get("discover")?)?.results.first()?;
    let TypeRef::List(element) = model.resolve(&model.struct_of(result)?.member(member)?.ty) else {
        return None;
    };
    match model.kind_of(element) {
        Some(TypeKind::Strings(strings)) if !strings.open => Some(strings.values.clone()),
        _ => None,
    }
}

/// Finds the members of the data of errors with a role, by the definition that has the error's code.
pub(super) fn find_error_data(model: &mut Model) {
    let data = |code: i64| {
        let mut objects = model.objects().map(|(_, object)| object);
        let has_code = |object: &&Struct| {
            let constant = object.constant("code");
            constant.is_some_and(|constant| constant.value == Scalar::Integer(code))
        };
        let data = objects.find(has_code)?.member("data")?;
        Some(members(model, &data.ty, None))
    };
    let with_role = model.error_codes.iter().filter(|error| error.role.is_some());
    let found = with_role.filter_map(|error| Some((error.code, data(error.code)?)));
    model.error_data = found.collect();
}

/// Whether the model has a method of this name, or for the role of a member, an object that declares the member.
pub(super) fn declares(model: &Model, role: &str, name: &str) -> bool {
    match is_of_member(role) {
        true => model.objects().any(|(_, object)| object.declares(name)),
        false => model.method(name).is_some(),
    }
}

/// Whether the model has a method of this name, or for the role of a member, an object that declares the member with a type
/// that sessions can use.
pub(crate) fn declares_role(model: &Model, role: &str, name: &str) -> bool {
    if !is_of_member(role) {
        return model.method(name).is_some();
    }
    let mut objects = model.objects().map(|(_, object)| object);
    objects.any(|object| {
        let member = object.member(name);
        object.constant(name).is_some() || member.is_some_and(|member| written_value(model, role, &member.ty).1)
    })
}

/// Returns what sessions write for the role of a member, and whether a type can hold it.
pub(crate) fn written_value(model: &Model, role: &str, ty: &TypeRef) -> (&'static str, bool) {
    let ty = model.resolve(model.resolve(ty).not_null());
    let is_text = |ty: &TypeRef| *ty == TypeRef::String || ty.named().is_some_and(|name| model.is_strings(name));
    let is_object = model.struct_of(ty).is_some() || matches!(ty, TypeRef::RawObject | TypeRef::Map(_));
    let (what, holds) = match role {
        "filter.uris" => (
            "a list of texts",
            matches!(ty, TypeRef::List(element) if is_text(model.resolve(element))),
        ),
        "filter.prompts" | "filter.resources" | "filter.tools" => ("a boolean", *ty == TypeRef::Boolean),
        "meta.capabilities" | "meta.client" | "meta.server" => ("an object", is_object),
        "meta.progress" | "meta.subscription" => (
            "an id",
            !is_object && !matches!(ty, TypeRef::Boolean | TypeRef::List(_)),
        ),
        _ => ("a text", is_text(ty)),
    };
    (what, holds || *ty == TypeRef::Any || model.union_of(ty).is_some())
}

/// Returns the members of an object by their roles. `kind` names the member with the kind of a result, which has a
/// separate role.
fn members(model: &Model, ty: &TypeRef, kind: Option<&str>) -> Members {
    let Some(object) = model.struct_of(ty) else {
        return Members::default();
    };
    let ends = |member: &Member, end: &str| member.name.to_lowercase().ends_with(end);
    // A role is assigned only if a single member qualifies. Among several, those with presets don't count, then those without
    // the usual end of the name, and then optional ones.
    let only = |end: &str, is_meant: &dyn Fn(&TypeRef, &Member) -> bool| {
        let members = object.members.iter();
        let mut meant: Vec<&Member> = members
            .filter(|member| kind != Some(member.name.as_str()))
            .filter(|member| is_meant(model.resolve(&member.ty), member))
            .collect();
        if meant.len() > 1 {
            meant.retain(|member| member.preset.is_none());
        }
        let is_usual = |member: &Member| ends(member, end);
        for is_preferred in [&is_usual as &dyn Fn(&Member) -> bool, &|member| member.required] {
            if meant.iter().any(|member| is_preferred(member)) {
                meant.retain(|member| is_preferred(member));
            }
        }
        match meant[..] {
            [only] => Some(only.name.clone()),
            _ => None,
        }
    };
    let named = |ty: &TypeRef, names: &[&str]| matches!(ty, TypeRef::Named(name) if names.contains(&name.as_str()));
    // The names of revisions can be enumerated, but then only the member's name distinguishes them from other values.
    let is_text = |ty: &TypeRef, member: &Member, end: &str| {
        let is_enumeration = || ty.as_named().is_some_and(|name| model.is_strings(name));
        *ty == TypeRef::String || (ends(member, end) && is_enumeration())
    };
    let id = request_id(model);
    let [client, server, implementation, level] = SESSION_TYPES;
    let found = [
        (
            "name",
            only("version", &|ty, member| {
                member.required && is_text(ty, member, "version")
            }),
        ),
        (
            "versions",
            only(
                "versions",
                &|ty, member| matches!(ty, TypeRef::List(element) if is_text(model.resolve(element), member, "versions")),
            ),
        ),
        ("capabilities", only("", &|ty, _| named(ty, &[client, server]))),
        ("implementation", only("", &|ty, _| named(ty, &[implementation]))),
        (
            "text",
            only("", &|ty, member| !member.required && *ty == TypeRef::String),
        ),
        (
            "request",
            only("", &|ty, member| {
                // Types without a name are equal by chance too.
                let is_same = |own: &TypeRef| id == Some(own) && (member.required || own.named().is_some());
                *ty.not_null() == TypeRef::RequestId || is_same(member.ty.not_null())
            }),
        ),
        ("level", only("", &|ty, _| named(ty, &[level]))),
    ];
    found
        .into_iter()
        .filter_map(|(what, name)| Some((what, name?)))
        .collect()
}

/// Returns the type of the ids of JSON-RPC's messages, unless it is only text: sessions number their requests.
fn request_id(model: &Model) -> Option<&TypeRef> {
    let mut envelopes = model
        .objects()
        .filter(|(_, object)| object.constant("jsonrpc").is_some());
    let id = envelopes.find_map(|(_, object)| Some(object.member("id")?.ty.not_null()))?;
    (*model.resolve(id) != TypeRef::String).then_some(id)
}

/// Returns the member that is the filter: an object that declares a member with a `filter.` role.
fn filter(model: &Model, params: &TypeRef, names: &BTreeMap<String, String>) -> Option<String> {
    let roles = names.iter().filter(|(role, _)| role.starts_with("filter."));
    let members: Vec<&String> = roles.map(|(_, name)| name).collect();
    let is_filter = |ty: &TypeRef| {
        let object = model.struct_of(model.resolve(ty).not_null());
        object.is_some_and(|object| members.iter().any(|name| object.member(name).is_some()))
    };
    let mut params = model.struct_of(params)?.members.iter();
    params
        .find(|member| is_filter(&member.ty))
        .map(|member| member.name.clone())
}
