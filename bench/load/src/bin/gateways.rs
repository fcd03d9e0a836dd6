//! Measures the cost of gateways in front of two servers: latency, CPU time and memory.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use mcp_load::{Cell, Gateway, Http, Usage, call, median, request};
use reqwest::Client;
use serde_json::json;

const REVISION: &str = "2025-11-25";

/// Measure the cost of gateways in front of two servers
#[derive(Parser)]
struct Args {
    /// The program `mcp-load-server`
    server: PathBuf,
    /// The gateways. In their commands, `{port}` is replaced by the port to listen on, and `{file}` by the
    /// configuration file of the servers
    #[arg(value_name = "NAME=COMMAND", value_parser = gateway, required = true)]
    gateways: Vec<(String, String)>,
    /// The length of a turn
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// The number of turns of each gateway
    #[arg(long, default_value_t = 3)]
    turns: usize,
}

fn gateway(text: &str) -> Result<(String, String), &'static str> {
    let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND")?;
    Ok((name.to_owned(), command.to_owned()))
}

/// The methods of the requests, and the number of requests in flight.
const CASES: [(&str, u64); 3] = [("tools/call", 1), ("tools/call", 16), ("tools/list", 1)];

/// A gateway, the session of its client, and the measurements of each case.
struct Measured {
    name: String,
    gateway: Gateway,
    http: Http,
    /// The resident memory before the first client.
    unused: u64,
    cases: [(Vec<Duration>, Duration); CASES.len()],
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let file = std::env::temp_dir().join(format!("mcp-load-{}.json", std::process::id()));
    let server = json!({"command": args.server, "args": ["stdio"]});
    std::fs::write(&file, json!({"mcpServers": {"a": server, "b": server}}).to_string())?;
    let cells = measure(&args, &file.display().to_string()).await;
    std::fs::remove_file(&file)?;
    println!("{}", serde_json::to_string(&cells?)?);
    Ok(())
}

async fn measure(args: &Args, file: &str) -> Result<Vec<Cell>> {
    let mut all = Vec::new();
    for (name, command) in &args.gateways {
        let words: Vec<String> = command.split(' ').map(|word| word.replace("{file}", file)).collect();
        all.push(Measured::start(name, &words).await.with_context(|| name.clone())?);
    }
    for turn in 0..=args.turns {
        for measured in &mut all {
            // The first turn is a warm-up.
            let taken = measured.turn(Duration::from_secs_f64(args.seconds), turn > 0).await;
            taken.with_context(|| measured.name.clone())?;
        }
    }
    let mut cells = Vec::new();
    for measured in &all {
        measured.add_to(&mut cells)?;
    }
    Ok(cells)
}

impl Measured {
    async fn start(name: &str, command: &[String]) -> Result<Self> {
        let gateway = Gateway::start(command).await?;
        let unused = Usage::of(&gateway.child)?.resident;
        Ok(Self {
            name: name.to_owned(),
            http: Http::begin(Client::new(), gateway.url.clone(), REVISION).await?,
            gateway,
            unused,
            cases: Default::default(),
        })
    }

    /// Runs a turn of each case.
    async fn turn(&mut self, length: Duration, counts: bool) -> Result<()> {
        for ((method, window), (latencies, cpu)) in CASES.into_iter().zip(&mut self.cases) {
            let before = Usage::of(&self.gateway.child)?.cpu;
            let end = Instant::now() + length;
            let request = move |id| message(method, id);
            let taken = self
                .http
                .repeat(window, end, request, move |answer| check(method, answer));
            let taken = taken.await?;
            if counts {
                *cpu += Usage::of(&self.gateway.child)?.cpu.saturating_sub(before);
                latencies.extend(taken);
            }
        }
        Ok(())
    }

    fn add_to(&self, cells: &mut Vec<Cell>) -> Result<()> {
        let mut add = |table, row: &str, value| cells.push(Cell::new(table, row, &self.name, value));
        for ((method, window), (latencies, cpu)) in CASES.into_iter().zip(&self.cases) {
            let row = format!("{method}, {window} in flight");
            add("latency, median, ms", &row, median(latencies));
            let cpu = cpu.as_secs_f64() * 1e6 / latencies.len() as f64;
            add("CPU time a request, µs", &row, cpu);
        }
        let memory = "resident memory of the gateway, MB";
        add(memory, "before the first client", self.unused as f64 / 1e6);
        let used = Usage::of(&self.gateway.child)?.resident;
        add(memory, "idle after these requests", used as f64 / 1e6);
        Ok(())
    }
}

/// Returns a request: a call of a tool of the second server, or for the list of both servers' tools.
fn message(method: &str, id: u64) -> String {
    match method {
        "tools/call" => call(id, "b_echo", &"x".repeat(100)),
        _ => request(id, method, &json!({})),
    }
}

fn check(method: &str, answer: &str) -> Result<()> {
    let expected: &[&str] = match method {
        "tools/call" => &["xxxxxxxxxx"],
        _ => &["a_echo", "b_echo"],
    };
    let is_answer = expected.iter().all(|text| answer.contains(text)) && !answer.contains("\"error\"");
    ensure!(
        is_answer,
        "not an answer: {}",
        answer.chars().take(300).collect::<String>()
    );
    Ok(())
}
