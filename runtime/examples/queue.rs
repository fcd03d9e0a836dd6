//! Tasks whose work is in a queue: two workers process the jobs of clients one after the other, so at most two jobs run
//! at a time.
//!
//!     cargo run --example queue --features tasks
//!
//! Here the queue is a channel of this process, and the tasks are in its memory. With `Tasks::with_store`, an external
//! queue and workers in separate processes, a task survives the process that took the call, and a job that a worker
//! hasn't finished can be given to another one; `enqueue` and `resume` are used in the same way.

use std::sync::Arc;

use mcp_runtime::router::{Args, Call, State, ToolError, tool};
use mcp_runtime::tasks::{TaskContext, TaskLimits, Tasks, ToolTask};
use mcp_runtime::transport::stdio;
use mcp_runtime::{Options, Router, hub};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{Mutex, mpsc};

#[derive(Deserialize, JsonSchema)]
struct Video {
    /// The file to convert.
    file: String,
}

/// A job for a worker.
struct Job {
    task: String,
    file: String,
}

type Queue = mpsc::Sender<Job>;

/// Puts a job into the queue, and returns its task.
async fn convert(
    Args(video): Args<Video>,
    State(tasks): State<Tasks>,
    State(queue): State<Queue>,
    call: Call,
) -> Result<hub::AnyCallToolResult, ToolError> {
    // A full queue refuses the call before a task is created.
    let place = queue
        .try_reserve()
        .map_err(|_| ToolError::tool("there are too many jobs, try again later"))?;
    let (answer, task) = tasks.enqueue(&call).await?;
    place.send(Job { task, file: video.file });
    Ok(answer)
}

/// Processes the jobs of the queue, one at a time.
async fn work(tasks: Tasks, queue: Arc<Mutex<mpsc::Receiver<Job>>>) {
    loop {
        let Some(Job { task, file }) = queue.lock().await.recv().await else {
            return;
        };
        // A task that was cancelled while it waited is refused.
        if let Err(error) = tasks.resume(&task, |context| converted(context, file)).await {
            eprintln!("task {task} isn't run: {}", error.message);
        }
    }
}

async fn converted(task: TaskContext, file: String) -> Result<hub::CallToolResult, ToolError> {
    for part in 1..=3_u8 {
        task.progress(part.into(), Some(3.0), Some(format!("converting {file}")))
            .await?;
        tokio::task::yield_now().await;
    }
    Ok(hub::CallToolResult::new(vec![
        hub::TextContent::new(format!("{file}.webm")).into(),
    ]))
}

fn router() -> Router {
    let tasks = Tasks::new(TaskLimits::default());
    let (queue, jobs) = mpsc::channel(100);
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..2 {
        tokio::spawn(work(tasks.clone(), Arc::clone(&jobs)));
    }
    Router::new("videos", "1.0")
        .extension(tasks)
        .with_state(queue)
        .with(tool("convert", "Converts a video", convert).spawns_task())
}

#[tokio::main]
async fn main() -> Result<(), std::io::Error> {
    router().serve(Options::default(), stdio()?).closed().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn every_job_is_done_by_one_of_the_workers() {
    use mcp_ext_tasks::EXTENSION;
    use mcp_runtime::Client;
    use mcp_runtime::mcp_wire::RawObject;
    use mcp_runtime::tasks::CallTasks;
    use mcp_runtime::transport::channel;
    use serde_json::json;

    let (server, transport) = channel(16);
    router().serve(Options::default(), server);
    let client = Client::new("test", "1.0")
        .extension(&EXTENSION)
        .connect(transport)
        .await
        .unwrap();
    for file in ["a", "b", "c"] {
        let arguments = RawObject::from(json!({"file": file}));
        let params = hub::CallToolRequestParams::new("convert").with_arguments(arguments);
        let result = client.peer().call_tool_to_end(params).await.unwrap();
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(result["content"][0]["text"], format!("{file}.webm"));
    }
}
