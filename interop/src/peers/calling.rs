//! Our client with a peer's server.

use std::sync::Arc;
use std::time::Duration;

use mcp_runtime::hub::LoggingLevel;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::transport::{Transport as Connection, inspect, stdio};
use mcp_runtime::{ClientSession, Era, Limits, Options, connect, hub};

use super::case::{Case, Mode, Sdk, Transport};
use super::host::{Host, ReceivedMessages};
use super::report::Step;
use super::script::{self, Script};
use super::steps::{Declares, ScriptRun};
use crate::error::Error;
use crate::process::{Group, Running, free_port};
use crate::validation::released;
use crate::wire::Log;

/// The data that running a script needs.
pub struct ScriptContext {
    pub scripts: Vec<Script>,
    pub declares: Box<Declares>,
}

/// Starts a peer's server, and runs the script for it with our client.
pub async fn call(case: &Case, context: &ScriptContext, steps: &mut Vec<Step>) -> Result<(), String> {
    let log = Log::create(&case.file("jsonl")).map_err(|error| error.to_string())?;
    if case.transport == Transport::Stdio {
        let command = match case.sdk {
            Sdk::Everything => case.everything(0).map_err(|error| error.to_string())?,
            _ => {
                let mut command = case.driver("server");
                command.arg(case.transport.option());
                command
            }
        };
        let server = stdio::spawn(command, stdio::SpawnOptions::default()).map_err(|error| error.to_string())?;
        let _group = Group::of(server.id());
        return converse(server, case, log, context, steps).await;
    }
    let (_server, url) = serve(case).await?;
    let client = HttpClient::new(&url, HttpOptions::default()).map_err(|error| error.to_string())?;
    converse(client, case, log, context, steps).await
}

/// Starts a peer's server over HTTP, and waits until it listens.
async fn serve(case: &Case) -> Result<(Running, String), String> {
    let as_text = |error: Error| error.to_string();
    let failed = |error: std::io::Error| error.to_string();
    if case.sdk != Sdk::Everything {
        let mut command = case.driver("server");
        command.arg(case.transport.option());
        let mut server = Running::start(command, &case.file("stderr")).map_err(as_text)?;
        let url = server.line().await.map_err(failed)?;
        return match url {
            Some(url) => Ok((server, url)),
            None => Err(format!(
                "the server ended without naming its URL; see {}",
                case.file("stderr").display()
            )),
        };
    }
    // This server can't choose a free port.
    let port = free_port().await.map_err(failed)?;
    let mut server = Running::start(case.everything(port).map_err(as_text)?, &case.file("stderr")).map_err(as_text)?;
    if !server.listens(port).await.map_err(failed)? {
        return Err(format!(
            "the server ended at once; see {}",
            case.file("stderr").display()
        ));
    }
    let path = if case.transport == Transport::Sse { "sse" } else { "mcp" };
    Ok((server, format!("http://127.0.0.1:{port}/{path}")))
}

/// Runs the script for the server.
async fn converse(
    transport: impl Connection,
    case: &Case,
    log: Log,
    context: &ScriptContext,
    steps: &mut Vec<Step>,
) -> Result<(), String> {
    let received = Arc::new(ReceivedMessages::default());
    let era = match case.mode {
        Mode::Auto => None,
        Mode::Stateless => Some(Era::Stateless),
        Mode::Handshake => Some(Era::Handshake),
    };
    let session = begin(transport, era, log, &received).await?;
    let peer = session.peer().clone();
    let server = peer
        .info()
        .and_then(|info| Some(info.implementation.as_ref()?.name.clone()))
        .unwrap_or_default();
    let found = context.scripts.iter().find(|script| script.is_for(&server));
    let script = found.ok_or_else(|| format!("no script is for a server that calls itself {server:?}"))?;
    let play = ScriptRun {
        peer: &peer,
        received: &received,
        script,
        names: script::steps(case.revision()),
        declares: &*context.declares,
    };
    play.run(steps).await;
    session.close().await;
    Ok(())
}

/// Starts a session of our client.
pub async fn begin(
    transport: impl Connection,
    era: Option<Era>,
    log: Log,
    received: &Arc<ReceivedMessages>,
) -> Result<ClientSession, String> {
    let options = Options {
        limits: Limits {
            // A server can take long to start on a busy machine.
            call_timeout: Duration::from_secs(30),
            ..Limits::default()
        },
        era,
        supported: released().collect(),
        log_level: Some(LoggingLevel::Info),
        ..Options::default()
    };
    let session = connect(
        Host(Arc::clone(received)),
        hub::Implementation::new("mcp-interop", env!("CARGO_PKG_VERSION")),
        Host::capabilities(),
        options,
        inspect(transport, move |way, message| log.note(way, message)),
    );
    session.await.map_err(|error| format!("no session began: {error}"))
}
