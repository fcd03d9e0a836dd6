//! The methods of a model.

use mcp_wire::Direction;
use serde::Serialize;

use super::type_ref::TypeRef;
use crate::messages::MessageKind;

/// A method.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Method {
    pub(crate) name: String,
    /// Request or notification.
    pub(crate) kind: MessageKind,
    pub(crate) direction: Direction,
    /// The Rust type of the request or notification.
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The official name of the request or notification.
    pub(crate) definition: String,
    /// The role by which a session handles it automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<String>,
    /// The capability that it requires, as the path of a member in the object of capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capability: Option<String>,
    /// Further capabilities that it requires, depending on its parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<Need>,
    /// The possible results, the usual one first; empty for a notification.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) results: Vec<TypeRef>,
    /// The union of the results, if the schema defines one with a tag that distinguishes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result_union: Option<TypeRef>,
    /// The tolerated mistakes in a result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tolerances: Vec<Tolerance>,
}

/// A capability that a request requires depending on its parameters.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Need {
    /// The member of the parameters that requires it.
    pub(crate) member: String,
    /// The member's value that requires it; `None` if all do, or `other_than` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// The only value of the member that doesn't require it. All others do, and so does its absence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) other_than: Option<String>,
    /// The path of a member in the object of capabilities.
    pub(crate) capability: String,
    /// Whether an empty object around that member also declares it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) or_empty: bool,
}

/// A tolerated mistake in a member of a method's result.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Tolerance {
    pub(crate) member: String,
    /// The wrong value as JSON; `None` for a missing member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<String>,
    /// Another member that must be present for it to be tolerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) beside: Option<String>,
    /// The value that is read instead, as JSON; `None` if unreadable entries of the member, a list, are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) read: Option<String>,
}
