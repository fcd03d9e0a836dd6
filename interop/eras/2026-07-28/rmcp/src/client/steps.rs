//! Code shared by the steps.

use anyhow::{Result, bail, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::service::{Peer, RunningService, ServiceError};
use rmcp::{ErrorData, RoleClient};
use serde_json::{Value, json};

use super::handler::Client;
use crate::{json, typed};

pub(super) const INVALID_PARAMS: i32 = -32602;

/// The reason why a step isn't taken.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Absent(pub(super) &'static str);

/// The steps of a client.
pub(super) struct Steps {
    pub(super) client: Client,
    pub(super) peer: Peer<RoleClient>,
    pub(super) running: RunningService<RoleClient, Client>,
    pub(super) is_stateless: bool,
}

impl Steps {
    pub(super) async fn call(&self, name: &str, given: Value) -> Result<Value, ServiceError> {
        let meta = self.client.with(|memory| memory.meta.clone());
        let params = json!({"name": name, "arguments": given, "_meta": meta});
        let params = typed(params).map_err(ServiceError::McpError)?;
        // If the result requests input, the client provides it and calls again.
        self.running.call_tool(params).await.map(json)
    }

    /// Calls a tool that must succeed, and returns the texts of its result.
    pub(super) async fn call_for_text(&self, name: &str, given: Value) -> Result<String> {
        let result = self.call(name, given).await?;
        let texts: Vec<&str> = blocks(&result)
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect();
        ensure!(
            result["isError"] != true,
            "{name} answered with an error: {}",
            texts.join("\n")
        );
        Ok(texts.join("\n"))
    }
}

pub(super) fn blocks(result: &Value) -> &[Value] {
    result["content"].as_array().map_or(&[], Vec::as_slice)
}

/// The error with which a call must end.
pub(super) fn error_of<T: std::fmt::Debug>(called: Result<T, ServiceError>) -> Result<ErrorData> {
    match called {
        Err(ServiceError::McpError(error)) => Ok(error),
        other => bail!("should have failed, but ended with {other:?}"),
    }
}

pub(super) fn decoded(base64: &Value) -> Result<Vec<u8>> {
    Ok(BASE64_STANDARD.decode(base64.as_str().unwrap_or_default())?)
}

pub(super) fn check_png(base64: &Value) -> Result<()> {
    ensure!(decoded(base64)?.get(1..4) == Some(b"PNG"), "no picture: {base64}");
    Ok(())
}
