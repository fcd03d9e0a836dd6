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
    /// Whether the conversions are those of the adapters. Otherwise they are what is automatic, without rules.
    pub(crate) ruled: bool,
    /// What is new in the later revision, in a few sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) summary: Vec<String>,
    /// The changes, by subject.
    pub changes: Vec<Change>,
    /// What the later revision deprecates.
    pub(crate) deprecated: Vec<Deprecation>,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What kind of thing has changed.
    pub subject: Subject,
    /// Its name: a method, a definition, `Definition.member`, an error code or a fact.
    pub name: String,
    /// What happened to it.
    pub what: ChangeKind,
    /// What it was, or what it has no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it is, or what it has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Who has to change.
    pub compatibility: Compatibility,
    /// Where it is in the earlier schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<String>,
    /// Where it is in the later schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<String>,
    /// What the adapters do with it on the way to the later revision. Nothing, if no conversion is about it.
    pub up: Vec<String>,
    /// The same on the way to the earlier one.
    pub down: Vec<String>,
    /// The Rust names by which the plans know it.
    #[serde(skip)]
    pub(super) planned_as: Vec<String>,
}

/// What kind of thing has changed.
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
    /// What the schema doesn't say of the revision as a whole.
    Fact,
}

/// What happened to it.
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
    /// Nobody: there is more that one may say.
    Additive,
    /// Senders: the later revision doesn't take everything that the earlier one does.
    BreakingForSenders,
    /// Receivers: the later revision may send what the earlier one doesn't.
    BreakingForReceivers,
    /// Both.
    Breaking,
    /// Nobody: nothing changes in a message.
    Cosmetic,
}

impl ChangeKind {
    /// What happened to something that has lost values, has got others, or both; `None` if neither.
    pub(super) fn of_values(has_lost: bool, has_more: bool) -> Option<(Self, Compatibility)> {
        match (has_lost, has_more) {
            (false, false) => None,
            (false, true) => Some((Self::Loosened, Compatibility::BreakingForReceivers)),
            (true, false) => Some((Self::Tightened, Compatibility::BreakingForSenders)),
            (true, true) => Some((Self::Changed, Compatibility::Breaking)),
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
