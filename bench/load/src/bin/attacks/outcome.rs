//! What came of an attack.

use std::time::Duration;

use anyhow::Result;
use mcp_load::Usage;
use tokio::process::Child;

/// What came of an attack.
pub struct Outcome {
    /// What the server used when the attack was over.
    pub usage: Usage,
    /// How long it took to answer, or whatever the attack waits for.
    pub took: Duration,
    /// What came of it, in words.
    pub says: String,
}

impl Outcome {
    pub fn of(child: &Child, took: Duration, says: impl Into<String>) -> Result<Self> {
        Ok(Self {
            usage: Usage::of(child)?,
            took,
            says: says.into(),
        })
    }
}

/// An answer in few words.
pub fn said(answer: Option<&str>) -> String {
    let Some(answer) = answer else {
        return "no answer".to_owned();
    };
    let start: String = answer.chars().take(70).collect();
    format!("{} bytes: `{}`", answer.len(), start.replace('|', "/"))
}
