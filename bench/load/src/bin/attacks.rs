//! What each attack costs a server in memory and time. Each has a bound, and a server of its own on this machine.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;
use mcp_load::{Http, Lines, Program, Usage, Writer, call, initialize, initialized, notification, request};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The revision that has batches.
const BATCHING: &str = "2025-03-26";
const REVISION: &str = "2025-11-25";
const MB: usize = 1_000_000;
/// How long an answer is waited for.
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

/// What came of an attack.
struct Outcome {
    /// What the server used when the attack was over.
    usage: Usage,
    /// How long it took to answer, or whatever the attack waits for.
    took: Duration,
    /// What came of it, in words.
    says: String,
}

const ATTACKS: [(&str, &str); 16] = [
    (
        "batch-numbers",
        "a batch of 2,000,000 numbers, 4 MB in a line, then a ping",
    ),
    ("batch-pings", "a batch of 100,000 pings, 4 MB in a line, then a ping"),
    ("batch-http", "a batch of 1,330,000 empty objects, 4 MB in a body"),
    ("faults", "arguments with 2,000,000 bad elements, 6 MB in a line"),
    ("deep-http", "a batch with one element nested 200 deep"),
    ("deep-stateless", "the same without sessions"),
    ("initialize", "40 sessions that begin with 3.9 MB"),
    ("calls-in-flight", "100 calls of 2.7 MB that don't return"),
    ("subscriptions", "40 subscriptions of 3.9 MB each"),
    ("unread-stdio", "400 answers of 1 MB that nobody reads"),
    ("unread-http", "100 answers of 1 MB that nobody reads"),
    ("slow-headers", "200 connections that send a byte of a header every 5 s"),
    ("stuck-stream", "a ping beside a stream that nobody reads"),
    ("closed-input", "input closed, 100 answers of 100 KB that nobody reads"),
    ("questions", "300 notifications whose handler asks, then a ping"),
    ("sse-page", "GET /sse as by an image of a web page"),
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
        "batch-numbers" => batch_stdio(program, &batch("1", 2 * MB)).await,
        "batch-pings" => batch_stdio(program, &batch(&request(2, "ping", &json!({})), 100_000)).await,
        "batch-http" => batch_http(program).await,
        "faults" => faults(program).await,
        "deep-http" => deep(program, "http").await,
        "deep-stateless" => deep(program, "stateless").await,
        "initialize" => sessions(program).await,
        "calls-in-flight" => in_flight(program).await,
        "subscriptions" => subscriptions(program).await,
        "unread-stdio" => unread_stdio(program).await,
        "unread-http" => unread_http(program).await,
        "slow-headers" => slow_headers(program).await,
        "stuck-stream" => stuck_stream(program).await,
        "closed-input" => closed_input(program).await,
        "questions" => questions(program).await,
        _ => sse_page(program).await,
    }
}

impl Outcome {
    fn of(child: &Child, took: Duration, says: impl Into<String>) -> Result<Self> {
        Ok(Self {
            usage: Usage::of(child)?,
            took,
            says: says.into(),
        })
    }
}

async fn begin_lines(program: &Program, mode: &str, revision: &str) -> Result<(Child, Writer, Lines)> {
    let (child, mut writer, mut lines) = program.lines(mode)?;
    writer.line(&initialize(revision)).await?;
    lines.answer(0, PATIENCE).await?;
    writer.line(&initialized()).await?;
    Ok((child, writer, lines))
}

async fn begin_http(program: &Program, revision: &str) -> Result<(Child, ChildStdin, Http)> {
    let (child, input, url) = program.http("http").await?;
    let http = Http::begin(Client::new(), url, revision).await?;
    Ok((child, input, http))
}

/// A batch of elements that are no messages.
fn batch(element: &str, count: usize) -> String {
    format!("[{element}{}]", format!(",{element}").repeat(count - 1))
}

async fn batch_stdio(program: &Program, batch: &str) -> Result<Outcome> {
    let (child, mut writer, mut lines) = begin_lines(program, "stdio", BATCHING).await?;
    let begun = Instant::now();
    writer.line(batch).await?;
    writer.line(&request(1, "ping", &json!({}))).await?;
    // What answers the batch comes before or after, if anything does: numbers have no id that an answer could have.
    let answered = lines.answer(1, PATIENCE).await;
    let took = begun.elapsed();
    let says = answered.map_or_else(|error| format!("{error:#}"), |_| "the ping was answered".to_owned());
    Outcome::of(&child, took, says)
}

