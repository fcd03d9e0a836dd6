//! Clients of every era with servers of every era, through our bridge and without it.

mod pair;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use mcp_runtime::Revision;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::pair::{Outcome, Pair, Way};
use crate::args::PeersArgs;
use crate::eras::Era;
use crate::error::Error;
use crate::paths;
use crate::peers::{Case, Mode, Sdk, Status, Transport};
use crate::process::{leading, progress, run as run_to_end};
use crate::validation::{LogValidator, OurRole};

/// The number of pairs that run at a time.
const AT_ONCE: usize = 2;

/// A client or server of an SDK: the revision of its era, and whether it is the Python SDK.
type Peer = (Revision, bool);

/// The outcomes of all pairs, by client, server and transports of the bridge.
type Outcomes = BTreeMap<(Peer, Peer, Option<&'static str>), Outcome>;

/// Runs every pair, and returns whether the bridge wrote only valid messages and every step succeeded that both sides
/// support.
pub async fn run(args: &PeersArgs) -> Result<bool, Error> {
    let eras: Vec<Arc<Era>> = Era::of(&args.revisions)?.into_iter().map(Arc::new).collect();
    for era in &eras {
        era.packages
            .install(|what| progress(&format!("{}: {what}", era.revision)))
            .await?;
    }
    let logs = paths::install_directory().join("logs/bridge");
    std::fs::create_dir_all(&logs).map_err(Error::io(&logs))?;
    progress("building the bridge");
    let bridge = build().await?;
    let pairs = pairs(&eras, args.only.as_deref());
    if pairs.is_empty() {
        return Err(Error::NoRow(args.only.clone().unwrap_or_default()));
    }
    let outcomes = play(pairs, &bridge).await?;
    let (table, failures) = report(&outcomes);
    if let Some(path) = &args.markdown {
        std::fs::write(path, &table).map_err(Error::io(path))?;
    }
    // The reader may have closed the pipe, as in `| head`.
    let _ = io::stdout().write_all(table.as_bytes());
    let _ = io::stderr().write_all(failures.as_bytes());
    Ok(failures.is_empty())
}

/// Builds `mcp-rev`.
pub async fn build() -> Result<std::path::PathBuf, Error> {
    let mut cargo = leading("cargo");
    cargo.args(["build", "--quiet", "--package", "mcp-rev", "--bin", "mcp-rev"]);
    cargo.current_dir(paths::in_workspace("."));
    run_to_end(cargo, "install Rust").await?;
    let target = paths::install_directory();
    Ok(target.parent().unwrap_or(Path::new("target")).join("debug/mcp-rev"))
}

/// The TypeScript and Python SDKs of an era, as sides of a pair.
fn cases(era: &Arc<Era>) -> [Case; 2] {
    let (sdks, mode) = match era.revision.facts().initializes {
        true => ([Sdk::TypeScript, Sdk::Python], Mode::Handshake),
        false => ([Sdk::TypeScript2, Sdk::Python2], Mode::Stateless),
    };
    sdks.map(|sdk| Case {
        era: Arc::clone(era),
        packages: era.packages.clone(),
        ours: OurRole::Client,
        sdk,
        transport: Transport::Stdio,
        mode,
    })
}

fn peer(case: &Case) -> Peer {
    (case.era.revision, matches!(case.sdk, Sdk::Python | Sdk::Python2))
}

fn pairs(eras: &[Arc<Era>], only: Option<&str>) -> Vec<Pair> {
    let all: Vec<Case> = eras.iter().flat_map(cases).collect();
    let mut pairs = Vec::new();
    for client in &all {
        for server in &all {
            let way = |client, server| Some(Way { client, server });
            for bridged in [
                None,
                way(Transport::Stdio, Transport::Stdio),
                way(over_http(client), Transport::Stdio),
                way(over_http(client), over_http(server)),
            ] {
                pairs.push(Pair {
                    client: client.clone(),
                    server: server.clone(),
                    bridged,
                });
            }
        }
    }
    // The steps that a pair supports are determined by the runs of each side with its own era, so these are always
    // kept.
    let is_measure = |pair: &Pair| pair.bridged.is_none() && pair.client.era.revision == pair.server.era.revision;
    pairs.retain(|pair| is_measure(pair) || only.is_none_or(|word| pair.name().contains(&word.to_lowercase())));
    pairs
}

/// The HTTP transport that a peer supports.
fn over_http(peer: &Case) -> Transport {
    let facts = peer.era.revision.facts();
    match facts.session_header.is_some() || !facts.initializes {
        true => Transport::Http,
        false => Transport::Sse,
    }
}

async fn play(pairs: Vec<Pair>, bridge: &Path) -> Result<Outcomes, Error> {
    let validator = Arc::new(Mutex::new(LogValidator::load()?));
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut playing = JoinSet::new();
    for pair in pairs {
        let (validator, places, bridge) = (Arc::clone(&validator), Arc::clone(&places), bridge.to_owned());
        playing.spawn(async move {
            let _place = places.acquire().await;
            let outcome = pair.play(&bridge, &validator).await;
            progress(&pair.name());
            let way = pair.bridged.map(Way::name);
            ((peer(&pair.client), peer(&pair.server), way), outcome)
        });
    }
    let mut outcomes = Outcomes::new();
    while let Some(played) = playing.join_next().await {
        match played {
            Ok((key, outcome)) => drop(outcomes.insert(key, outcome)),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    Ok(outcomes)
}

/// The steps that succeeded.
fn passed(outcome: Option<&Outcome>) -> Vec<&str> {
    let steps = outcome.map_or(&[][..], |outcome| &outcome.steps);
    let passed = steps.iter().filter(|step| step.status == Status::Ok);
    passed.map(|step| step.step.as_str()).collect()
}

/// The steps that both sides of a pair support: those that each passes with a peer of its own era, in the other's
/// language.
fn possible(outcomes: &Outcomes, client: Peer, server: Peer) -> Vec<&str> {
    let of_client = passed(outcomes.get(&(client, (client.0, server.1), None)));
    let of_server = passed(outcomes.get(&((server.0, client.1), server, None)));
    of_client.into_iter().filter(|step| of_server.contains(step)).collect()
}

fn name((revision, is_python): Peer) -> String {
    format!("{} {revision}", if is_python { "Python" } else { "TypeScript" })
}

/// The tables, and the failures.
fn report(outcomes: &Outcomes) -> (String, String) {
    let (mut table, mut failures) = (String::new(), String::new());
    let servers: Vec<Peer> = outcomes.keys().map(|(_, server, _)| *server).collect();
    let servers: std::collections::BTreeSet<Peer> = servers.into_iter().collect();
    let clients: std::collections::BTreeSet<Peer> = outcomes.keys().map(|(client, ..)| *client).collect();
    let mut totals = String::new();
    for (way, title) in [
        (Some("stdio"), "Through the bridge, stdio"),
        (Some("http"), "Through the bridge, HTTP in front of stdio"),
        (Some("http to http"), "Through the bridge, HTTP in front of HTTP"),
        (None, "Without the bridge, stdio"),
    ] {
        let titles: Vec<String> = servers.iter().map(|server| name(*server)).collect();
        table += &format!("{title}\n\n| client \\ server | {} |\n|---|", titles.join(" | "));
        table += &"---|".repeat(servers.len());
        table.push('\n');
        let (mut took, mut could, mut written, mut passed_on, mut invalid) = (0, 0, 0, 0, 0);
        for client in &clients {
            let mut row = format!("| {} |", name(*client));
            for server in &servers {
                let Some(outcome) = outcomes.get(&(*client, *server, way)) else {
                    row += " |";
                    continue;
                };
                let possible = possible(outcomes, *client, *server);
                let missing: Vec<&&str> = possible
                    .iter()
                    .filter(|step| !passed(Some(outcome)).contains(step))
                    .collect();
                took += possible.len() - missing.len();
                could += possible.len();
                written += outcome.written;
                let own = outcome.violations.len().saturating_sub(outcome.received);
                invalid += own;
                passed_on += outcome.violations.len() - own;
                row += &format!(" {}/{} |", possible.len() - missing.len(), possible.len());
                if way.is_some() {
                    let pair = format!("{}, {}, {}", name(*client), name(*server), way.unwrap_or_default());
                    for step in missing {
                        let failed = outcome.steps.iter().find(|taken| taken.step == **step);
                        let detail = failed.map_or("the step wasn't taken", |step| &step.detail);
                        failures += &format!("{pair}: {step}: {detail}\n");
                    }
                    // Invalid messages of a peer are passed on unchanged, and aren't the bridge's failures.
                    for violation in outcome.violations.iter().filter(|_| own > 0) {
                        failures += &format!("{pair}: invalid: {violation}\n");
                    }
                }
            }
            table += &row;
            table.push('\n');
        }
        totals += &format!("{title}: {took} of {could} steps");
        if way.is_some() {
            totals +=
                &format!("; {written} messages written, {invalid} violations, and {passed_on} that the peers had sent");
        }
        totals.push('\n');
        table.push('\n');
    }
    (table + &totals, failures)
}
