//! Measures the cost of sharing sessions in a store, compared with a server that keeps them in memory.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use mcp_load::{Http, Program, Redis, Usage, Work, call, request};
use reqwest::Client;
use serde_json::json;
use tokio::process::{Child, ChildStdin};

const REVISION: &str = "2025-11-25";

/// Measures a server with a session store in memory, and with one on a Redis server that this program starts
#[derive(Parser)]
struct Args {
    /// The server, which takes the option --store
    program: String,
    /// The number of sequential calls in each turn
    #[arg(long, default_value_t = 1000)]
    calls: u64,
    /// The number of turns of each server
    #[arg(long, default_value_t = 5)]
    turns: u32,
    /// The number of events in a stream
    #[arg(long, default_value_t = 1000)]
    events: u64,
    /// The number of sessions
    #[arg(long, default_value_t = 2000)]
    sessions: u32,
}

/// A server, and a session with it.
struct Server {
    child: Child,
    _input: ChildStdin,
    http: Http,
    /// The latencies of calls, and the mean times of an event in each stream.
    calls: Vec<Duration>,
    events: Vec<Duration>,
    /// The CPU time of the server for the calls, and for the events.
    calls_cpu: Duration,
    events_cpu: Duration,
}

impl Server {
    async fn start(command: String) -> Result<Self> {
        let program: Program = format!("server={command}").parse().map_err(anyhow::Error::msg)?;
        let (child, input, url) = program.http("http").await?;
        let http = Http::begin(Client::new(), url, REVISION).await?;
        Ok(Self {
            child,
            _input: input,
            http,
            calls: Vec::new(),
            events: Vec::new(),
            calls_cpu: Duration::ZERO,
            events_cpu: Duration::ZERO,
        })
    }

    /// Calls a tool repeatedly. Each response is a single JSON value.
    async fn call(&mut self, calls: u64) -> Result<()> {
        let cpu = Usage::of(&self.child)?.cpu;
        for id in 1..=calls {
            let begun = Instant::now();
            let body = self.http.send(call(id, "echo", &"x".repeat(100))).await?;
            ensure!(body.status == 200, "{body:?}");
            self.calls.push(begun.elapsed());
        }
        self.calls_cpu += Usage::of(&self.child)?.cpu.saturating_sub(cpu);
        Ok(())
    }

    /// Calls a tool whose response is a stream of events of 100 bytes.
    async fn stream(&mut self, events: u64) -> Result<()> {
        let arguments = json!({"messages": events, "bytes": 100});
        let flood = request(1, "tools/call", &json!({"name": "flood", "arguments": arguments}));
        let cpu = Usage::of(&self.child)?.cpu;
        let begun = Instant::now();
        let body = self.http.send(flood).await?;
        ensure!(body.text.contains("done"), "{body:?}");
        self.events.push(begun.elapsed() / u32::try_from(events)?);
        self.events_cpu += Usage::of(&self.child)?.cpu.saturating_sub(cpu);
        Ok(())
    }

    /// Opens sessions, and returns the memory in bytes that each takes in the server.
    async fn begin(&self, sessions: u32) -> Result<f64> {
        let before = Usage::of(&self.child)?.resident;
        for _ in 0..sessions {
            Http::begin(self.http.client.clone(), self.http.url.clone(), REVISION).await?;
        }
        Ok((Usage::of(&self.child)?.resident as f64 - before as f64) / f64::from(sessions))
    }
}

/// Formats the store's work per call, event or session.
fn each(before: Work, after: Work, number: f64) -> String {
    format!(
        "{:.1} | {:.0} | {:.1} µs | {:.0}",
        (after.commands - before.commands) / number,
        (after.received - before.received) / number,
        (after.cpu - before.cpu) * 1e6 / number,
        (after.memory - before.memory) / number
    )
}

fn quantile(times: &mut [Duration], part: f64) -> f64 {
    times.sort_unstable();
    let index = ((times.len() - 1) as f64 * part) as usize;
    times[index].as_secs_f64() * 1e6
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let redis = Redis::start().await?;
    let mut memory = Server::start(args.program.clone()).await?;
    let mut shared = Server::start(format!("{} --store {}", args.program, redis.url())).await?;
    let (calls, events) = (
        (args.calls * u64::from(args.turns)) as f64,
        (args.events * u64::from(args.turns)) as f64,
    );

    for server in [&mut memory, &mut shared] {
        server.call(args.calls / 4 + 1).await?;
        server.calls.clear();
        server.calls_cpu = Duration::ZERO;
    }
    let idle = redis.work().await?;
    for _ in 0..args.turns {
        memory.call(args.calls).await?;
        shared.call(args.calls).await?;
    }
    let called = redis.work().await?;
    for _ in 0..args.turns {
        memory.stream(args.events).await?;
        shared.stream(args.events).await?;
    }
    let streamed = redis.work().await?;
    let memory_bytes = memory.begin(args.sessions).await?;
    let shared_bytes = shared.begin(args.sessions).await?;
    let begun = redis.work().await?;

    println!("| server | p50 a call | p99 a call | CPU a call | an event | CPU an event | memory a session |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (name, server, bytes) in [
        ("memory", &mut memory, memory_bytes),
        ("shared", &mut shared, shared_bytes),
    ] {
        println!(
            "| {name} | {:.0} µs | {:.0} µs | {:.0} µs | {:.1} µs | {:.1} µs | {:.1} KB |",
            quantile(&mut server.calls, 0.5),
            quantile(&mut server.calls, 0.99),
            server.calls_cpu.as_secs_f64() * 1e6 / calls,
            quantile(&mut server.events, 0.5),
            server.events_cpu.as_secs_f64() * 1e6 / events,
            bytes / 1000.0
        );
    }
    println!("\n| the store, for each | commands | bytes received | CPU | bytes kept |");
    println!("|---|--:|--:|--:|--:|");
    println!("| call | {} |", each(idle, called, calls));
    println!("| event of 100 bytes | {} |", each(called, streamed, events));
    println!("| session | {} |", each(streamed, begun, f64::from(args.sessions)));
    Ok(())
}
