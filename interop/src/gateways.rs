//! Tests of gateways in front of two servers: ours, and other implementations.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::{CallError, CallServer, ClientSession, ClientSide, Era, Peer, hub};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::error::Error;
use crate::packages::Packages;
use crate::paths::{in_workspace, install_directory};
use crate::peers::{ReceivedMessages, Script, ScriptRun, Status, Step, begin, outcome};
use crate::process::{Running, free_port, leading, progress};
use crate::validation::released;
use crate::wire::{self, Entry, Log};
use crate::{bridge, example};

/// The tests, in order: the steps of interop/gateways.yaml, and some that are implemented here.
const STEPS: [&str; 21] = [
    CAPABILITIES,
    "tools of both servers",
    SAME_NAMES,
    "prompts",
    "resources",
    SAME_URIS,
    "progress",
    "log messages",
    "data of log messages",
    CANCELLATION,
    "elicitation",
    "sampling",
    "roots",
    "completion",
    "updates of a resource",
    "state of a session",
    "a changed list of tools",
    "structured content",
    "undeclared members of a result",
    KILLED,
    TWO_CLIENTS,
];
const CAPABILITIES: &str = "capabilities";
/// A call of a tool that both servers have, which must reach the second one.
const SAME_NAMES: &str = "tools of the same name";
/// A request for a resource that both servers have, which must reach the second one.
const SAME_URIS: &str = "resources of the same URI";
/// A call that is cancelled after the server has received it.
const CANCELLATION: &str = "cancellation";
/// Elicitations of two clients that call at the same time.
const TWO_CLIENTS: &str = "questions to two clients";
/// Before this step, one server is killed.
const KILLED: &str = "a server that was killed";

/// The number of elicitations for each of two clients.
const QUESTIONS: usize = 20;

/// The time limit for a step.
const PATIENCE: Duration = Duration::from_secs(20);

