//! What a session does by itself, and with which names: data, because no schema says so.

use std::collections::BTreeMap;

use serde::Serialize;

use super::capabilities::OneOrMany;
use super::own_messages::{OwnMessage, own_messages, usual_kinds};
use super::{Member, Model, Struct, TypeKind, TypeRef};
use crate::normalise::Scalar;

/// The methods and keys of `_meta` of each role. A revision has the first one that it declares.
pub(super) type Roles = BTreeMap<String, OneOrMany>;

/// The roles of methods, and whether handlers are asked all the same.
pub(super) const METHOD_ROLES: [(&str, bool); 12] = [
    ("acknowledge", false),
    ("begin", false),
    ("begun", false),
    ("cancel", false),
    ("discover", false),
    ("listen", false),
    ("log", true),
    ("ping", false),
    ("progress", false),
    ("set-level", false),
    ("subscribe", false),
    ("unsubscribe", false),
];

/// The roles of members: keys of `_meta`, members of the filter of changes, and one of results.
pub(super) const MEMBER_ROLES: [&str; 12] = [
    "filter.prompts",
    "filter.resources",
    "filter.tools",
    "filter.uris",
    "meta.capabilities",
    "meta.client",
    "meta.log-level",
    "meta.progress",
    "meta.server",
    "meta.subscription",
    "meta.version",
    RESULT_KIND,
];

/// The role of the member of a result that says of which kind it is.
pub(super) const RESULT_KIND: &str = "result.kind";

/// The lifecycle of a revision.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lifecycle {
    /// The method or key of each role that the revision has.
    pub names: BTreeMap<String, String>,
    /// The members of the parameters of each role's method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Members>,
    /// The members of its result.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub results: BTreeMap<String, Members>,
    /// What else a session writes into its own messages, by method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub messages: BTreeMap<String, OwnMessage>,
    /// The methods whose results usually are of a kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, Vec<String>>,
}

/// The members of an object that say what a session needs, told by their types.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(default)]
pub struct Members {
    /// The required text, which names what the object is about, such as a revision or a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The list of texts: several revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// The capabilities of either side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
    /// The name and version of an implementation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implementation: Option<String>,
    /// The optional text, for people or models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The id of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The log level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The object that declares the members with the roles of a filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

impl Members {
    /// The names of the members.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = [
            &self.name,
            &self.versions,
            &self.capabilities,
            &self.implementation,
            &self.text,
            &self.request,
            &self.level,
            &self.filter,
        ];
        names.into_iter().filter_map(Option::as_deref)
    }
}

