//! The changes between two revisions.

use serde::Serialize;

use crate::overlay::Deprecation;

/// The changes between two revisions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// The earlier revision, or the file that was read for it.
    pub from: String,
    /// The later one.
    pub to: String,
    /// Whether the conversions are those of the adapters. Otherwise they are the automatic ones, without rules.
    pub(crate) ruled: bool,
    /// A summary of what is new in the later revision, in a few sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) summary: Vec<String>,
    /// The changes, by subject.
    pub changes: Vec<Change>,
    /// Features that the later revision deprecates.
    pub(crate) deprecated: Vec<Deprecation>,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The kind of thing that has changed.
    pub subject: Subject,
    /// Its name: a method, a definition, `Definition.member`, an error code or a fact.
    pub name: String,
    /// The kind of change.
    pub what: ChangeKind,
    /// Its earlier value, or the values that it no longer has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its later value, or the values that it has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Who has to change.
    pub compatibility: Compatibility,
    /// Its pointer in the earlier schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<String>,
    /// Its pointer in the later schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<String>,
    /// The adapters' treatment of it when they convert to the later revision; empty if no conversion is about it.
    pub up: Vec<String>,
    /// The same for conversions to the earlier revision.
    pub down: Vec<String>,
    /// Its Rust names in the plans.
    #[serde(skip)]
    pub(super) planned_as: Vec<String>,
}

/// The kind of thing that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A request or notification.
    Method,
    /// A definition of the schema.
    Definition,
    /// A member of an object, or the values of a type.
    Type,
    /// An error code.
    ErrorCode,
    /// A property of the whole revision that the schema doesn't express.
    Fact,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another name.
    Renamed,
    /// It was optional and is required.
    Required,
    /// It was required and is optional.
    Optional,
    /// It has more values.
    Loosened,
    /// It has fewer values.
    Tightened,
    /// It has other values.
    Changed,
}

/// Who has to change, if the other side has moved to the later revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compatibility {
    /// Nobody: more values are valid than before.
    Additive,
    /// Senders: the later revision doesn't accept everything that the earlier one does.
    BreakingForSenders,
    /// Receivers: the later revision may send what the earlier one doesn't.
    BreakingForReceivers,
    /// Both.
    Breaking,
    /// Nobody: messages don't change.
    Cosmetic,
}

impl ChangeKind {
    /// Returns the kind of change of something that has lost values, gained values, or both; `None` if neither.
    pub(super) fn of_values(has_lost: bool, has_more: bool) -> Option<(Self, Compatibility)> {
        match (has_lost, has_more) {
            (false, false) => None,
            (false, true) => Some((Self::Loosened, Compatibility::BreakingForReceivers)),
            (true, false) => Some((Self::Tightened, Compatibility::BreakingForSenders)),
            (true, true) => Some((Self::Changed, Compatibility::Breaking)),
        }
    }

    /// Returns the kind of change of a member that was and is required, optional, or not there; `None` if it is the same.
    pub(super) fn of_member(was: Option<bool>, is: Option<bool>) -> Option<(Self, Compatibility)> {
        match (was, is) {
            (None, Some(true)) => Some((Self::Added, Compatibility::BreakingForSenders)),
            (None, _) => Some((Self::Added, Compatibility::Additive)),
            (Some(true), None) => Some((Self::Removed, Compatibility::Breaking)),
            (Some(false), None) => Some((Self::Removed, Compatibility::BreakingForSenders)),
            (Some(false), Some(true)) => Some((Self::Required, Compatibility::BreakingForSenders)),
            (Some(true), Some(false)) => Some((Self::Optional, Compatibility::BreakingForReceivers)),
            (Some(_), Some(_)) => None,
        }
    }
}

impl Change {
    pub(super) fn new(
        subject: Subject,
        name: impl Into<String>,
        what: ChangeKind,
        compatibility: Compatibility,
    ) -> Self {
        Self {
            subject,
            name: name.into(),
            what,
            compatibility,
            before: None,
            after: None,
            earlier: None,
            later: None,
            up: Vec::new(),
            down: Vec::new(),
            planned_as: Vec::new(),
        }
    }

    pub(super) fn values(mut self, before: Option<String>, after: Option<String>) -> Self {
        (self.before, self.after) = (before, after);
        self
    }

    pub(super) fn at(mut self, earlier: Option<String>, later: Option<String>) -> Self {
        (self.earlier, self.later) = (earlier, later);
        self
    }

    pub(super) fn planned_as(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.planned_as.extend(names);
        self
    }
}

/// Returns the values of a change as a list; `None` if there are none.
pub(super) fn list(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| values.join(", "))
}
