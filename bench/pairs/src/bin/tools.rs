//! A server with `mcp-runtime` that has five tools, which share a list of tasks, over stdio.

use std::sync::{Arc, Mutex};

use mcp_runtime::transport::stdio::stdio;
use mcp_runtime::{Args, Options, Router, State};
use schemars::JsonSchema;
use serde::Deserialize;

type Tasks = Arc<Mutex<Vec<String>>>;

#[derive(Deserialize, JsonSchema)]
struct Task {
    /// What is to be done.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    /// Which task, from 0.
    number: usize,
}

fn add(State(tasks): State<Tasks>, Args(Task { text }): Args<Task>) -> String {
    let mut tasks = tasks.lock().unwrap();
    tasks.push(text);
    format!("task {}", tasks.len() - 1)
}

fn list(State(tasks): State<Tasks>) -> String {
    tasks.lock().unwrap().join("\n")
}

fn show(State(tasks): State<Tasks>, Args(Number { number }): Args<Number>) -> Result<String, String> {
    tasks
        .lock()
        .unwrap()
        .get(number)
        .cloned()
        .ok_or(format!("there is no task {number}"))
}

fn finish(State(tasks): State<Tasks>, Args(Number { number }): Args<Number>) -> Result<String, String> {
    let mut tasks = tasks.lock().unwrap();
    match number < tasks.len() {
        true => Ok(tasks.remove(number)),
        false => Err(format!("there is no task {number}")),
    }
}

fn clear(State(tasks): State<Tasks>) {
    tasks.lock().unwrap().clear();
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let router = Router::new("tasks", "1.0")
        .with_state(Tasks::default())
        .tool("add", "Adds a task", add)
        .tool("list", "Lists the tasks", list)
        .tool("show", "Shows a task", show)
        .tool("finish", "Removes a task", finish)
        .tool("clear", "Removes all tasks", clear);
    router.serve(Options::default(), stdio()?).ended().await;
    Ok(())
}
