//! Tools that run as tasks, with the fixtures of the conformance suite.

use std::time::Duration;

use mcp_runtime::hub::{AnyCallToolResult, ElicitRequestFormParams, ElicitRequestParams};
use mcp_runtime::router::{Call, ToolError, tool};
use mcp_runtime::tasks::{TaskContext, TaskLimits, Tasks, ToolTask};
use mcp_runtime::{Args, CallClient, CallError, ErrorObject, Router, State, error_code, mcp_wire};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use crate::rounds;

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Seconds {
    seconds: f64,
}

pub fn add_to(router: Router) -> Router {
    let limits = TaskLimits {
        ttl: Duration::from_secs(600),
        poll_interval: Duration::from_millis(200),
        ..TaskLimits::default()
    };
    router
        .extension(Tasks::new(limits))
        .tool("greet", "Greets, at once", |Args(who): Args<Name>| {
            format!("Hello, {}!", who.name)
        })
        .with(tool("slow_compute", "Takes some seconds", slow_compute).task())
        .with(tool("failing_job", "Fails as a tool after a second", failing_job).only_as_task())
        .with(tool("protocol_error_job", "Fails as a request", protocol_error_job).only_as_task())
        .with(tool("confirm_delete", "Asks the user to confirm", confirm_delete).only_as_task())
        .with(tool("multi_input", "Asks the user two questions at once", multi_input).only_as_task())
        .with(tool("test_tool_with_task", "Asks for a name, and greets later", greet_later).spawns_task())
}

async fn slow_compute(Args(seconds): Args<Seconds>, task: TaskContext) -> Result<String, ToolError> {
    let work = Duration::try_from_secs_f64(seconds.seconds).map_err(ToolError::tool)?;
    task.status("computing");
    sleep(work).await;
    Ok(format!("Computed for {work:?}."))
}

async fn failing_job() -> Result<String, &'static str> {
    sleep(Duration::from_secs(1)).await;
    Err("The job has failed.")
}

fn protocol_error_job() -> Result<String, ErrorObject> {
    Err(ErrorObject::new(error_code::INTERNAL_ERROR, "the job has crashed"))
}

async fn confirm_delete(task: TaskContext) -> Result<String, CallError> {
    let answer = task.named("confirm").elicit(question("Delete it?")).await?;
    Ok(format!("The user has answered: {}", answer.action.as_str()))
}

async fn multi_input(task: TaskContext) -> Result<String, CallError> {
    let (first, second) = (task.named("first"), task.named("second"));
    let asked = (
        first.elicit(question("The first?")),
        second.elicit(question("The second?")),
    );
    let (first, second) = tokio::try_join!(asked.0, asked.1)?;
    Ok(format!("{} and {}", first.action.as_str(), second.action.as_str()))
}

/// Requests input before the task is created.
async fn greet_later(State(tasks): State<Tasks>, call: Call) -> Result<AnyCallToolResult, ToolError> {
    let name = rounds::ask("user_name", "What is your name?", "name", &call).await?;
    tasks.spawn(&call, |_| async move { format!("Hello, {name}!") }).await
}

fn question(message: &str) -> ElicitRequestParams {
    let form = r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}}"#;
    let form = mcp_wire::from_str(form).expect("the form is one");
    ElicitRequestFormParams::new(message, form).into()
}
