//! What is wrong with a folder of skills.

use std::fmt;
use std::path::PathBuf;

/// Everything that is wrong with a folder of skills.
#[derive(Debug)]
pub struct SkillsError(pub Vec<SkillProblem>);

/// Something that is wrong with a folder of skills, and where.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct SkillProblem {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong.
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
