//! Facts about a revision as a whole that its schema can't express.

use std::collections::BTreeMap;

use mcp_json_schema::pointer;
use serde::{Deserialize, Serialize};

use crate::load::present;

/// Facts about a revision as a whole that its schema can't express. A fact that an overlay leaves out is inherited from
/// the revision before; if none states it, it is absent or false.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Facts {
    /// The header of HTTP requests that names the revision; `null` for none.
    #[serde(deserialize_with = "present")]
    pub(crate) version_header: Option<Option<String>>,
    /// The header with the id of the session that an HTTP server may give each client; `null` for none.
    #[serde(deserialize_with = "present")]
    pub(crate) session_header: Option<Option<String>>,
    /// Whether an HTTP client may open a stream for messages that aren't related to a request.
    pub(crate) listening: Option<bool>,
    /// Whether an HTTP client may resume an interrupted stream.
    pub(crate) resumption: Option<bool>,
    /// Whether clients expect an event without a message at the start of a stream, whose id allows them to reconnect.
    pub(crate) polling: Option<bool>,
    /// Whether an HTTP client cancels a request by closing the response stream, instead of by a notification.
    pub(crate) cancels_by_closing: Option<bool>,
    /// Whether the origin of an HTTP server without authorization metadata is its authorization server.
    pub(crate) authorizes_at_origin: Option<bool>,
    /// Whether the response to a tool call with invalid arguments is a result that reports them, instead of an error.
    pub(crate) input_errors_as_results: Option<bool>,
    /// The status of an HTTP response with an error, by the code of the error. The entries of codes that the overlay
    /// defines contain theirs.
    pub(crate) statuses: Option<BTreeMap<i64, u16>>,
    /// The headers of HTTP requests that repeat values of the body.
    pub(crate) mirrors: Option<Mirrors>,
}

/// The headers of HTTP requests that repeat values of the body.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Mirrors {
    pub(crate) method: Option<String>,
    /// The headers that repeat a parameter: the parameter of each method that has the header.
    pub(crate) params: BTreeMap<String, BTreeMap<String, String>>,
    /// The headers that repeat arguments of a tool call.
    pub(crate) arguments: Option<MirroredArguments>,
}

/// The headers that repeat the arguments whose schema names a header.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MirroredArguments {
    /// The prefix of the name of each header.
    pub(crate) prefix: String,
    /// The keyword in the schema of an argument whose value is the rest of the header's name.
    pub(crate) keyword: String,
    /// The request with the arguments.
    pub(crate) call: MirroredCall,
    /// The request whose result contains their schema.
    pub(crate) list: MirroredList,
}

/// The request with the arguments, and its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MirroredCall {
    pub(crate) method: String,
    /// The parameter that names the tool.
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// The request that lists the tools, and members of its parameters and its result.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MirroredList {
    pub(crate) method: String,
    /// The list in the result.
    pub(crate) items: String,
    /// The member of an item with the name of the tool.
    pub(crate) name: String,
    /// The member of an item with the schema of the arguments.
    pub(crate) schema: String,
    /// The parameter that requests another page.
    pub(crate) cursor: String,
    /// The member of the result that names the next page.
    pub(crate) next: String,
}

impl Facts {
    /// Returns these facts, with those of the revision before for the missing ones.
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

    /// Removes the inherited fact at a pointer. Returns `false` without a change if the revision states it itself, in
    /// `own`, or if it can't be removed.
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
