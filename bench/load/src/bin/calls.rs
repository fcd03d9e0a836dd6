//! Measures calls per second, and the server's CPU time per call, of several builds of a server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use mcp_load::{Cell, Http, Lines, Program, Usage, Writer, call, initialize, initialized, stateless_call};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The first revision without sessions.
const STATELESS: &str = "2026-07-28";

/// Calls the tool `echo` of several builds of a server in turns
#[derive(Parser)]
struct Args {
    /// The servers, such as before=target/release/server; ratios are to the first
    #[arg(required = true, value_name = "NAME=COMMAND")]
    programs: Vec<Program>,
    /// The revisions of the calls, which are compared; ratios are to the first
    #[arg(long, value_delimiter = ',', default_value = "2025-11-25")]
    revisions: Vec<String>,
    /// The length of a turn
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// The number of turns of each server
    #[arg(long, default_value_t = 5)]
    turns: usize,
    /// Only this transport: stdio or http
    #[arg(long)]
    transport: Option<String>,
    /// Print the numbers as JSON instead of the table
    #[arg(long)]
    json: bool,
}

/// The parameters of a measurement.
#[derive(Clone, Copy)]
struct Case {
    transport: &'static str,
    window: usize,
    bytes: usize,
}

/// A client's session and revision.
struct Caller {
    revision: String,
    session: Session,
}

/// A server, and a session with it.
enum Session {
    Stdio(Writer, Lines),
    Http(Http),
}

/// The measurements of a server, summed over its turns.
#[derive(Default)]
struct Sum {
    latencies: Vec<Duration>,
    elapsed: Duration,
    cpu: Duration,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut rows = Vec::new();
    for transport in ["stdio", "http"] {
        if args.transport.as_ref().is_some_and(|only| only != transport) {
            continue;
        }
        for window in [1, 64] {
            for bytes in [100, 100_000] {
                let case = Case {
                    transport,
                    window,
                    bytes,
                };
                rows.extend(case.measure(&args).await?);
            }
        }
    }
    if args.json {
        println!(
            "{}",
            serde_json::to_string(&rows.iter().flat_map(cells).collect::<Vec<_>>())?
        );
        return Ok(());
    }
    println!(
        "| transport | window | text | server | revision | calls a second | ratio | CPU a call | ratio | p50 | p99 |"
    );
    println!("|---|--:|--:|---|---|--:|--:|--:|--:|--:|--:|");
    for row in rows {
        println!(
            "| {} | {} | {} B | {} | {} | {:.0} | {:.2} | {:.0} µs | {:.2} | {:.2} ms | {:.2} ms |",
            row["transport"].as_str().unwrap_or_default(),
            row["window"],
            row["bytes"],
            row["server"].as_str().unwrap_or_default(),
            row["revision"].as_str().unwrap_or_default(),
            row["calls_per_second"].as_f64().unwrap_or_default(),
            row["calls_ratio"].as_f64().unwrap_or_default(),
            row["cpu_us_per_call"].as_f64().unwrap_or_default(),
            row["cpu_ratio"].as_f64().unwrap_or_default(),
            row["p50_ms"].as_f64().unwrap_or_default(),
            row["p99_ms"].as_f64().unwrap_or_default(),
        );
    }
    Ok(())
}

impl Case {
    async fn measure(self, args: &Args) -> Result<Vec<Value>> {
        let mut servers = Vec::new();
        for program in &args.programs {
            for revision in &args.revisions {
                let (child, caller, input) = self.begin(program, revision).await?;
                servers.push((program, child, caller, input, Sum::default()));
            }
        }
        for turn in 0..=args.turns {
            // The first turn is a warm-up.
            let seconds = if turn == 0 { args.seconds / 3.0 } else { args.seconds };
            for (_, child, caller, _, sum) in &mut servers {
                let before = Usage::of(child)?.cpu;
                let begun = Instant::now();
                let latencies = self.turn(caller, begun + Duration::from_secs_f64(seconds)).await?;
                if turn > 0 {
                    sum.elapsed += begun.elapsed();
                    sum.cpu += Usage::of(child)?.cpu.saturating_sub(before);
                    sum.latencies.extend(latencies);
                }
            }
        }
        let first = servers
            .first()
            .map(|(.., sum)| (sum.speed(), sum.cpu_us()))
            .context("no server")?;
        Ok(servers
            .iter_mut()
            .map(|(program, _, caller, _, sum)| {
                sum.latencies.sort_unstable();
                json!({
                    "transport": self.transport, "window": self.window, "bytes": self.bytes, "server": program.name,
                    "revision": caller.revision,
                    "calls": sum.latencies.len(),
                    "calls_per_second": sum.speed(), "calls_ratio": sum.speed() / first.0,
                    "cpu_us_per_call": sum.cpu_us(), "cpu_ratio": sum.cpu_us() / first.1,
                    "p50_ms": sum.latency(0.50), "p99_ms": sum.latency(0.99),
                })
            })
            .collect())
    }