async fn batch_http(program: &Program) -> Result<Outcome> {
    let (child, _input, http) = begin_http(program, BATCHING).await?;
    let begun = Instant::now();
    let answer = http.send_within(batch("{}", 1_330_000), PATIENCE).await;
    let took = begun.elapsed();
    let says = match answer {
        Ok(body) => format!("status {}, {}", body.status, said(Some(&body.text))),
        Err(error) => format!("{error:#}"),
    };
    Outcome::of(&child, took, says)
}

async fn faults(program: &Program) -> Result<Outcome> {
    let (child, mut writer, mut lines) = begin_lines(program, "stdio", REVISION).await?;
    let bad = format!("[\"\"{}]", ",\"\"".repeat(2 * MB - 1));
    let message = request(1, "tools/call", &json!({"name": "sum", "arguments": {"numbers": "?"}}));
    let begun = Instant::now();
    writer.line(&message.replace("\"?\"", &bad)).await?;
    let answer = timeout(PATIENCE, lines.next()).await;
    let took = begun.elapsed();
    Outcome::of(
        &child,
        took,
        said(answer.ok().and_then(Result::ok).flatten().as_deref()),
    )
}

/// A batch of two pings, one of which is nested too deeply; then the id of the good one again.
async fn deep(program: &Program, mode: &str) -> Result<Outcome> {
    let (child, _input, url) = program.http(mode).await?;
    let http = Http::begin(Client::new(), url, BATCHING).await?;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let bad = request(2, "ping", &json!({"_meta": {"deep": "?"}})).replace("\"?\"", &deep);
    let batch = format!("[{},{bad}]", request(1, "ping", &json!({})));
    let begun = Instant::now();
    let patience = Duration::from_secs(10);
    let first = http.send_within(batch, patience).await;
    let took = begun.elapsed();
    let again = http.send_within(request(1, "ping", &json!({})), patience).await;
    let tell = |answer: Result<mcp_load::Body>| match answer {
        Ok(body) => format!("status {}", body.status),
        Err(error) => format!("{error:#}"),
    };
    Outcome::of(&child, took, format!("{}; its id again: {}", tell(first), tell(again)))
}

/// Sessions are begun by large requests, and left alone.
async fn sessions(program: &Program) -> Result<Outcome> {
    const COUNT: usize = 40;
    let (child, _input, url) = program.http("http").await?;
    let before = Usage::of(&child)?;
    let client = Client::new();
    let opening = initialize(REVISION).replace("\"load\"", &format!("\"{}\"", "x".repeat(39 * MB / 10)));
    let begun = Instant::now();
    let mut http = Http {
        client,
        url,
        session: None,
        headers: Vec::new(),
    };
    let mut statuses = Vec::new();
    for _ in 0..COUNT {
        http.session = None;
        statuses.push(
            http.send_within(opening.clone(), PATIENCE)
                .await
                .map_or(0, |body| body.status),
        );
    }
    let usage = Usage::of(&child)?;
    let each = (usage.peak - before.peak) as f64 / COUNT as f64 / 1e6;
    let good = statuses.iter().filter(|status| **status == 200).count();
    let says = format!("{good} of {COUNT} began, {each:.1} MB each: {}", last(&statuses));
    Outcome::of(&child, begun.elapsed(), says)
}

async fn in_flight(program: &Program) -> Result<Outcome> {
    const COUNT: usize = 100;
    let (child, _input, http) = begin_http(program, REVISION).await?;
    let before = Usage::of(&child)?;
    let text = "x".repeat(27 * MB / 10);
    let begun = Instant::now();
    let mut calls = JoinSet::new();
    for id in 0..COUNT as u64 {
        let (http, message) = (http.clone(), call(id + 1, "wait", &text));
        calls.spawn(async move { http.send(message).await });
    }
    // What is refused is refused at once; the others are held.
    let mut refused = 0;
    while let Ok(Some(answer)) = timeout(Duration::from_secs(8), calls.join_next()).await {
        refused += usize::from(answer?.is_ok());
    }
    let usage = Usage::of(&child)?;
    let each = (usage.peak - before.peak) as f64 / COUNT as f64 / 1e6;
    Outcome::of(
        &child,
        begun.elapsed(),
        format!("{} held, {refused} refused, {each:.1} MB each", calls.len()),
    )
}

