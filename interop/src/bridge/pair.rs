//! A client and a server of the SDKs, with or without a bridge between them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::error::Error;
use crate::paths;
use crate::peers::{Case, Step, Transport};
use crate::process::{Group, Running, leading};
use crate::validation::{LogValidator, OurRole};
use crate::wire::{Direction, Entry};

/// The time limit for a pair.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client and a server.
#[derive(Debug, Clone)]
pub struct Pair {
    pub client: Case,
    pub server: Case,
    /// The transports on both sides of the bridge; `None` for a direct connection over stdio.
    pub bridged: Option<Way>,
}

/// The transports on both sides of the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    pub client: Transport,
    pub server: Transport,
}

impl Way {
    /// The name of the transports in files and tables.
    pub fn name(self) -> &'static str {
        match (self.client, self.server) {
            (Transport::Stdio, _) => "stdio",
            (_, Transport::Stdio) => "http",
            _ => "http to http",
        }
    }
}

/// The outcome of a pair.
#[derive(Debug, Default)]
pub struct Outcome {
    pub steps: Vec<Step>,
    /// The number of messages that the bridge wrote.
    pub written: usize,
    /// The violations of these messages, by the schema of the side that reads them.
    pub violations: Vec<String>,
    /// The number of violations in the peers' own messages.
    pub received: usize,
}

impl Pair {
    /// The name of the pair in files.
    pub fn name(&self) -> String {
        let way = self.bridged.map_or("direct", Way::name).replace(' ', "-");
        let of = |case: &Case| format!("{}-{:?}", case.era.revision, case.sdk).to_lowercase();
        format!("{}-to-{}-{way}", of(&self.client), of(&self.server))
    }

    fn file(&self, kind: &str) -> PathBuf {
        paths::install_directory()
            .join("logs/bridge")
            .join(format!("{}.{kind}", self.name()))
    }

    /// Runs the client through its steps.
    pub async fn play(&self, bridge: &Path, validator: &std::sync::Mutex<LogValidator>) -> Outcome {
        let mut outcome = Outcome::default();
        let steps = &mut outcome.steps;
        let played = timeout(PATIENCE, self.steps(bridge, steps)).await;
        let played = played.unwrap_or_else(|_| Err(format!("it took more than {PATIENCE:?}")));
        if let Err(reason) = played {
            steps.push(Step::failed("the session", reason));
        }
        if self.bridged.is_some() {
            match entries(&self.file("jsonl")) {
                Ok(sides) => {
                    let mut validator = validator.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    for (ours, log) in sides {
                        let report = validator.validate(ours, &log);
                        outcome.written += report.checked;
                        outcome.violations.extend(report.violations);
                        let (theirs, log) = (ours.other(), log.into_iter().map(Entry::turned).collect::<Vec<_>>());
                        outcome.received += validator.validate(theirs, &log).violations.len();
                    }
                }
                Err(error) => outcome.violations.push(error.to_string()),
            }
        }
        outcome
    }

