//! Attacks over HTTP.

use std::time::{Duration, Instant};

use anyhow::Result;
use mcp_load::{Http, Program, Usage, call, initialize, request};
use reqwest::Client;
use serde_json::json;
use tokio::process::{Child, ChildStdin};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connections::post_unread;
use crate::outcome::{Outcome, said};
use crate::{BATCHING, MB, PATIENCE, REVISION};

pub async fn batch(program: &Program) -> Result<Outcome> {
    let (child, _input, http) = begin_http(program, BATCHING).await?;
    let begun = Instant::now();
    let answer = http.send_within(crate::batch("{}", 1_330_000), PATIENCE).await;
    let took = begun.elapsed();
    let says = match answer {
        Ok(body) => format!("status {}, {}", body.status, said(Some(&body.text))),
        Err(error) => format!("{error:#}"),
    };
    Outcome::of(&child, took, says)
}

/// Sends a batch of two pings, one of which is nested too deeply, and then another request with the id of the valid
/// one.
pub async fn deep(program: &Program, mode: &str) -> Result<Outcome> {
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

/// Opens sessions with large requests, and doesn't use them.
pub async fn sessions(program: &Program) -> Result<Outcome> {
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
    let says = format!("{good} of {COUNT} opened, {each:.1} MB each: {}", last(&statuses));
    Outcome::of(&child, begun.elapsed(), says)
}

pub async fn in_flight(program: &Program) -> Result<Outcome> {
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
    // Refused calls get their response at once; the others stay in flight.
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

pub async fn subscriptions(program: &Program) -> Result<Outcome> {
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
        format!("{good} of {COUNT} accepted, {each:.1} MB each{last}"),
    )
}

/// Calls on separate connections, and doesn't read the responses.
pub async fn unread(program: &Program) -> Result<Outcome> {
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

pub async fn stuck_stream(program: &Program) -> Result<Outcome> {
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

async fn begin_http(program: &Program, revision: &str) -> Result<(Child, ChildStdin, Http)> {
    let (child, input, url) = program.http("http").await?;
    let http = Http::begin(Client::new(), url, revision).await?;
    Ok((child, input, http))
}

fn last(statuses: &[u16]) -> String {
    format!("the last status is {}", statuses.last().copied().unwrap_or_default())
}
