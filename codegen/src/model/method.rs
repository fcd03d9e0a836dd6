//! What a model says of a method.

use mcp_wire::Direction;
use serde::Serialize;

use super::type_ref::TypeRef;
use crate::messages::MessageKind;

/// A method.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Method {
    pub(crate) name: String,
    /// Whether an answer is expected.
    pub(crate) kind: MessageKind,
    pub(crate) direction: Direction,
    /// The Rust type of the request or notification.
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The official name of the request or notification.
    pub(crate) definition: String,
    /// What a session does with it automatically, so that no handler is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<String>,
    /// The capability that it needs, as the way from the object of capabilities to a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capability: Option<String>,
    /// What it needs besides, for what its parameters say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<Need>,
    /// What may come back, the usual result first; nothing for a notification.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) results: Vec<TypeRef>,
    /// The union of the results, where the schema has one and the value of a tag distinguishes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result_union: Option<TypeRef>,
    /// What is tolerated in a result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tolerances: Vec<Tolerance>,
}

/// A capability that a request needs for what its parameters say.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Need {
    /// The member of the parameters that needs it.
    pub(crate) member: String,
    /// The member's value, if no other needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// The member's value, if every other needs it, and its absence too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) other_than: Option<String>,
    /// The way from the object of capabilities to a member.
    pub(crate) capability: String,
    /// Whether an empty object around that member offers it too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) or_empty: bool,
}

/// What is tolerated in a member of a method's result.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Tolerance {
    pub(crate) member: String,
    /// What is there as JSON; `None` for a member that is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<String>,
    /// The member without which it isn't tolerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) beside: Option<String>,
    pub(crate) read: String,
}