    async fn begin(self, program: &Program, revision: &str) -> Result<(Child, Caller, Option<ChildStdin>)> {
        let is_stateless = revision >= STATELESS;
        let (child, session, input) = if self.transport == "stdio" {
            let (child, mut writer, mut lines) = program.lines("stdio")?;
            if !is_stateless {
                writer.line(&initialize(revision)).await?;
                lines.answer(0, Duration::from_secs(10)).await?;
                writer.line(&initialized()).await?;
            }
            (child, Session::Stdio(writer, lines), None)
        } else {
            let (child, input, url) = program.http("http").await?;
            let http = match is_stateless {
                true => Http::stateless(Client::new(), url, revision, "echo"),
                false => Http::begin(Client::new(), url, revision).await?,
            };
            (child, Session::Http(http), Some(input))
        };
        let revision = revision.to_owned();
        Ok((child, Caller { revision, session }, input))
    }

    /// Calls until the end of a turn, and returns the latency of each call.
    async fn turn(self, caller: &mut Caller, end: Instant) -> Result<Vec<Duration>> {
        let (text, revision) = ("x".repeat(self.bytes), caller.revision.clone());
        match &mut caller.session {
            Session::Stdio(writer, lines) => self.turn_by_lines(writer, lines, &revision, &text, end).await,
            // Over HTTP/1.1 each call of the window has a separate connection, which is kept alive.
            Session::Http(http) => {
                let (text, revision): (Arc<str>, Arc<str>) = (text.into(), revision.into());
                let mut callers = JoinSet::new();
                for caller in 0..self.window {
                    let (http, text, revision) = (http.clone(), Arc::clone(&text), Arc::clone(&revision));
                    callers.spawn(async move {
                        let mut latencies = Vec::new();
                        for index in 1.. {
                            let begun = Instant::now();
                            if begun >= end {
                                break;
                            }
                            let id = (caller as u64) << 32 | index;
                            let body = http.send(echo(&revision, id, &text)).await?;
                            latencies.push(begun.elapsed());
                            check(body.status == 200, &body.text, &text)?;
                        }
                        anyhow::Ok(latencies)
                    });
                }
                let mut latencies = Vec::new();
                for each in callers.join_all().await {
                    latencies.extend(each?);
                }
                Ok(latencies)
            }
        }
    }

    async fn turn_by_lines(
        self,
        writer: &mut Writer,
        lines: &mut Lines,
        revision: &str,
        text: &str,
        end: Instant,
    ) -> Result<Vec<Duration>> {
        // Writing is a separate future, so that reading never stops and the two sides can't block each other.
        let (sender, mut unwritten) = mpsc::unbounded_channel::<String>();
        let writing = async move {
            while let Some(line) = unwritten.recv().await {
                writer.line(&line).await?;
            }
            anyhow::Ok(())
        };
        let reading = async move {
            let mut begun = Vec::new();
            let mut latencies = Vec::new();
            let send = |begun: &mut Vec<Instant>| {
                begun.push(Instant::now());
                sender.send(echo(revision, begun.len() as u64, text))
            };
            for _ in 0..self.window {
                send(&mut begun)?;
            }
            while latencies.len() < begun.len() {
                let line = lines.next().await?.context("the server has ended")?;
                let now = Instant::now();
                let sent = begun.get(id_of(&line)? - 1).context("a response to no request")?;
                latencies.push(now - *sent);
                check(true, &line, text)?;
                if now < end {
                    send(&mut begun)?;
                }
            }
            Ok(latencies)
        };
        let (written, latencies) = tokio::join!(writing, reading);
        written?;
        latencies
    }
}

/// Returns a call of the tool `echo` in a revision.
fn echo(revision: &str, id: u64, text: &str) -> String {
    match revision >= STATELESS {
        true => stateless_call(revision, id, "echo", text),
        false => call(id, "echo", text),
    }
}

/// Returns the numbers of a row, each as a cell of a separate table.
fn cells(row: &Value) -> impl Iterator<Item = Cell> + '_ {
    const TABLES: [(&str, &str); 4] = [
        ("calls a second", "calls_per_second"),
        ("CPU time a call, µs", "cpu_us_per_call"),
        ("latency, median, ms", "p50_ms"),
        ("latency, 99 %, ms", "p99_ms"),
    ];
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let case = format!(
        "{}, {} in flight, {} B, {}",
        text("transport"),
        row["window"],
        row["bytes"],
        text("revision")
    );
    TABLES.iter().map(move |(table, number)| {
        let value = row[number].as_f64().unwrap_or_default();
        Cell::new(table, &case, text("server"), value)
    })
}

/// Returns the id of a response, without parsing its result.
fn id_of(line: &str) -> Result<usize> {
    #[derive(serde::Deserialize)]
    struct Answer {
        id: usize,
    }
    Ok(serde_json::from_str::<Answer>(line)?.id)
}

fn check(is_ok: bool, answer: &str, text: &str) -> Result<()> {
    let shown = || answer.chars().take(300).collect::<String>();
    ensure!(
        is_ok && answer.len() > text.len() && !answer.contains("\"error\""),
        "not an echo: {}",
        shown()
    );
    Ok(())
}

impl Sum {
    fn speed(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }

    fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.latencies.len() as f64
    }

    /// Returns a quantile of the sorted latencies, in milliseconds.
    fn latency(&self, quantile: f64) -> f64 {
        let index = (self.latencies.len().saturating_sub(1)) as f64 * quantile;
        self.latencies
            .get(index as usize)
            .map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
    }
}
