//! The extension `io.modelcontextprotocol/tasks`: calls that go on after they are answered, with the fixtures of the conformance
//! suite.

mod store;

use std::time::Duration;

use mcp_runtime::http::request::Parts;
use mcp_runtime::hub::{self, AnyCallToolResult, CallToolResult, ServerCapabilities};
use mcp_runtime::mcp_wire::RawObject;
use mcp_runtime::router::{Call, ToolError};
use mcp_runtime::{Args, ErrorObject, Router, State, error_code};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::content::text;
use crate::rounds;

use self::store::{Job, Outcome, Tasks};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Seconds {
    seconds: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskId {
    task_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Answers {
    task_id: String,
    input_responses: Map<String, Value>,
}

pub fn add_to(router: Router) -> Router {
    let extensions = [(EXTENSION.to_owned(), RawObject::default())];
    let capabilities = ServerCapabilities::default().with_extensions(extensions.into_iter().collect());
    router
        .with_capabilities(capabilities)
        .with_state(Tasks::default())
        .tool("greet", "Greets, at once", |Args(who): Args<Name>| {
            format!("Hello, {}!", who.name)
        })
        .tool("slow_compute", "Takes some seconds", slow_compute)
        .tool(
            "failing_job",
            "Fails as a tool after a second",
            |State(tasks): State<Tasks>, call: Call| async move {
                begin(&tasks, &call, |_| async {
                    sleep(Duration::from_secs(1)).await;
                    Ok(CallToolResult::new(vec![text("The job has failed.").into()]).with_is_error(true))
                })
            },
        )
        .tool(
            "protocol_error_job",
            "Fails as a request",
            |State(tasks): State<Tasks>, call: Call| async move {
                begin(&tasks, &call, |_| async {
                    Err(ErrorObject::new(error_code::INTERNAL_ERROR, "the job has crashed"))
                })
            },
        )
        .tool(
            "confirm_delete",
            "Asks the user to confirm",
            |State(tasks): State<Tasks>, call: Call| async move {
                begin(&tasks, &call, |job| async move {
                    let answer = job.ask("confirm", "Delete it?").await;
                    Ok(said(format!("The user has answered: {}", answer["action"])))
                })
            },
        )
        .tool(
            "multi_input",
            "Asks the user two questions at once",
            |State(tasks): State<Tasks>, call: Call| async move {
                begin(&tasks, &call, |job| async move {
                    let (first, second) =
                        tokio::join!(job.ask("first", "The first?"), job.ask("second", "The second?"));
                    Ok(said(format!("{} and {}", first["action"], second["action"])))
                })
            },
        )
        .tool(
            "test_tool_with_task",
            "Asks for a name, and greets later",
            |State(tasks): State<Tasks>, call: Call| async move {
                let name = rounds::ask("user_name", "What is your name?", "name", &call).await?;
                begin(&tasks, &call, |_| async move { Ok(said(format!("Hello, {name}!"))) })
            },
        )
        .custom_method(
            "tasks/get",
            |Args(task): Args<TaskId>, State(tasks): State<Tasks>, call: Call| {
                check(&call, &task.task_id)?;
                tasks.get(&task.task_id)
            },
        )
        .custom_method(
            "tasks/update",
            |Args(answers): Args<Answers>, State(tasks): State<Tasks>, call: Call| {
                check(&call, &answers.task_id)?;
                tasks.update(&answers.task_id, answers.input_responses)
            },
        )
        .custom_method(
            "tasks/cancel",
            |Args(task): Args<TaskId>, State(tasks): State<Tasks>, call: Call| {
                check(&call, &task.task_id)?;
                tasks.cancel(&task.task_id)
            },
        )
}

/// A task for clients that know tasks; others wait.
async fn slow_compute(
    Args(seconds): Args<Seconds>,
    State(tasks): State<Tasks>,
    call: Call,
) -> Result<AnyCallToolResult, ToolError> {
    let work = Duration::try_from_secs_f64(seconds.seconds).map_err(ToolError::tool)?;
    match with_extension(&call) {
        Ok(()) => begin(&tasks, &call, move |_| compute(work)),
        Err(_) => Ok(compute(work).await?.into()),
    }
}

async fn compute(work: Duration) -> Outcome {
    sleep(work).await;
    Ok(said(format!("Computed for {work:?}.")))
}

fn said(what: String) -> CallToolResult {
    CallToolResult::new(vec![text(what).into()])
}

/// # Errors
/// When the client hasn't declared the extension.
fn with_extension(call: &Call) -> Result<(), ErrorObject> {
    let capabilities = call.peer_info().map(|info| info.client_capabilities());
    let extensions = capabilities.and_then(|capabilities| capabilities.extensions);
    if extensions.is_some_and(|extensions| extensions.contains_key(EXTENSION)) {
        return Ok(());
    }
    let required = json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}});
    let code = hub::error_code::MISSING_REQUIRED_CLIENT_CAPABILITY;
    Err(ErrorObject::new(code, "the client doesn't know tasks").with_data(required))
}

/// Begins a task.
///
/// # Errors
/// When the client hasn't declared the extension.
fn begin<F: Future<Output = Outcome> + Send + 'static>(
    tasks: &Tasks,
    call: &Call,
    work: impl FnOnce(Job) -> F,
) -> Result<AnyCallToolResult, ToolError> {
    with_extension(call)?;
    Ok(tasks.create(work))
}

/// # Errors
/// When the client hasn't declared the extension, or a header of the HTTP request names another task.
fn check(call: &Call, id: &str) -> Result<(), ErrorObject> {
    with_extension(call)?;
    let name = call
        .extensions()
        .get::<Parts>()
        .map(|parts| parts.headers.get("mcp-name"));
    if name.is_none_or(|name| name.is_some_and(|name| name == id)) {
        return Ok(());
    }
    let reason = "the header Mcp-Name doesn't name the task";
    Err(ErrorObject::new(hub::error_code::HEADER_MISMATCH, reason))
}