async fn subscriptions(program: &Program) -> Result<Outcome> {
    const COUNT: usize = 40;
    let (child, _input, http) = begin_http(program, REVISION).await?;
    let before = Usage::of(&child)?;
    let begun = Instant::now();
    let mut good = 0;
    let mut last = String::new();
    for id in 0..COUNT {
        let uri = format!("load://{id}{}", "x".repeat(39 * MB / 10));
        let message = request(id as u64 + 1, "resources/subscribe", &json!({"uri": uri}));
        match http.send_within(message, PATIENCE).await {
            Ok(body) if body.text.contains("\"result\"") => good += 1,
            Ok(body) => last = format!(": {}", said(Some(&body.text))),
            Err(error) => last = format!(": {error:#}"),
        }
    }
    let usage = Usage::of(&child)?;
    let each = (usage.peak - before.peak) as f64 / COUNT as f64 / 1e6;
    Outcome::of(
        &child,
        begun.elapsed(),
        format!("{good} of {COUNT} taken, {each:.1} MB each{last}"),
    )
}

async fn unread_stdio(program: &Program) -> Result<Outcome> {
    let (child, mut writer, lines) = begin_lines(program, "stdio", REVISION).await?;
    let text = "x".repeat(MB);
    let begun = Instant::now();
    let mut sent = 0;
    for id in 0..400 {
        let message = call(id + 1, "echo", &text);
        let writing = writer.line(&message);
        // Once the server doesn't read any more, there is nothing more to attack with.
        if timeout(Duration::from_secs(3), writing).await.is_err() {
            break;
        }
        sent += 1;
    }
    sleep(Duration::from_secs(2)).await;
    let took = begun.elapsed();
    drop(lines);
    Outcome::of(&child, took, format!("{sent} of 400 calls taken"))
}

/// Calls on connections of their own, whose answers nobody reads.
async fn unread_http(program: &Program) -> Result<Outcome> {
    let (child, _input, http) = begin_http(program, REVISION).await?;
    let text = "x".repeat(MB);
    let begun = Instant::now();
    let mut connections = Vec::new();
    for id in 0..100 {
        connections.push(post_unread(&http, &call(id + 1, "echo", &text)).await?);
    }
    sleep(Duration::from_secs(2)).await;
    Outcome::of(&child, begun.elapsed(), format!("{} calls", connections.len()))
}

/// Posts a message on a connection of its own, and leaves the answer there.
async fn post_unread(http: &Http, message: &str) -> Result<TcpStream> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    let mut connection = socket.connect(address(&http.url)?.parse()?).await?;
    let session = http.session.as_deref().unwrap_or_default();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-session-id: {session}\r\ncontent-length: {}\r\n\r\n",
        message.len()
    );
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(message.as_bytes()).await?;
    Ok(connection)
}

async fn slow_headers(program: &Program) -> Result<Outcome> {
    const COUNT: usize = 200;
    let (child, _input, url) = program.http("http").await?;
    let begun = Instant::now();
    let mut connections = Vec::new();
    for _ in 0..COUNT {
        let mut connection = TcpStream::connect(address(&url)?).await?;
        connection.write_all(b"POST /mcp HTTP/1.1\r\nx: ").await?;
        connections.push(connection);
    }
    for _ in 0..8 {
        sleep(Duration::from_secs(5)).await;
        for connection in &mut connections {
            // It may be closed by now, which is what the reading below finds.
            let _ = connection.write_all(b"x").await;
        }
    }
    let mut open = 0;
    for connection in &mut connections {
        let mut rest = Vec::new();
        open += usize::from(
            timeout(Duration::from_millis(20), connection.read_to_end(&mut rest))
                .await
                .is_err(),
        );
    }
    Outcome::of(&child, begun.elapsed(), format!("{open} of {COUNT} open"))
}