    async fn steps(&self, bridge: &Path, steps: &mut Vec<Step>) -> Result<(), String> {
        let as_text = |error: Error| error.to_string();
        let mut server = self.server.driver("server");
        server.arg(self.bridged.map_or(Transport::Stdio, |way| way.server).option());
        let mut client = self.client.driver("client");
        if self.server.era.revision < self.client.era.revision {
            client.env("MCP_FIXTURES", self.server.era.revision.as_str());
        }
        if self.bridged.is_some() && self.server.era.revision.facts().initializes {
            // The server requests roots before the first call: the TypeScript one after the handshake, the Python one
            // during a list.
            server.env("MCP_ASKS_EARLY", "1");
        }
        let (mut serving, mut behind) = (None, None);
        match self.bridged {
            None => {
                client.arg(Transport::Stdio.option());
                pass_command(&mut client, &server);
            }
            Some(Way {
                client: Transport::Stdio,
                ..
            }) => {
                client.arg(Transport::Stdio.option()).arg(bridge).arg("bridge");
                client.args(["--speak", self.server.revision().as_str(), "--record"]);
                client.arg(self.file("jsonl")).arg("--");
                pass_command(&mut client, &server);
            }
            Some(way) => {
                let mut command = leading(bridge);
                command.args(["bridge", "--listen", "http://127.0.0.1:0/mcp", "--record"]);
                command.arg(self.file("jsonl"));
                command.args(["--speak", self.server.revision().as_str()]);
                if !self.client.era.revision.facts().initializes {
                    // The client uses several connections, which the bridge can attribute to one client only by their
                    // user.
                    command.args(["--principal-header", "X-Forwarded-User"]);
                    client.env("MCP_USER", "ann");
                }
                if way.server == Transport::Stdio {
                    command.arg("--");
                    pass_command(&mut command, &server);
                } else {
                    let mut started = Running::start(server, &self.file("server.stderr")).map_err(as_text)?;
                    let url = started.line().await.map_err(|error| error.to_string())?;
                    command
                        .arg("--to")
                        .arg(url.ok_or("the server ended without naming its URL")?);
                    behind = Some(started);
                }
                let (url, group) = serve(command).await?;
                serving = Some(group);
                let url = if way.client == Transport::Sse {
                    url.replace("/mcp", "/sse")
                } else {
                    url
                };
                client.arg(way.client.option()).arg(url);
            }
        }
        let mut client = Running::start(client, &self.file("stderr")).map_err(as_text)?;
        while let Some(line) = client.line().await.map_err(|error| error.to_string())? {
            let step = serde_json::from_str(&line).map_err(|error| format!("the driver said {line:?}: {error}"))?;
            steps.push(step);
        }
        client.end().await.map_err(|error| error.to_string())?;
        drop((serving, behind));
        Ok(())
    }
}

/// Appends the program of a command and its arguments to the arguments of another command. SDKs pass on only a few
/// environment variables, so `env` sets those of the command.
fn pass_command(to: &mut Command, command: &Command) {
    let command = command.as_std();
    to.arg("env");
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            let mut assigned = name.to_owned();
            assigned.push("=");
            assigned.push(value);
            to.arg(assigned);
        }
    }
    to.arg(command.get_program()).args(command.get_args());
}

/// Starts a bridge that serves over HTTP, and returns its URL.
async fn serve(mut command: Command) -> Result<(String, Group), String> {
    command
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let group = Group::of(child.id());
    let said = child.stderr.take().ok_or("its standard error isn't piped")?;
    let mut lines = BufReader::new(said).lines();
    while let Some(line) = lines.next_line().await.map_err(|error| error.to_string())? {
        if let Some(address) = line.strip_prefix("[listening] ") {
            let url = format!("http://{address}/mcp");
            // Keep reading standard error, so that the bridge never blocks on it.
            tokio::spawn(async move {
                while let Ok(Some(_)) = lines.next_line().await {}
                drop(child);
            });
            return Ok((url, group));
        }
    }
    Err("the bridge ended without naming its address".to_owned())
}

/// A line of the bridge's transcript with a message. Other lines have HTTP headers.
#[derive(Deserialize)]
struct Line {
    session: u64,
    side: String,
    direction: String,
    message: Value,
}

/// Reads the transcript as a log for each side: to its client, the bridge is a server, and to its server a client.
fn entries(path: &Path) -> Result<[(OurRole, Vec<Entry>); 2], Error> {
    let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
    let mut sides = [(OurRole::Server, Vec::new()), (OurRole::Client, Vec::new())];
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| Error::malformed(path, error))?;
        if line.get("message").is_none() {
            continue;
        }
        let line: Line = serde_json::from_value(line).map_err(|error| Error::malformed(path, error))?;
        let entry = Entry {
            session: line.session,
            way: if line.direction == "sent" {
                Direction::Out
            } else {
                Direction::In
            },
            message: line.message,
        };
        sides[usize::from(line.side == "server")].1.push(entry);
    }
    Ok(sides)
}
