//! Tasks in Redis: any instance serves them, and their results survive the instance that has run them.

use std::time::Duration;

use mcp_ext_tasks::{EXTENSION, GetTaskResult};
use mcp_runtime::router::tool;
use mcp_runtime::tasks::{CallTasks, TaskContext, TaskHandle, TaskLimits, Tasks, ToolAnswer, ToolTask};
use mcp_runtime::transport::channel;
use mcp_runtime::transport::http::server::{RedisOptions, RedisStore};
use mcp_runtime::{CallClient, CallError, Client, ClientSession, Options, Router, hub, mcp_wire};
use tokio::time::sleep;

use crate::instances::programs::Redis;

async fn ask(task: TaskContext) -> Result<String, CallError> {
    let form = mcp_wire::from_str(r#"{"type": "object", "properties": {}}"#).expect("it is a form");
    let answer = task
        .elicit(hub::ElicitRequestFormParams::new("Sure?", form).into())
        .await?;
    Ok(answer.action.as_str().to_owned())
}

/// A client that declines elicitations, and the store of its instance, whose heartbeat shows that it is alive.
async fn instance(url: String) -> (ClientSession, RedisStore) {
    let mut options = RedisOptions::default();
    options.heartbeat = Duration::from_millis(500);
    let store = RedisStore::connect(&url, options).await.expect("the store answers");
    let limits = TaskLimits {
        poll_interval: Duration::from_millis(20),
        ..TaskLimits::default()
    };
    let router = Router::new("builds", "1.0")
        .extension(Tasks::with_store(limits, store.tasks()))
        .with(tool("build", "Builds", || "built").task())
        .with(tool("forever", "Never ends", std::future::pending::<String>).task())
        .with(tool("ask", "Asks", ask).task());
    let (ours, theirs) = channel(16);
    drop(router.serve(Options::default(), theirs));
    let client = Client::new("test", "1.0")
        .extension(&EXTENSION)
        .elicit_form(|_| async { Ok(mcp_runtime::declined()) });
    (client.connect(ours).await.expect("it connects"), store)
}

async fn begin(client: &ClientSession, tool: &str) -> TaskHandle {
    let called = client
        .peer()
        .call_tool_as_task(hub::CallToolRequestParams::new(tool))
        .await;
    match called.expect("it is called") {
        ToolAnswer::Task(task) => task,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_task_can_be_read_answered_and_cancelled_at_any_instance() {
    let redis = Redis::start().await;
    let ((one, _first), (other, _second)) = (instance(redis.url()).await, instance(redis.url()).await);
    let at_other = |task: &TaskHandle| TaskHandle::new(other.peer().clone(), task.id());
    let text =
        |result: hub::CallToolResult| serde_json::to_value(result).expect("it is JSON")["content"][0]["text"].clone();

    let built = begin(&one, "build").await;
    assert_eq!(text(at_other(&built).wait(|_| ()).await.expect("it is built")), "built");
    // The other instance elicits, and its client answers.
    let asks = begin(&one, "ask").await;
    assert_eq!(
        text(at_other(&asks).wait(|_| ()).await.expect("it is answered")),
        "decline"
    );
    let forever = begin(&one, "forever").await;
    at_other(&forever).cancel().await.expect("it is cancelled");
    assert!(matches!(
        forever.wait(|_| ()).await,
        Err(mcp_runtime::tasks::TaskError::Cancelled)
    ));
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_result_survives_its_instance_and_a_working_task_fails_with_it() {
    let redis = Redis::start().await;
    // Everything in this runtime ends with it, like the threads of a process that is killed.
    let killed = tokio::runtime::Runtime::new().expect("there are threads");
    let (one, first) = killed.spawn(instance(redis.url())).await.expect("it starts");
    let (other, _second) = instance(redis.url()).await;
    let at_other = |task: &TaskHandle| TaskHandle::new(other.peer().clone(), task.id());
    let (built, forever) = (begin(&one, "build").await, begin(&one, "forever").await);
    at_other(&built).wait(|_| ()).await.expect("it is built");
    assert!(matches!(
        at_other(&forever).state().await,
        Ok(GetTaskResult::Working(_))
    ));
    killed.shutdown_background();
    drop((one, first));
    let failed = loop {
        match at_other(&forever).state().await.expect("it is there") {
            GetTaskResult::Working(_) => sleep(Duration::from_millis(20)).await,
            other => break other,
        }
    };
    assert!(matches!(failed, GetTaskResult::Failed(_)), "{failed:?}");
    assert!(matches!(
        at_other(&built).state().await,
        Ok(GetTaskResult::Completed(_))
    ));
}
