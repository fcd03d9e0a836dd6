//! Measures calls per second, and the client's CPU time per call, of several clients of the same server.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;
use mcp_load::{Cell, Lines, Program, Turn, Usage, Writer};
use tokio::process::Child;

/// The number of calls in flight, and the bytes of each text. Many large texts in flight are left out, because the
/// minimal client doesn't read while it writes, and the server stops reading when it can't write.
const CASES: [(usize, usize); 3] = [(1, 100), (1, 100_000), (64, 100)];

/// Calls the tool `echo` of a server, which each client starts as its child process, by several clients in turns
#[derive(Parser)]
struct Args {
    /// The server's program; it is started with the argument `stdio`
    server: String,
    /// The clients, such as before=target/release/mcp-load-client
    #[arg(required = true, value_name = "NAME=COMMAND")]
    clients: Vec<Program>,
    /// The length of a turn
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// The number of turns of each client
    #[arg(long, default_value_t = 5)]
    turns: usize,
}

/// A client, and the measurements of its turns.
struct Measured {
    child: Child,
    input: Writer,
    output: Lines,
    calls: u64,
    elapsed: Duration,
    cpu: Duration,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut cells = Vec::new();
    for (window, bytes) in CASES {
        let mut clients = Vec::new();
        for client in &args.clients {
            clients.push(Measured::start(client, &args.server)?);
        }
        for turn in 0..=args.turns {
            for client in &mut clients {
                // The first turn is a warm-up.
                let seconds = if turn == 0 { args.seconds / 3.0 } else { args.seconds };
                let length = Duration::from_secs_f64(seconds);
                client.turn(Turn { length, window, bytes }, turn > 0).await?;
            }
        }
        let row = format!("{window} in flight, {bytes} B");
        for (client, measured) in args.clients.iter().zip(clients) {
            let calls = measured.calls as f64;
            let speed = calls / measured.elapsed.as_secs_f64();
            let cpu = measured.cpu.as_secs_f64() * 1e6 / calls;
            cells.push(Cell::new("calls a second of a client", &row, &client.name, speed));
            cells.push(Cell::new("CPU time of a client a call, µs", &row, &client.name, cpu));
        }
    }
    println!("{}", serde_json::to_string(&cells)?);
    Ok(())
}

impl Measured {
    fn start(client: &Program, server: &str) -> Result<Self> {
        let (child, input, output) = client.lines(server)?;
        Ok(Self {
            child,
            input,
            output,
            calls: 0,
            elapsed: Duration::ZERO,
            cpu: Duration::ZERO,
        })
    }

    async fn turn(&mut self, turn: Turn, counts: bool) -> Result<()> {
        let (before, begun) = (Usage::of(&self.child)?.cpu, Instant::now());
        self.input.line(&turn.to_string()).await?;
        let calls: u64 = self.output.next().await?.context("the client has ended")?.parse()?;
        if counts {
            self.elapsed += begun.elapsed();
            self.cpu += Usage::of(&self.child)?.cpu.saturating_sub(before);
            self.calls += calls;
        }
        Ok(())
    }
}
