//! The report of a call that an observer gets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

/// The function that gets a report of each call.
pub type Observer = Arc<dyn Fn(&CallReport<'_>) + Send + Sync>;

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CallReport<'c> {
    /// The name of the server.
    pub server: &'c str,
    /// The method.
    pub method: &'c str,
    /// The tool or prompt, by its name there, or the URI of the resource.
    pub target: Option<&'c str>,
    /// How long it took.
    pub elapsed: Duration,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// With a result.
    Completed,
    /// With the result of a tool that has failed (`isError`).
    ToolFailed,
    /// With an error of this code.
    Failed(i64),
    /// The client has cancelled it, or is gone.
    Cancelled,
}

impl Outcome {
    pub(super) fn of(result: &Result<hub::ServerResult, ErrorObject>) -> Self {
        match result {
            Ok(hub::ServerResult::CallTool(result)) if result.is_error == Some(true) => Self::ToolFailed,
            Ok(_) => Self::Completed,
            Err(error) => Self::Failed(error.code),
        }
    }
}

/// Reports a call when it is dropped.
pub struct Reporting<'c> {
    pub observer: Option<&'c Observer>,
    pub server: &'c str,
    pub method: String,
    pub target: Option<String>,
    pub begun: Instant,
    pub outcome: Outcome,
}

impl Drop for Reporting<'_> {
    fn drop(&mut self) {
        if let Some(observer) = self.observer {
            observer(&CallReport {
                server: self.server,
                method: &self.method,
                target: self.target.as_deref(),
                elapsed: self.begun.elapsed(),
                outcome: self.outcome,
            });
        }
    }
}
