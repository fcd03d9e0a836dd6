//! The client and its steps.

mod base;
mod handler;
mod notifications;
mod prompts;
mod questions;
mod resources;
mod steps;
mod tools;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use rmcp::model::ProtocolVersion;
use rmcp::service::RunningService;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::json;
use tokio::time::timeout;

use self::handler::Client;
use self::steps::{Absent, Steps};

const STEP: Duration = Duration::from_secs(8);

/// The steps; the last ones only without a handshake.
const STEPS: [&str; 22] = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "tools/call error",
    "tools/call structured",
    "progress",
    "cancel",
    "resources/list",
    "resources/read",
    "resources/templates",
    "resources/subscribe",
    "prompts/list",
    "prompts/get",
    "completion",
    "logging",
    "sampling",
    "roots",
    "elicitation",
    "list_changed",
    "rounds",
    "caching",
];
const STATELESS_STEPS: usize = 2;
const STATELESS: ProtocolVersion = ProtocolVersion::V_2026_07_28;

pub async fn over_stdio(command: &str, arguments: &[&str]) -> Result<ExitCode> {
    let mut command = tokio::process::Command::new(command);
    command.args(arguments);
    let client = Client::default();
    let transport = TokioChildProcess::new(command)?;
    let running = client.clone().serve_with_lifecycle(transport, lifecycle()).await?;
    take_all(client, running).await
}

pub async fn over_http(url: &str) -> Result<ExitCode> {
    let client = Client::default();
    let transport = StreamableHttpClientTransport::from_uri(url.to_owned());
    let running = client.clone().serve_with_lifecycle(transport, lifecycle()).await?;
    take_all(client, running).await
}

/// The way in which the client starts, from MCP_MODE.
fn lifecycle() -> ClientLifecycleMode {
    let preferred_versions = vec![STATELESS];
    match std::env::var("MCP_MODE").as_deref() {
        Ok("auto") => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
        Ok("stateless") => ClientLifecycleMode::Discover { preferred_versions },
        _ => ClientLifecycleMode::Initialize,
    }
}

async fn take_all(client: Client, running: RunningService<RoleClient, Client>) -> Result<ExitCode> {
    client.with(|memory| memory.roots.push("file:///project/one".to_owned()));
    let steps = Steps {
        client,
        peer: running.peer().clone(),
        running,
        is_stateless: lifecycle() != ClientLifecycleMode::Initialize,
    };
    let mut good = true;
    let taken = if steps.is_stateless {
        &STEPS[..]
    } else {
        &STEPS[..STEPS.len() - STATELESS_STEPS]
    };
    for &step in taken {
        let taken = timeout(STEP, take(&steps, step))
            .await
            .unwrap_or_else(|_| bail!("not done after {STEP:?}"));
        let (status, detail) = match taken {
            Ok(detail) => ("ok", detail),
            Err(error) if error.is::<Absent>() => ("absent", error.to_string()),
            Err(error) => ("failed", format!("{error:#}")),
        };
        good &= status != "failed";
        println!("{}", json!({"step": step, "status": status, "detail": detail}));
    }
    steps.running.cancel().await?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn take(steps: &Steps, step: &str) -> Result<String> {
    match step {
        "initialize" => steps.initialized(),
        "ping" => steps.ping().await,
        "tools/list" => steps.list_tools().await,
        "tools/call" => steps.call_tools().await,
        "tools/call error" => steps.call_failing().await,
        "tools/call structured" => steps.call_structured().await,
        "progress" => steps.progress().await,
        "cancel" => steps.cancel().await,
        "resources/list" => steps.list_resources().await,
        "resources/read" => steps.read_resources().await,
        "resources/templates" => steps.use_template().await,
        "resources/subscribe" => steps.subscribe().await,
        "prompts/list" => steps.list_prompts().await,
        "prompts/get" => steps.get_prompts().await,
        "completion" => steps.completion().await,
        "logging" => steps.logging().await,
        "sampling" => steps.sampling().await,
        "roots" => steps.roots().await,
        "elicitation" => steps.elicitation().await,
        "list_changed" => steps.list_changed().await,
        "rounds" => steps.rounds().await,
        "caching" => steps.caching().await,
        _ => bail!("no such step"),
    }
}