/// A gateway, and the names that it gives to the items of its servers.
struct Gateway {
    name: &'static str,
    packages: Option<Packages>,
    /// The command of the gateway, in which `{file}` is replaced by the file with its servers and `{port}` by its port.
    command: String,
    path: &'static str,
    /// The prefixes of the names of tools and prompts of both servers.
    prefixes: [&'static str; 2],
    /// The prefixes of the resource URIs of both servers.
    uris: [&'static str; 2],
}

/// The directory with the files of a gateway's run.
struct Files(PathBuf);

impl Files {
    fn of(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The number of messages with a method that a server has received.
    fn received(&self, server: &str, method: &str) -> usize {
        let entries = wire::read(&self.of(&format!("{server}.jsonl"))).unwrap_or_default();
        let of_method = |entry: &&Entry| entry.message["method"] == method;
        entries.iter().filter(of_method).count()
    }
}

/// Runs our client with every gateway, and returns whether all steps succeed with ours.
pub async fn run() -> Result<bool, Error> {
    progress("building our gateway and the servers");
    let ours = bridge::build().await?;
    let server = example::build("everything").await?;
    let script = in_workspace("interop/gateways.yaml");
    let (mut titles, mut columns) = (Vec::new(), Vec::new());
    for gateway in gateways(&ours) {
        if let Some(packages) = &gateway.packages {
            let status = |what: &str| progress(&format!("{}: {what}", gateway.name));
            packages.install(status).await?;
        }
        progress(gateway.name);
        let files = Files(install_directory().join("logs/gateways").join(gateway.name));
        let _ = std::fs::remove_dir_all(&files.0);
        std::fs::create_dir_all(&files.0).map_err(Error::io(&files.0))?;
        let script = Script::read(&script, &STEPS, |text| gateway.fill_in(text))?;
        let mut steps = Vec::new();
        if let Err(reason) = gateway.play(&server, &script, &files, &mut steps).await {
            steps.push(Step::failed("the session", reason));
        }
        titles.push(gateway.title()?);
        columns.push(steps);
    }
    // The reader may have closed the pipe, as in `| head`.
    let _ = io::stdout().write_all(table(&titles, &columns).as_bytes());
    Ok(columns[0].iter().all(crossed))
}

fn gateways(ours: &Path) -> [Gateway; 3] {
    let packages = |name: &str| Packages {
        described: in_workspace("bench/load/gateways").join(name),
        installed: install_directory().join(name),
    };
    let program = |packages: &Packages, name| packages.python().with_file_name(name).display().to_string();
    let (fastmcp, mcp_proxy) = (packages("fastmcp"), packages("mcp-proxy"));
    [
        Gateway {
            name: "mcp-rev gateway",
            packages: None,
            command: format!(
                "{} gateway {{file}} --listen http://127.0.0.1:{{port}}/mcp",
                ours.display()
            ),
            path: "/mcp",
            prefixes: ["a_", "b_"],
            uris: ["test://", "test://b/"],
        },
        Gateway {
            name: "FastMCP",
            command: format!(
                "{} run {{file}} --transport http --port {{port}} --no-banner",
                program(&fastmcp, "fastmcp")
            ),
            packages: Some(fastmcp),
            path: "/mcp",
            prefixes: ["a_", "b_"],
            uris: ["test://a/", "test://b/"],
        },
        Gateway {
            name: "mcp-proxy",
            command: format!(
                "{} --named-server-config {{file}} --port {{port}}",
                program(&mcp_proxy, "mcp-proxy")
            ),
            packages: Some(mcp_proxy),
            // Each server has its own path.
            path: "/servers/a/mcp",
            prefixes: ["", "b_"],
            uris: ["test://", "test://b/"],
        },
    ]
}

impl Gateway {
    fn title(&self) -> Result<String, Error> {
        let version = match &self.packages {
            Some(packages) => packages.python_version(&self.name.to_lowercase())?,
            None => env!("CARGO_PKG_VERSION").to_owned(),
        };
        Ok(format!("{} {version}", self.name))
    }

    /// Fills in the names that this gateway gives.
    fn fill_in(&self, script: &str) -> String {
        let [a, b] = self.prefixes;
        script.replace("A_", a).replace("B_", b).replace("URI:", self.uris[0])
    }

    /// Runs our client through the steps.
    async fn play(&self, server: &Path, script: &Script, files: &Files, steps: &mut Vec<Step>) -> Result<(), String> {
        let (_gateway, url) = self.start(server, files).await?;
        let received = Arc::new(ReceivedMessages::default());
        let session = connect(&url, &files.of("client.jsonl"), &received).await?;
        let run = ScriptRun {
            peer: session.peer(),
            received: &received,
            script,
            names: &STEPS,
            declares: &|_, _, _| true,
        };
        for name in STEPS {
            let step = async {
                match name {
                    CAPABILITIES => run.initialized(name),
                    CANCELLATION => outcome(name, self.cancel(session.peer(), files).await),
                    TWO_CLIENTS => outcome(name, self.ask_two(&url, files).await),
                    SAME_NAMES => {
                        let call = hub::CallToolRequestParams::new(format!("{}test_simple_text", self.prefixes[1]));
                        let call = session.peer().call_tool(call);
                        outcome(name, reach_second(files, "tools/call", call).await)
                    }
                    SAME_URIS => {
                        let read = hub::ReadResourceRequestParams::new(format!("{}static-text", self.uris[1]));
                        let read = session.peer().read_resource(read);
                        outcome(name, reach_second(files, "resources/read", read).await)
                    }
                    _ => run.take(name, &[]).await,
                }
            };
            // The gateway may have ended this server already.
            if let Some(first) = running(server, &files.of("a.pid")).filter(|_| name == KILLED) {
                kill_process(first, Signal::KILL).map_err(|error| error.to_string())?;
            }
            let taken = timeout(PATIENCE, step).await;
            steps.push(taken.unwrap_or_else(|_| Step::failed(name, format!("it took more than {PATIENCE:?}"))));
        }
        session.close().await;
        Ok(())
    }

    /// Starts the gateway in front of two servers, which write their process ids and logs to files.
    async fn start(&self, server: &Path, files: &Files) -> Result<(Running, String), String> {
        let described = |name: &str| {
            let revision = released().filter(|revision| revision.facts().initializes).max();
            let script = r#"echo $$ > "$0"; exec "$1" --revision "$2" --log "$3""#;
            let (id, log) = (files.of(&format!("{name}.pid")), files.of(&format!("{name}.jsonl")));
            json!({"command": "sh", "args": ["-c", script, id, server, revision, log]})
        };
        let servers = json!({"mcpServers": {"a": described("a"), "b": described("b")}});
        let file = files.of("mcp.json");
        std::fs::write(&file, servers.to_string()).map_err(|error| error.to_string())?;
        let port = free_port().await.map_err(|error| error.to_string())?;
        let mut words = self.command.split(' ').map(|word| {
            let word = word.replace("{port}", &port.to_string());
            word.replace("{file}", &file.display().to_string())
        });
        let mut command = leading(words.next().unwrap_or_default());
        command.args(words);
        let errors = files.of("stderr");
        let mut gateway = Running::start(command, &errors).map_err(|error| error.to_string())?;
        match gateway.listens(port).await {
            Ok(true) => Ok((gateway, format!("http://127.0.0.1:{port}{}", self.path))),
            _ => Err(format!("it ended at once; see {}", errors.display())),
        }
    }

    /// Cancels a call that a server has received, and waits until the server gets the cancellation.
    async fn cancel(&self, peer: &Peer<ClientSide>, files: &Files) -> Result<(), String> {
        let before = files.received("a", "tools/call");
        let call = hub::CallToolRequestParams::new(format!("{}test_slow", self.prefixes[0]));
        // Dropping the future of a call cancels the call.
        tokio::select! {
            answer = peer.call_tool(call) => return Err(format!("it was answered before it was cancelled: {answer:?}")),
            () = until(|| files.received("a", "tools/call") > before) => {}
        }
        until(|| files.received("a", "notifications/cancelled") > 0).await;
        Ok(())
    }

    /// Lets two clients repeatedly call a tool that elicits, and checks that each client gets only its own
    /// elicitations.
    async fn ask_two(&self, url: &str, files: &Files) -> Result<(), String> {
        let ask = async |client: &'static str| {
            let received = Arc::new(ReceivedMessages::default());
            let session = connect(url, &files.of(&format!("{client}.jsonl")), &received).await?;
            let name = format!("{}test_elicitation", self.prefixes[0]);
            let call = hub::CallToolRequestParams::new(name).with_arguments(json!({"message": client}));
            for _ in 0..QUESTIONS {
                let called = session.peer().call_tool(call.clone()).await;
                called.map_err(|error| error.to_string())?;
            }
            session.close().await;
            let asked = received.of("elicitation/create", 0);
            let own = asked.iter().filter(|question| question["message"] == client).count();
            match (asked.len(), own) {
                (QUESTIONS, QUESTIONS) => Ok(()),
                (all, own) => Err(format!(
                    "of {all} questions that the {client} client got, {own} were for it"
                )),
            }
        };
        let (first, second) = tokio::join!(ask("first"), ask("second"));
        first.and(second)
    }
}

/// Sends a request that must reach only the second server.
async fn reach_second<T>(
    files: &Files,
    method: &str,
    request: impl Future<Output = Result<T, CallError>>,
) -> Result<(), String> {
    let received = || ["a", "b"].map(|server| files.received(server, method));
    let before = received();
    request.await.map_err(|error| error.to_string())?;
    let after = received();
    match (after[0] - before[0], after[1] - before[1]) {
        (0, 1) => Ok(()),
        (a, b) => Err(format!("a got {a} requests, b {b}")),
    }
}

/// Starts a session of our client, whose messages are logged.
async fn connect(url: &str, log: &Path, received: &Arc<ReceivedMessages>) -> Result<ClientSession, String> {
    let client = HttpClient::new(url, HttpOptions::default()).map_err(|error| error.to_string())?;
    let log = Log::create(log).map_err(|error| error.to_string())?;
    begin(client, Some(Era::Handshake), log, received).await
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        sleep(Duration::from_millis(50)).await;
    }
}

/// Finds the process of a server by the file with its id, unless the process has ended.
fn running(server: &Path, file: &Path) -> Option<Pid> {
    let id = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
    let is_server = std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|program| program == server);
    Pid::from_raw(id).filter(|_| is_server)
}

fn crossed(step: &Step) -> bool {
    step.status == Status::Ok
}

/// Makes the table of steps by gateway, followed by the reasons of failures.
fn table(titles: &[String], columns: &[Vec<Step>]) -> String {
    let mut table = format!("| | {} |\n|---{}|\n", titles.join(" | "), "|---".repeat(titles.len()));
    let mut reasons = String::from("\n");
    for name in STEPS {
        table += &format!("| {name} |");
        for steps in columns {
            let is_crossing = steps.iter().any(|step| step.step == name && crossed(step));
            table += if is_crossing { " yes |" } else { " **no** |" };
        }
        table.push('\n');
    }
    for (title, steps) in titles.iter().zip(columns) {
        for step in steps.iter().filter(|step| !crossed(step)) {
            reasons += &format!("- {title}, {}: {}\n", step.step, step.detail);
        }
    }
    table + &reasons
}
