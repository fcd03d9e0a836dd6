//! What a session does automatically, and with which names: data, because no schema says so.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

/// The lifecycle of a revision.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Lifecycle {
    /// The method or key of each role that the revision has.
    pub(crate) names: BTreeMap<String, String>,
    /// The members of the parameters of each role's method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) params: BTreeMap<String, Members>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) results: BTreeMap<String, Members>,
    /// What else a session writes into its own messages, by method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) messages: BTreeMap<String, OwnMessage>,
    /// The methods whose results usually are of a kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) kinds: BTreeMap<String, Vec<String>>,
}

/// The members of an object that say what a session needs, told by their types.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(default)]
pub(crate) struct Members {
    /// The required text, which names what the object is about, such as a revision or a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The list of texts: several revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) versions: Option<String>,
    /// The capabilities of either side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capabilities: Option<String>,
    /// The name and version of an implementation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) implementation: Option<String>,
    /// The optional text, for people or models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The id of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) level: Option<String>,
    /// The object that declares the members with the roles of a filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filter: Option<String>,
}

impl Members {
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
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

/// The values of the required members of parameters or of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Presets {
    /// Those of the members.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) members: Map<String, Value>,
    /// Those of the keys of `_meta`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) meta: Map<String, Value>,
    /// The required members that nothing presets.
    #[serde(skip)]
    pub(crate) lacking: BTreeSet<String>,
}

impl Presets {
    /// Whether a session has nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.meta.is_empty()
    }
}

/// What a session writes into a message of its own beside what it knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct OwnMessage {
    pub(crate) params: Presets,
    pub(crate) result: Presets,
}

/// What a lifecycle needs and doesn't have, by role.
pub(super) fn incomplete(lifecycle: &Lifecycle) -> Vec<(&str, String)> {
    let unknown = lifecycle.names.iter().flat_map(|(role, name)| {
        let message = lifecycle.messages.get(name).into_iter();
        let members = message.flat_map(|message| message.params.lacking.iter().chain(&message.result.lacking));
        members.map(move |member| {
            let what = format!("`x-preset` in the overlay for `{member}`, which it requires and no session knows");
            (role.as_str(), what)
        })
    });
    lacking(lifecycle).chain(unknown).collect()
}

/// What each role that a lifecycle has needs beside it, where that is missing.
fn lacking(lifecycle: &Lifecycle) -> impl Iterator<Item = (&str, String)> {
    let has = |role: &str| lifecycle.names.contains_key(role);
    let none = Members::default();
    let params = |role: &str| lifecycle.params.get(role).unwrap_or(&none);
    let result = |role: &str| lifecycle.results.get(role).unwrap_or(&none);
    let (begin, begun, found) = (params("begin"), result("begin"), result("discover"));
    #[rustfmt::skip]
    let needed = [
        ("begin", begin.name.is_some(), "parameter that names the revision: one required text"),
        ("begin", begin.capabilities.is_some(), "parameter with the client's capabilities"),
        ("begin", begin.implementation.is_some(), "parameter with the client's name and version"),
        ("begin", begun.name.is_some(), "member of its result that names the revision: one required text"),
        ("begin", begun.capabilities.is_some(), "member of its result with the server's capabilities"),
        ("begin", begun.implementation.is_some(), "member of its result with the server's name and version"),
        ("discover", found.versions.is_some(), "member of its result that names revisions: one list of texts"),
        ("discover", found.capabilities.is_some(), "member of its result with the server's capabilities"),
        ("cancel", params("cancel").request.is_some(), "parameter with the id of a request"),
        ("acknowledge", params("acknowledge").filter.is_some(), "parameter with members that have the roles of a filter"),
        ("listen", params("listen").filter.is_some(), "parameter with members that have the roles of a filter"),
        ("listen", has("acknowledge"), "notification that acknowledges it"),
        ("listen", has("meta.subscription"), "key for the subscription in notifications"),
        ("set-level", params("set-level").level.is_some(), "parameter with a log level"),
        ("subscribe", params("subscribe").name.is_some(), "parameter with the URI: one required text"),
        ("unsubscribe", params("unsubscribe").name.is_some(), "parameter with the URI: one required text"),
        ("meta.version", has("meta.capabilities"), "key for the client's capabilities beside it"),
        ("meta.capabilities", has("meta.version"), "key for the revision beside it"),
    ];
    let lacking = needed
        .into_iter()
        .filter(move |(role, is_there, _)| has(role) && !is_there);
    lacking.map(|(role, _, what)| (role, what.to_owned()))
}
