//! The methods and members that sessions handle automatically: data, because schemas don't define them.

use std::collections::BTreeMap;

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
    /// The preset values of the messages that a session sends itself, by method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) messages: BTreeMap<String, OwnMessage>,
    /// The revisions that the result of the discovery can list, if the schema enumerates them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) versions: Vec<String>,
    /// The methods by the usual kind of their results.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) kinds: BTreeMap<String, Vec<String>>,
}

impl Lifecycle {
    /// Whether sessions can begin: by a handshake, or with the revision in each request.
    pub(super) fn has_sessions(&self) -> bool {
        ["begin", "meta.version"]
            .iter()
            .any(|role| self.names.contains_key(*role))
    }
}

/// The members of an object that a session needs, by their meaning, which is determined by their types:
///
/// - `name`: the required string, which names the subject of the object, such as a revision or a resource
/// - `versions`: the list of strings: several revisions
/// - `capabilities`: the capabilities of either side
/// - `implementation`: the name and version of either side
/// - `text`: the optional string, for people or models
/// - `request`: the id of a request
/// - `level`: the log level
/// - `filter`: the object that declares the members with the roles of a filter
pub(crate) type Members = BTreeMap<&'static str, String>;

/// The values of the required members of parameters or of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Presets {
    /// The values of members.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) members: Map<String, Value>,
    /// The values of the keys of `_meta`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) meta: Map<String, Value>,
    /// The required members without a preset, each with the pointer of its schema, and the empty value of its type, unless
    /// the type can't have a preset.
    #[serde(skip)]
    pub(crate) lacking: BTreeMap<String, (String, Option<Value>)>,
}

impl Presets {
    /// Whether there are no preset values.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.meta.is_empty()
    }
}

/// The values that a session writes into its own message, in addition to those that it knows itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct OwnMessage {
    pub(crate) params: Presets,
    pub(crate) result: Presets,
}
