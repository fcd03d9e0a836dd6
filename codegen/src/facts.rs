//! What a schema can't say about its revision as a whole.

use std::collections::BTreeMap;

use mcp_wire::json_schema::pointer;
use serde::{Deserialize, Serialize};

use crate::load::present;

/// What a schema can't say about its revision as a whole. What an overlay leaves out is as in the revision before, and
/// untrue before the first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Facts {
    /// The header of HTTP requests that names the revision; `null` for none.
    #[serde(deserialize_with = "present")]
    pub(crate) version_header: Option<Option<String>>,
    /// The header with the id of the session that an HTTP server may give each client; `null` for none.
    #[serde(deserialize_with = "present")]
    pub(crate) session_header: Option<Option<String>>,
    /// Whether an HTTP client of a session may open a stream for what is related to no request.
    pub(crate) listening: Option<bool>,
    /// Whether an HTTP client may go on with a stream that was cut.
    pub(crate) resumption: Option<bool>,
    /// Whether clients expect an event without a message at the beginning of a stream, to come back by.
    pub(crate) polling: Option<bool>,
    /// Whether an HTTP client cancels a request by closing its response, instead of by a notification.
    pub(crate) cancels_by_closing: Option<bool>,
    /// Whether a server over HTTP without metadata is authorized at its own origin.
    pub(crate) authorizes_at_origin: Option<bool>,
    /// Whether a call of a tool with invalid arguments gets a result that says so, instead of an error.
    pub(crate) input_errors_as_results: Option<bool>,
    /// The status of an HTTP response with an error, by the code of the error. Codes that the overlay defines have it in
    /// their own entries.
    pub(crate) statuses: Option<BTreeMap<i64, u16>>,
    /// The headers of HTTP requests that repeat what the body says.
    pub(crate) mirrors: Option<Mirrors>,
}

/// The headers of HTTP requests that repeat what the body says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Mirrors {
    pub(crate) method: Option<String>,
    /// The headers that repeat a parameter: the parameter of each method that has the header.
    pub(crate) params: BTreeMap<String, BTreeMap<String, String>>,
    /// The headers that repeat arguments of what is called.
    pub(crate) arguments: Option<MirroredArguments>,
}

/// The headers that repeat those arguments whose schema says so.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MirroredArguments {
    /// What the name of each header begins with.
    pub(crate) prefix: String,
    /// The keyword in the schema of an argument that has the rest of the name.
    pub(crate) keyword: String,
    /// The request that has the arguments.
    pub(crate) call: MirroredCall,
    /// The request whose result has their schema.
    pub(crate) list: MirroredList,
}

/// The request that has the arguments, and its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MirroredCall {
    pub(crate) method: String,
    /// What is called.
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// The request for what can be called, and members of its parameters and its result.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MirroredList {
    pub(crate) method: String,
    /// The list in the result.
    pub(crate) items: String,
    /// The member of an item by which it is called.
    pub(crate) name: String,
    /// The member of an item with the schema of the arguments.
    pub(crate) schema: String,
    /// The parameter that asks for another page.
    pub(crate) cursor: String,
    /// The member of the result that names the next page.
    pub(crate) next: String,
}

impl Facts {
    /// These facts, and where they say nothing, those of the revision before.
    pub(crate) fn or(self, earlier: Self) -> Self {
        Self {
            version_header: self.version_header.or(earlier.version_header),
            session_header: self.session_header.or(earlier.session_header),
            listening: self.listening.or(earlier.listening),
            resumption: self.resumption.or(earlier.resumption),
            polling: self.polling.or(earlier.polling),
            cancels_by_closing: self.cancels_by_closing.or(earlier.cancels_by_closing),
            authorizes_at_origin: self.authorizes_at_origin.or(earlier.authorizes_at_origin),
            input_errors_as_results: self.input_errors_as_results.or(earlier.input_errors_as_results),
            statuses: self.statuses.or(earlier.statuses),
            mirrors: self.mirrors.or(earlier.mirrors),
        }
    }

    /// Leaves out what a pointer leads to, and returns whether it could: `own` facts stay, which the revision states itself.
    pub(crate) fn leave_out(&mut self, own: &Self, pointer: &str) -> bool {
        let tokens = pointer::tokens(pointer).unwrap_or_default();
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        match (&tokens[..], &mut self.statuses, &mut self.mirrors) {
            (["facts", "statuses", code], Some(statuses), _) if own.statuses.is_none() => {
                statuses.retain(|status, _| status.to_string() != **code);
                true
            }
            (["facts", "mirrors", "params", header, method], _, Some(mirrors)) if own.mirrors.is_none() => {
                if let Some(methods) = mirrors.params.get_mut(*header) {
                    methods.remove(*method);
                }
                mirrors.params.retain(|_, methods| !methods.is_empty());
                true
            }
            (["facts", "mirrors", "arguments", ..], _, Some(mirrors)) if own.mirrors.is_none() => {
                mirrors.arguments = None;
                true
            }
            _ => false,
        }
    }
}
