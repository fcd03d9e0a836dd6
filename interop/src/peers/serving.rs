//! Our server with a peer's client.

use std::path::Path;

use super::case::{Case, Transport};
use super::report::{Status, Step};
use super::script;
use crate::error::Error;
use crate::process::{Running, leading};

/// Runs our server, and a peer's client through all steps.
pub async fn serve(case: &Case, everything: &Path, steps: &mut Vec<Step>) -> Result<(), String> {
    let as_text = |error: Error| error.to_string();
    let log = case.file("jsonl");
    if log.exists() {
        // The server appends to the log.
        std::fs::remove_file(&log).map_err(|error| error.to_string())?;
    }
    let mut client = case.driver("client");
    client.arg(case.transport.option());
    let server = if case.transport == Transport::Stdio {
        client.arg(everything).arg("--log").arg(&log);
        None
    } else {
        let mut command = leading(everything);
        command.arg("--http").arg("--log").arg(&log);
        let mut server = Running::start(command, &case.file("server.stderr")).map_err(as_text)?;
        let url = server.line().await.map_err(|error| error.to_string())?;
        let url = url.ok_or("our server ended without naming its URL")?;
        client.arg(match case.transport {
            // The server offers both transports.
            Transport::Sse => url.replace("/mcp", "/sse"),
            _ => url,
        });
        Some(server)
    };

    let mut client = Running::start(client, &case.file("stderr")).map_err(as_text)?;
    while let Some(line) = client.line().await.map_err(|error| error.to_string())? {
        let step = serde_json::from_str(&line).map_err(|error| format!("the driver said {line:?}: {error}"))?;
        steps.push(step);
    }
    let status = client.end().await.map_err(|error| error.to_string())?;
    if !status.success() && !steps.iter().any(|step| step.status == Status::Failed) {
        return Err(format!(
            "the driver ended with {status}; see {}",
            case.file("stderr").display()
        ));
    }
    if let Some(server) = server {
        let status = server.end().await.map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!(
                "our server ended with {status}; see {}",
                case.file("server.stderr").display()
            ));
        }
    }
    let skipped = |name: &&&str| !steps.iter().any(|step| step.step == **name);
    let skipped: Vec<Step> = script::steps(case.revision())
        .iter()
        .filter(skipped)
        .map(|name| Step::failed(name, "the driver skipped it"))
        .collect();
    steps.extend(skipped);
    Ok(())
}