async fn stuck_stream(program: &Program) -> Result<Outcome> {
    let (child, _input, http) = begin_http(program, REVISION).await?;
    let arguments = json!({"name": "flood", "arguments": {"messages": 2000, "bytes": 100_000}});
    let stuck = post_unread(&http, &request(1, "tools/call", &arguments)).await?;
    sleep(Duration::from_secs(2)).await;
    let begun = Instant::now();
    let answer = http.send_within(request(2, "ping", &json!({})), PATIENCE).await;
    let took = begun.elapsed();
    drop(stuck);
    Outcome::of(
        &child,
        took,
        answer.map_or_else(|error| format!("{error:#}"), |body| format!("status {}", body.status)),
    )
}

async fn closed_input(program: &Program) -> Result<Outcome> {
    let (mut child, mut writer, lines) = begin_lines(program, "stdio", REVISION).await?;
    let text = "x".repeat(100_000);
    for id in 0..100 {
        if timeout(Duration::from_secs(2), writer.line(&call(id + 1, "echo", &text)))
            .await
            .is_err()
        {
            break;
        }
    }
    drop(writer);
    let begun = Instant::now();
    let usage = Usage::of(&child)?;
    let ended = timeout(Duration::from_secs(30), child.wait()).await;
    let took = begun.elapsed();
    drop(lines);
    let says = ended.map_or_else(|_| "still running".to_owned(), |status| format!("ended: {status:?}"));
    Ok(Outcome { usage, took, says })
}

/// The client answers every question; the ping after the notifications finds out when the server takes the next message.
async fn questions(program: &Program) -> Result<Outcome> {
    let (child, mut writer, mut lines) = begin_lines(program, "asking", REVISION).await?;
    let begun = Instant::now();
    for _ in 0..300 {
        writer.line(&notification("notifications/roots/list_changed")).await?;
    }
    writer.line(&request(1, "ping", &json!({}))).await?;
    let mut asked = 0;
    let mut answered = None;
    // It is over when nothing has come for a while after the answer to the ping.
    let patience = |is_answered| if is_answered { Duration::from_secs(2) } else { PATIENCE };
    while let Ok(line) = timeout(patience(answered.is_some()), lines.next()).await {
        let message: Value = serde_json::from_str(&line?.context("the server has ended")?)?;
        if message["method"] == "roots/list" {
            asked += 1;
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}});
            writer.line(&answer.to_string()).await?;
        } else if message["id"] == 1 {
            answered = Some(begun.elapsed());
        }
    }
    let says = if answered.is_some() { "answered" } else { "not answered" };
    Outcome::of(
        &child,
        answered.unwrap_or_else(|| begun.elapsed()),
        format!("{says}; the server asked {asked} times"),
    )
}

/// An image's request names the site it comes from, and has no header that a page couldn't set.
async fn sse_page(program: &Program) -> Result<Outcome> {
    let (child, _input, url) = program.http("http").await?;
    let begun = Instant::now();
    let mut connection = TcpStream::connect(address(&url)?).await?;
    let request = "GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: image/avif,image/webp,*/*;q=0.8\r\n\
                   sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\nsec-fetch-dest: image\r\n\r\n";
    connection.write_all(request.as_bytes()).await?;
    let mut head = vec![0; 256];
    let read = timeout(PATIENCE, connection.read(&mut head))
        .await
        .context("no answer")??;
    head.truncate(read);
    let head = String::from_utf8_lossy(&head);
    Outcome::of(&child, begun.elapsed(), head.lines().next().unwrap_or_default())
}

/// The address in a URL.
fn address(url: &str) -> Result<String> {
    let rest = url.strip_prefix("http://").context("no URL of HTTP")?;
    Ok(rest.split('/').next().unwrap_or_default().to_owned())
}

/// An answer in few words.
fn said(answer: Option<&str>) -> String {
    let Some(answer) = answer else {
        return "no answer".to_owned();
    };
    let start: String = answer.chars().take(70).collect();
    format!("{} bytes: `{}`", answer.len(), start.replace('|', "/"))
}

fn last(statuses: &[u16]) -> String {
    format!("the last status is {}", statuses.last().copied().unwrap_or_default())
}
