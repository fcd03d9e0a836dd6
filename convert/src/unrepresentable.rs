//! Why a value can't be had in another revision.

use std::borrow::Cow;
use std::fmt;

use mcp_wire::path::Segment;
use mcp_wire::{Path, error_code};

use crate::loss::AUTOMATIC;

/// A value that the other revision can't represent.
#[derive(Clone, PartialEq)]
pub struct Unrepresentable(Box<Refused>);

#[derive(Clone, PartialEq)]
struct Refused {
    path: Vec<Segment>,
    code: i64,
    reason: Cow<'static, str>,
    rule: &'static str,
}

impl Unrepresentable {
    /// A refusal by a rule, which a peer is told with a JSON-RPC error code.
    #[must_use]
    pub fn new(code: i64, reason: impl Into<Cow<'static, str>>, rule: &'static str) -> Self {
        Self(Box::new(Refused {
            path: Vec::new(),
            code,
            reason: reason.into(),
            rule,
        }))
    }

    /// A null where the other revision allows none.
    #[doc(hidden)]
    #[must_use]
    pub fn no_null() -> Self {
        Self::new(
            error_code::INVALID_PARAMS,
            "the other revision allows no null there",
            AUTOMATIC,
        )
    }

    /// A method that the other revision doesn't have.
    #[doc(hidden)]
    #[must_use]
    pub fn no_such_method(method: &str, target: &'static str) -> Self {
        let because = format!("revision {target} has no method {method}");
        Self::new(error_code::METHOD_NOT_FOUND, because, AUTOMATIC).within_member("method")
    }

    /// A text where the other revision allows a few, and not this one.
    #[doc(hidden)]
    #[must_use]
    pub fn no_such_value(text: &str, target: &'static str) -> Self {
        let because = format!("revision {target} has no value {text:?} there");
        Self::new(error_code::INVALID_PARAMS, because, AUTOMATIC)
    }

    /// A variant that corresponds to nothing in the other revision.
    #[doc(hidden)]
    #[must_use]
    pub fn no_counterpart(what: &str, target: &'static str) -> Self {
        let because = format!("revision {target} has no counterpart of `{what}` there");
        Self::new(error_code::INVALID_PARAMS, because, AUTOMATIC)
    }

    /// A result that no method of the other revision has.
    #[doc(hidden)]
    #[must_use]
    pub fn no_such_result(target: &'static str) -> Self {
        let because = format!("no method of revision {target} has such a result");
        Self::new(error_code::INTERNAL_ERROR, because, AUTOMATIC)
    }

    pub(crate) fn by_rule(error: &dyn fmt::Display, rule: &'static str) -> Self {
        Self::new(error_code::INVALID_PARAMS, error.to_string(), rule)
    }

    /// The same refusal, of the value of a member.
    #[must_use]
    pub fn within_member(self, member: &str) -> Self {
        self.within(Segment::Member(member.to_owned()))
    }

    /// The same refusal, seen from further outside.
    pub(crate) fn within(mut self, segment: Segment) -> Self {
        self.0.path.push(segment);
        self
    }

    /// The same refusal, of something further inside.
    pub(crate) fn at(mut self, path: &Path) -> Self {
        self.0.path = path.segments().iter().rev().cloned().collect();
        self
    }

    /// Where in the source value.
    #[must_use]
    pub fn path(&self) -> Path {
        Path::from_reversed(self.0.path.clone())
    }

    /// The JSON-RPC error code that tells a peer.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.0.code
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// What refused it: the revision and place of a rule, or `automatic`.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        self.0.rule
    }
}

impl fmt::Display for Unrepresentable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_empty() {
            write!(f, "`{}`: ", self.path())?;
        }
        f.write_str(&self.0.reason)
    }
}

impl fmt::Debug for Unrepresentable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unrepresentable")
            .field("path", &self.path().to_string())
            .field("code", &self.0.code)
            .field("reason", &self.0.reason)
            .field("rule", &self.0.rule)
            .finish()
    }
}

impl std::error::Error for Unrepresentable {}
