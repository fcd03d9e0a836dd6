//! Rules about errors: the section `errors` of `adapt.yaml`.

use serde::Deserialize;

use crate::load::OneOrMany;
use crate::problem::Problem;

/// Prefix of every condition. All errors have a code and a message, so conditions are only about the data.
const DATA: &str = "data.";

/// A rule about the errors of some methods.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorRule {
    /// The methods; `None` for all of them.
    #[serde(rename = "method")]
    pub(crate) methods: Option<OneOrMany>,
    /// The code when the error goes to the earlier revision.
    pub(crate) down: Option<CodeChange>,
    /// The code when the error goes to the later revision.
    pub(crate) up: Option<CodeChange>,
    pub(crate) why: String,
    /// Link to the part of the specification, or the discussion, that justifies the rule.
    #[serde(rename = "link")]
    pub(super) _link: String,
    /// The pointer of the rule in its file.
    #[serde(skip)]
    pub(crate) pointer: String,
}

/// An error code, and its replacement in the other revision.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeChange {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// The member that the error must have, such as `data.uri`.
    #[serde(rename = "if")]
    pub(crate) condition: Option<String>,
}

impl ErrorRule {
    pub(super) fn change(&self, upward: bool) -> Option<&CodeChange> {
        let change = if upward { &self.up } else { &self.down };
        change.as_ref()
    }

    /// Returns the problem of an invalid rule, with a suggestion.
    pub(super) fn wrong(&self) -> Option<Problem> {
        let mut changes = self.down.iter().chain(&self.up);
        let is_wrong = |change: &CodeChange| {
            let data = change.data();
            change.condition.is_some() && (data.is_empty() || data.iter().any(String::is_empty))
        };
        let (what, help) = if self.down.is_none() && self.up.is_none() {
            ("the rule does nothing", "give it `down`, `up` or both")
        } else if changes.clone().any(|change| change.from == change.to) {
            ("the code doesn't change", "such errors need no rule")
        } else if changes.any(is_wrong) {
            (
                "`if` names no member of the error's data",
                "write its path, such as `data.uri`",
            )
        } else {
            return None;
        };
        Some(Problem::at_pointer(&self.pointer, what).help(help))
    }
}

impl CodeChange {
    /// Returns the path, within the data, of the member that the error must have.
    pub(super) fn data(&self) -> Vec<String> {
        let path = self.condition.as_deref().and_then(|path| path.strip_prefix(DATA));
        let steps = path.map(|path| path.split('.').map(str::to_owned).collect());
        steps.unwrap_or_default()
    }
}
