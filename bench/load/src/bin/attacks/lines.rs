//! Attacks over stdio.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mcp_load::{Lines, Program, Usage, Writer, call, initialize, initialized, notification, request};
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::time::{sleep, timeout};

use crate::outcome::{Outcome, said};
use crate::{BATCHING, MB, PATIENCE, REVISION};

pub async fn batch(program: &Program, batch: &str) -> Result<Outcome> {
    let (child, mut writer, mut lines) = begin_lines(program, "stdio", BATCHING).await?;
    let begun = Instant::now();
    writer.line(batch).await?;
    writer.line(&request(1, "ping", &json!({}))).await?;
    // Responses to the batch can come before or after that to the ping, or not at all: numbers have no id for a
    // response.
    let answered = lines.answer(1, PATIENCE).await;
    let took = begun.elapsed();
    let says = answered.map_or_else(|error| format!("{error:#}"), |_| "the ping was answered".to_owned());
    Outcome::of(&child, took, says)
}

pub async fn faults(program: &Program) -> Result<Outcome> {
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

pub async fn unread(program: &Program) -> Result<Outcome> {
    let (child, mut writer, lines) = begin_lines(program, "stdio", REVISION).await?;
    let text = "x".repeat(MB);
    let begun = Instant::now();
    let mut sent = 0;
    for id in 0..400 {
        let message = call(id + 1, "echo", &text);
        let writing = writer.line(&message);
        // Once the server stops reading, nothing more can be sent.
        if timeout(Duration::from_secs(3), writing).await.is_err() {
            break;
        }
        sent += 1;
    }
    sleep(Duration::from_secs(2)).await;
    let took = begun.elapsed();
    drop(lines);
    Outcome::of(&child, took, format!("{sent} of 400 calls accepted"))
}

pub async fn closed_input(program: &Program) -> Result<Outcome> {
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

/// The client answers every request of the server. The ping after the notifications shows when the server handles the
/// next message.
pub async fn questions(program: &Program) -> Result<Outcome> {
    let (child, mut writer, mut lines) = begin_lines(program, "asking", REVISION).await?;
    let begun = Instant::now();
    for _ in 0..300 {
        writer.line(&notification("notifications/roots/list_changed")).await?;
    }
    writer.line(&request(1, "ping", &json!({}))).await?;
    let mut asked = 0;
    let mut answered = None;
    // The attack is over once no message arrives for a while after the response to the ping.
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
        format!("{says}; the server sent {asked} requests"),
    )
}

async fn begin_lines(program: &Program, mode: &str, revision: &str) -> Result<(Child, Writer, Lines)> {
    let (child, mut writer, mut lines) = program.lines(mode)?;
    writer.line(&initialize(revision)).await?;
    lines.answer(0, PATIENCE).await?;
    writer.line(&initialized()).await?;
    Ok((child, writer, lines))
}
