//! A server with rmcp that has five tools, which share a list of tasks, over stdio.

use std::sync::{Arc, Mutex};

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use serde::Deserialize;

#[derive(Deserialize, schemars::JsonSchema)]
struct Task {
    /// What is to be done.
    text: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Number {
    /// Which task, from 0.
    number: usize,
}

#[derive(Clone, Default)]
struct Tasks {
    tasks: Arc<Mutex<Vec<String>>>,
}

#[tool_router]
impl Tasks {
    #[tool(description = "Adds a task")]
    fn add(&self, Parameters(Task { text }): Parameters<Task>) -> String {
        let mut tasks = self.tasks.lock().unwrap();
        tasks.push(text);
        format!("task {}", tasks.len() - 1)
    }

    #[tool(description = "Lists the tasks")]
    fn list(&self) -> String {
        self.tasks.lock().unwrap().join("\n")
    }

    #[tool(description = "Shows a task")]
    fn show(&self, Parameters(Number { number }): Parameters<Number>) -> Result<String, String> {
        self.tasks
            .lock()
            .unwrap()
            .get(number)
            .cloned()
            .ok_or(format!("there is no task {number}"))
    }

    #[tool(description = "Removes a task")]
    fn finish(&self, Parameters(Number { number }): Parameters<Number>) -> Result<String, String> {
        let mut tasks = self.tasks.lock().unwrap();
        match number < tasks.len() {
            true => Ok(tasks.remove(number)),
            false => Err(format!("there is no task {number}")),
        }
    }

    #[tool(description = "Removes all tasks")]
    fn clear(&self) {
        self.tasks.lock().unwrap().clear();
    }
}

#[tool_handler(name = "tasks", version = "1.0")]
impl ServerHandler for Tasks {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Tasks::default()
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
