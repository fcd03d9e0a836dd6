//! Measures the memory and time that attacks cost a server. Each attack is bounded, and has a separate server on this
//! machine.

mod connections;
mod http;
mod lines;
mod outcome;

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Parser;
use mcp_load::{Program, request};
use serde_json::json;

use self::outcome::Outcome;

/// The revision that has batches.
const BATCHING: &str = "2025-03-26";
const REVISION: &str = "2025-11-25";
const MB: usize = 1_000_000;
/// The timeout for a response.
const PATIENCE: Duration = Duration::from_secs(60);

/// Attacks several builds of a server, each in turn
#[derive(Parser)]
struct Args {
    /// The servers, such as before=target/release/server
    #[arg(required = true, value_name = "NAME=COMMAND")]
    programs: Vec<Program>,
    /// Only attacks that have this in their name
    #[arg(long)]
    only: Option<String>,
}

/// The name and description of each attack.
const ATTACKS: [(&str, &str); 16] = [
    (
        "batch-numbers",
        "a batch of 2,000,000 numbers, a line of 4 MB, then a ping",
    ),
    ("batch-pings", "a batch of 100,000 pings, a line of 4 MB, then a ping"),
    ("batch-http", "a batch of 1,330,000 empty objects, a body of 4 MB"),
    ("faults", "arguments with 2,000,000 invalid elements, a line of 6 MB"),
    ("deep-http", "a batch with one element nested 200 deep"),
    ("deep-stateless", "the same without sessions"),
    ("initialize", "40 sessions opened by requests of 3.9 MB"),
    ("calls-in-flight", "100 calls of 2.7 MB that stay in flight"),
    ("subscriptions", "40 subscriptions of 3.9 MB each"),
    ("unread-stdio", "400 unread responses of 1 MB"),
    ("unread-http", "100 unread responses of 1 MB"),
    ("slow-headers", "200 connections that send a byte of a header every 5 s"),
    ("stuck-stream", "a ping next to an unread stream"),
    ("closed-input", "input closed, 100 unread responses of 100 KB"),
    ("questions", "300 notifications that cause a request, then a ping"),
    ("sse-page", "GET /sse as for an image in a web page"),
];

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    println!("| attack | | server | peak | time | outcome |");
    println!("|---|---|---|--:|--:|---|");
    for (name, what) in ATTACKS {
        if args.only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        for program in &args.programs {
            print!("| {name} | {what} | {} ", program.name);
            match attack(name, program).await {
                Ok(Outcome { usage, took, says }) => println!(
                    "| {:.1} MB | {:.2} s | {says} |",
                    usage.peak as f64 / 1e6,
                    took.as_secs_f64()
                ),
                Err(error) => println!("| | | {error:#} |"),
            }
        }
    }
    Ok(())
}

async fn attack(name: &str, program: &Program) -> Result<Outcome> {
    match name {
        "batch-numbers" => lines::batch(program, &batch("1", 2 * MB)).await,
        "batch-pings" => lines::batch(program, &batch(&request(2, "ping", &json!({})), 100_000)).await,
        "batch-http" => http::batch(program).await,
        "faults" => lines::faults(program).await,
        "deep-http" => http::deep(program, "http").await,
        "deep-stateless" => http::deep(program, "stateless").await,
        "initialize" => http::sessions(program).await,
        "calls-in-flight" => http::in_flight(program).await,
        "subscriptions" => http::subscriptions(program).await,
        "unread-stdio" => lines::unread(program).await,
        "unread-http" => http::unread(program).await,
        "slow-headers" => connections::slow_headers(program).await,
        "stuck-stream" => http::stuck_stream(program).await,
        "closed-input" => lines::closed_input(program).await,
        "questions" => lines::questions(program).await,
        "sse-page" => connections::sse_page(program).await,
        _ => bail!("there is no such attack"),
    }
}

/// Returns a batch of equal elements.
fn batch(element: &str, count: usize) -> String {
    format!("[{element}{}]", format!(",{element}").repeat(count - 1))
}
