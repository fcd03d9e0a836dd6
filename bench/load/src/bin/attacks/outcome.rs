//! The outcome of an attack.

use std::time::Duration;

use anyhow::Result;
use mcp_load::Usage;
use tokio::process::Child;

/// The outcome of an attack.
pub struct Outcome {
    /// The server's usage after the attack.
    pub usage: Usage,
    /// The time until the response or other event for which the attack waits.
    pub took: Duration,
    /// A description of the outcome.
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

/// Returns the length and the beginning of a response.
pub fn said(answer: Option<&str>) -> String {
    let Some(answer) = answer else {
        return "no response".to_owned();
    };
    let start: String = answer.chars().take(70).collect();
    format!("{} bytes: `{}`", answer.len(), start.replace('|', "/"))
}
