//! The name of a protocol revision.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of a revision, usually a date. The name is opaque: the manifest defines the order of revisions.
///
/// It is also the name of a directory and part of the name of a crate, so it must be a single safe path component.
///
/// ```
/// use mcp_codegen::load::Revision;
///
/// assert!("draft-1".parse::<Revision>().is_ok());
/// assert!("../elsewhere".parse::<Revision>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Revision(String);

/// The error of a text that isn't a valid name of a revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} isn't a valid name of a revision: use letters, digits, `-`, `_` and `.`, with a letter or digit first, and no `..`"
)]
pub struct RevisionError(String);

impl Revision {
    const MAX_LENGTH: usize = 64;

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Revision {
    type Err = RevisionError;

    fn from_str(name: &str) -> Result<Self, RevisionError> {
        let is_safe = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
        let is_name = name.starts_with(|char: char| char.is_ascii_alphanumeric())
            && name.len() <= Self::MAX_LENGTH
            && name.chars().all(is_safe)
            && !name.contains("..")
            && !name.ends_with('.');
        if is_name {
            Ok(Self(name.into()))
        } else {
            Err(RevisionError(name.into()))
        }
    }
}

impl TryFrom<String> for Revision {
    type Error = RevisionError;

    fn try_from(name: String) -> Result<Self, RevisionError> {
        name.parse()
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
