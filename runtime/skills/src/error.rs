//! Errors in a folder of skills.

use std::fmt;
use std::path::PathBuf;

/// All problems of a folder of skills.
#[derive(Debug)]
pub struct SkillsError(pub Vec<SkillProblem>);

/// A problem of a folder of skills, and its location.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct SkillProblem {
    /// The file or directory.
    pub path: PathBuf,
    /// The problem.
    pub what: String,
}

impl SkillProblem {
    pub(crate) fn new(path: impl Into<PathBuf>, what: impl fmt::Display) -> Self {
        Self {
            path: path.into(),
            what: what.to_string(),
        }
    }
}

impl fmt::Display for SkillsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&problems.join("\n"))
    }
}

impl std::error::Error for SkillsError {}