/// Puts the roles into a model and its methods.
pub fn assign_roles(model: &mut Model, roles: &Roles) {
    let declared = roles.iter().filter_map(|(role, names)| {
        let name = names.as_slice().iter().find(|name| match is_of_member(role) {
            true => declares_member(model, name),
            false => model.methods.iter().any(|method| method.name == **name),
        });
        Some((role.clone(), name?.clone()))
    });
    let names: BTreeMap<String, String> = declared.collect();
    let (mut params, mut results) = (BTreeMap::new(), BTreeMap::new());
    for (role, name) in &names {
        let Some(method) = model.methods.iter().find(|method| method.name == *name) else {
            continue;
        };
        let request = TypeRef::Named(method.ty.clone());
        if let Some(of_request) = member(model, &request, "params") {
            let filter = filter(model, of_request, &names);
            let of_request = members(model, of_request, None);
            params.insert(role.clone(), Members { filter, ..of_request });
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
    lifecycle.messages = own_messages(model, &lifecycle);
    lifecycle.kinds = usual_kinds(model, &lifecycle);
    for method in &mut model.methods {
        let role = lifecycle.names.iter().find(|(_, name)| **name == method.name);
        method.role = role.map(|(role, _)| role.clone());
    }
    model.lifecycle = lifecycle;
}

/// Finds the members of the data of errors with a role, by the definition that has the error's code.
pub(super) fn find_error_data(model: &mut Model) {
    let data = |code: i64| {
        let mut objects = model.types.values().filter_map(|ty| match &ty.kind {
            TypeKind::Struct(object) => Some(object),
            _ => None,
        });
        let has_code = |object: &&Struct| {
            let mut constants = object.constants.iter();
            constants.any(|constant| constant.name == "code" && constant.value == Scalar::Integer(code))
        };
        let data = objects
            .find(has_code)?
            .members
            .iter()
            .find(|member| member.name == "data")?;
        Some(members(model, &data.ty, None))
    };
    let found: Vec<Option<Members>> = model
        .error_codes
        .iter()
        .map(|error| error.role.and_then(|_| data(error.code)))
        .collect();
    for (error, found) in model.error_codes.iter_mut().zip(found) {
        error.data = found.unwrap_or_default();
    }
}

/// Whether handlers are never asked about methods of a role.
pub fn is_internal(role: &str) -> bool {
    METHOD_ROLES
        .iter()
        .any(|(name, for_handlers)| *name == role && !for_handlers)
}

/// Whether a role is of a member, and not of a method.
pub fn is_of_member(role: &str) -> bool {
    MEMBER_ROLES.contains(&role)
}

/// Whether a type of the model declares a member of this name.
pub(super) fn declares_member(model: &Model, key: &str) -> bool {
    model.types.values().any(|ty| match &ty.kind {
        TypeKind::Struct(object) => object.members.iter().any(|member| member.name == key),
        _ => false,
    })
}

/// What a lifecycle needs and doesn't have, by role.
pub(super) fn incomplete(lifecycle: &Lifecycle) -> Vec<(&str, String)> {
    let has = |role: &str| lifecycle.names.contains_key(role);
    let none = Members::default();
    let params = |role: &str| lifecycle.params.get(role).unwrap_or(&none);
    let result = |role: &str| lifecycle.results.get(role).unwrap_or(&none);
    let (begin, begun, found) = (params("begin"), result("begin"), result("discover"));
    let needed = [
        (
            "begin",
            begin.name.is_some(),
            "parameter that names the revision: one required text",
        ),
        (
            "begin",
            begin.capabilities.is_some(),
            "parameter with the client's capabilities",
        ),
        (
            "begin",
            begin.implementation.is_some(),
            "parameter with the client's name and version",
        ),
        (
            "begin",
            begun.name.is_some(),
            "member of its result that names the revision: one required text",
        ),
        (
            "begin",
            begun.capabilities.is_some(),
            "member of its result with the server's capabilities",
        ),
        (
            "begin",
            begun.implementation.is_some(),
            "member of its result with the server's name and version",
        ),
        (
            "discover",
            found.versions.is_some(),
            "member of its result that names revisions: one list of texts",
        ),
        (
            "discover",
            found.capabilities.is_some(),
            "member of its result with the server's capabilities",
        ),
        (
            "cancel",
            params("cancel").request.is_some(),
            "parameter with the id of a request",
        ),
        (
            "acknowledge",
            params("acknowledge").filter.is_some(),
            "parameter with members that have the roles of a filter",
        ),
        (
            "listen",
            params("listen").filter.is_some(),
            "parameter with members that have the roles of a filter",
        ),
        ("listen", has("acknowledge"), "notification that acknowledges it"),
        (
            "listen",
            has("meta.subscription"),
            "key for the subscription in notifications",
        ),
        (
            "set-level",
            params("set-level").level.is_some(),
            "parameter with a log level",
        ),
        (
            "subscribe",
            params("subscribe").name.is_some(),
            "parameter with the URI: one required text",
        ),
        (
            "unsubscribe",
            params("unsubscribe").name.is_some(),
            "parameter with the URI: one required text",
        ),
        (
            "meta.version",
            has("meta.capabilities"),
            "key for the client's capabilities beside it",
        ),
        (
            "meta.capabilities",
            has("meta.version"),
            "key for the revision beside it",
        ),
    ];
    let lacking = needed.into_iter().filter(|(role, is_there, _)| has(role) && !is_there);
    let lacking = lacking.map(|(role, _, what)| (role, what.to_owned()));
    let unknown = lifecycle.names.iter().flat_map(|(role, name)| {
        let message = lifecycle.messages.get(name).into_iter();
        let members = message.flat_map(|message| message.params.lacking.iter().chain(&message.result.lacking));
        members.map(move |member| {
            let what = format!("`x-preset` in the overlay for `{member}`, which it requires and no session knows");
            (role.as_str(), what)
        })
    });
    lacking.chain(unknown).collect()
}

/// The type of a member.
fn member<'m>(model: &'m Model, of: &'m TypeRef, name: &str) -> Option<&'m TypeRef> {
    let object: &Struct = model.struct_of(of)?;
    let member = object.members.iter().find(|member| member.name == name)?;
    Some(&member.ty)
}

/// The members of an object by what they say. The one that says of which kind a result is has a role of its own.
fn members(model: &Model, ty: &TypeRef, kind: Option<&str>) -> Members {
    let Some(object) = model.struct_of(ty) else {
        return Members::default();
    };
    // Where several could be meant, none is, unless all others have presets.
    let only = |is_meant: &dyn Fn(&TypeRef, bool) -> bool| {
        let members = object.members.iter();
        let mut meant: Vec<&Member> = members
            .filter(|member| kind != Some(member.name.as_str()))
            .filter(|member| is_meant(model.resolve(&member.ty), member.required))
            .collect();
        if meant.len() > 1 {
            meant.retain(|member| member.preset.is_none());
        }
        match meant[..] {
            [only] => Some(only.name.clone()),
            _ => None,
        }
    };
    let named = |ty: &TypeRef, names: &[&str]| matches!(ty, TypeRef::Named(name) if names.contains(&name.as_str()));
    Members {
        name: only(&|ty, required| required && *ty == TypeRef::String),
        versions: only(&|ty, _| *ty == TypeRef::List(Box::new(TypeRef::String))),
        capabilities: only(&|ty, _| named(ty, &["ClientCapabilities", "ServerCapabilities"])),
        implementation: only(&|ty, _| named(ty, &["Implementation"])),
        text: only(&|ty, required| !required && *ty == TypeRef::String),
        request: only(&|ty, _| *ty == TypeRef::RequestId),
        level: only(&|ty, _| named(ty, &["LoggingLevel"])),
        filter: None,
    }
}

/// The member that is an object in which a member has the role of a filter's.
fn filter(model: &Model, params: &TypeRef, names: &BTreeMap<String, String>) -> Option<String> {
    let roles = names.iter().filter(|(role, _)| role.starts_with("filter."));
    let members: Vec<&String> = roles.map(|(_, name)| name).collect();
    let is_filter = |ty: &TypeRef| {
        let object = model.struct_of(ty);
        object.is_some_and(|object| object.members.iter().any(|member| members.contains(&&member.name)))
    };
    let found = model
        .struct_of(params)?
        .members
        .iter()
        .find(|member| is_filter(&member.ty))?;
    Some(found.name.clone())
}
