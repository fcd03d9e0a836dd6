//! The error of a value that another revision can't represent.

use std::borrow::Cow;
use std::fmt;

use mcp_wire::path::Segment;
use mcp_wire::{DecodeError, Invalid, Path, error_code};

use crate::loss::AUTOMATIC;

/// The error of a value that the other revision can't represent.
#[derive(Clone, PartialEq)]
pub struct Unrepresentable(Box<Refused>);

/// The result of converting a value, usually in place.
pub(crate) type Converted<T = ()> = Result<T, Unrepresentable>;

#[derive(Clone, PartialEq)]
struct Refused {
    path: Vec<Segment>,
    code: i64,
    reason: Cow<'static, str>,
    rule: &'static str,
    supply_key: Option<&'static str>,
}

impl Unrepresentable {
    /// Creates an error with a JSON-RPC error code for the peer, and the rule that causes it.
    #[must_use]
    pub fn new(code: i64, reason: impl Into<Cow<'static, str>>, rule: &'static str) -> Self {
        Self(Box::new(Refused {
            path: Vec::new(),
            code,
            reason: reason.into(),
            rule,
            supply_key: None,
        }))
    }

    /// Creates the error of an internal mistake, such as a revision that doesn't exist.
    pub(crate) fn internal(reason: String) -> Self {
        Self::new(error_code::INTERNAL_ERROR, reason, AUTOMATIC)
    }

    /// Creates the error of a value that can't be decoded as a type.
    pub(crate) fn undecodable(error: DecodeError) -> Self {
        Self::unfilled(error, AUTOMATIC)
    }

    /// Creates the error of a value that can't be read to fill the template of a rule.
    pub(crate) fn unfilled(error: DecodeError, rule: &'static str) -> Self {
        Self::by_rule(&error.reason(), rule).at(&error.path())
    }

    /// Creates the error of a `null` that the other revision doesn't allow.
    pub(crate) fn no_null() -> Self {
        Self::new(
            error_code::INVALID_PARAMS,
            "the other revision allows no null there",
            AUTOMATIC,
        )
    }

    /// Creates the error of a list for which the other revision has one value.
    pub(crate) fn not_one(count: usize, target: &'static str) -> Self {
        let because = format!("revision {target} has one value there, not a list of {count}");
        Self::new(error_code::INVALID_PARAMS, because, AUTOMATIC)
    }

    /// Creates the error of a method that the other revision doesn't have.
    pub(crate) fn no_such_method(method: &str, target: &'static str) -> Self {
        let because = format!("revision {target} has no method {method}");
        Self::new(error_code::METHOD_NOT_FOUND, because, AUTOMATIC).within_member("method")
    }

    /// Creates the error of a string that isn't among the values of the other revision.
    pub(crate) fn no_such_value(text: &str, target: &'static str) -> Self {
        let because = format!("revision {target} has no value {text:?} there");
        Self::new(error_code::INVALID_PARAMS, because, AUTOMATIC)
    }

    /// Creates the error of a variant without a counterpart in the other revision.
    pub(crate) fn no_counterpart(what: &str, target: &'static str) -> Self {
        let because = format!("revision {target} has no counterpart of `{what}` there");
        Self::new(error_code::INVALID_PARAMS, because, AUTOMATIC)
    }

    /// Creates the error of a value of a variant that the source doesn't declare, and the other revision neither.
    pub(crate) fn unknown_variant(target: &'static str) -> Self {
        let because = format!("revision {target} has no counterpart of this value there");
        Self::new(error_code::INVALID_PARAMS, because, AUTOMATIC)
    }

    /// Creates the error of a result that no method of the other revision has.
    pub(crate) fn no_such_result(target: &'static str) -> Self {
        Self::internal(format!("no method of revision {target} has such a result"))
    }

    /// Creates the error of a value without a member that the other revision requires. `supply_key` is the key by which
    /// a supply could provide it.
    pub(crate) fn lacks(member: &str, supply_key: Option<&'static str>) -> Self {
        let because = format!("the target revision requires `{member}`, and nothing supplies it");
        let mut refused = Self::new(error_code::INVALID_PARAMS, because, AUTOMATIC);
        refused.0.supply_key = supply_key;
        refused.within_member(member)
    }

    pub(crate) fn by_rule(error: &dyn fmt::Display, rule: &'static str) -> Self {
        Self::new(error_code::INVALID_PARAMS, error.to_string(), rule)
    }

    /// Creates the error of a value that a schema doesn't accept.
    pub(crate) fn invalid(invalid: &Invalid, rule: &'static str) -> Self {
        match invalid.violations.as_slice() {
            [only] if only.path == Path::default() => Self::by_rule(&only.reason(), rule),
            _ => Self::by_rule(invalid, rule),
        }
    }

    /// Prepends a member to the path.
    #[must_use]
    pub fn within_member(self, member: &str) -> Self {
        self.within(Segment::Member(member.to_owned()))
    }

    /// Prepends a segment to the path.
    pub(crate) fn within(mut self, segment: Segment) -> Self {
        self.0.path.push(segment);
        self
    }

    /// Sets the path.
    pub(crate) fn at(mut self, path: &Path) -> Self {
        self.0.path = path.segments().iter().rev().cloned().collect();
        self
    }

    /// Returns the path in the source value.
    #[must_use]
    pub fn path(&self) -> Path {
        Path::from_reversed(self.0.path.clone())
    }

    /// Returns the JSON-RPC error code for the peer.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.0.code
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Returns the cause: the revision and place of a rule, or `automatic`.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        self.0.rule
    }

    /// Returns the key by which a [`Supply`](crate::Supply) could provide the missing member. `None` for other errors.
    #[must_use]
    pub fn supply_key(&self) -> Option<&'static str> {
        self.0.supply_key
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
