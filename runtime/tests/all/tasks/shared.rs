//! Tasks that the instances of a server share, and tasks in a queue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_ext_tasks::{CancelTaskRequest, CancelTaskRequestParams, GetTaskResult, UpdateTaskRequest};
use mcp_runtime::router::{Call, State, ToolError, tool};
use mcp_runtime::tasks::{
    CallTasks, StoreFuture, TaskContext, TaskLimits, TaskMessage, TaskRecord, TaskStore, Tasks, ToolAnswer, ToolTask,
};
use mcp_runtime::{CallClient, CallError, ClientSession, Revision, Router, hub};
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use crate::common::PATIENCE;
use crate::tasks::in_core::{Json, with_tasks};
use crate::tasks::{ALICE, answer, begin, client, form, get, hub_client, refused, request, text, wait};

/// The state that all instances share: the tasks and the messages between instances, as JSON, and the instances that
/// are alive.
#[derive(Debug, Default)]
struct Database {
    tasks: Mutex<BTreeMap<String, String>>,
    alive: Mutex<BTreeSet<String>>,
    messages: Mutex<BTreeMap<String, Vec<String>>>,
    sent: Notify,
}

/// The store of one instance.
#[derive(Debug)]
struct Store {
    instance: &'static str,
    database: Arc<Database>,
}

impl Store {
    fn of(instance: &'static str, database: &Arc<Database>) -> Self {
        database.alive.lock().unwrap().insert(instance.to_owned());
        let database = Arc::clone(database);
        Self { instance, database }
    }
}

impl TaskStore for Store {
    fn instance(&self) -> &str {
        self.instance
    }

    fn is_alive<'a>(&'a self, instance: &'a str) -> StoreFuture<'a, bool> {
        let is_alive = self.database.alive.lock().unwrap().contains(instance);
        Box::pin(async move { Ok(is_alive) })
    }

    fn write<'a>(&'a self, task: &'a TaskRecord) -> StoreFuture<'a, ()> {
        let mut tasks = self.database.tasks.lock().unwrap();
        let kept = tasks
            .get(task.id())
            .map(|json| serde_json::from_str::<TaskRecord>(json).unwrap());
        if !kept.is_some_and(|kept| kept.has_ended()) {
            tasks.insert(task.id().to_owned(), serde_json::to_string(task).unwrap());
        }
        Box::pin(async { Ok(()) })
    }

    fn read<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TaskRecord>> {
        let json = self.database.tasks.lock().unwrap().get(id).cloned();
        Box::pin(async move { Ok(json.map(|json| serde_json::from_str(&json)).transpose()?) })
    }

    fn send<'a>(&'a self, instance: &'a str, message: &'a TaskMessage) -> StoreFuture<'a, ()> {
        let mut messages = self.database.messages.lock().unwrap();
        let inbox = messages.entry(instance.to_owned()).or_default();
        inbox.push(serde_json::to_string(message).unwrap());
        self.database.sent.notify_waiters();
        Box::pin(async { Ok(()) })
    }

    fn receive(&self) -> StoreFuture<'_, Vec<TaskMessage>> {
        Box::pin(async {
            loop {
                let sent = self.database.sent.notified();
                let taken = self.database.messages.lock().unwrap().remove(self.instance);
                if let Some(taken) = taken {
                    let messages = taken.iter().map(|json| serde_json::from_str(json));
                    return Ok(messages.collect::<Result<_, _>>()?);
                }
                sent.await;
            }
        })
    }
}

async fn ask(task: TaskContext) -> Result<String, CallError> {
    let answer = task.named("sure").elicit(form("Sure?")).await?;
    Ok(answer.action.as_str().to_owned())
}

/// An instance of a server whose tasks are in a store.
fn instance(store: Store) -> Router {
    let limits = TaskLimits {
        poll_interval: Duration::from_millis(20),
        ..TaskLimits::default()
    };
    Router::new("builds", "1.0")
        .extension(Tasks::with_store(limits, store))
        .with(tool("build", "Builds", || "built").task())
        .with(tool("forever", "Never ends", std::future::pending::<String>).task())
        .with(tool("ask", "Asks", ask).task())
}

async fn two() -> (Arc<Database>, ClientSession, ClientSession) {
    let database = Arc::default();
    let one = hub_client(&instance(Store::of("one", &database))).await;
    let other = hub_client(&instance(Store::of("other", &database))).await;
    (database, one, other)
}

#[tokio::test]
async fn an_error_response_sent_to_another_instance_reaches_the_function() {
    for revision in with_tasks() {
        let database = Arc::default();
        let mut one = Json::connect(&instance(Store::of("one", &database)), revision, ALICE).await;
        let mut other = Json::connect(&instance(Store::of("other", &database)), revision, ALICE).await;
        other.answer = json!({"error": {"code": -7, "message": "nobody is there"}});
        let task = one.begin("ask").await;
        let result = timeout(PATIENCE, other.of_task("tasks/result", &task)).await;
        let result = result.expect("the task ends").unwrap();
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains("-7: nobody is there"), "{result}");
    }
}

#[tokio::test]
async fn a_result_can_be_read_from_any_instance_even_after_its_own_is_gone() {
    let (database, one, other) = two().await;
    let task = begin(&one, "build").await.task_id;
    let done = |state: &GetTaskResult| matches!(state, GetTaskResult::Completed(_));
    for client in [&other, &one] {
        let GetTaskResult::Completed(done) = wait(client, &task, done).await else {
            panic!()
        };
        assert_eq!(text(&done.result.parse().unwrap()), "built");
    }
    database.alive.lock().unwrap().remove("one");
    assert!(done(&get(&other, &task).await.unwrap()));
}

#[tokio::test]
async fn input_responses_and_cancellations_reach_the_instance_that_runs_the_task() {
    let (_database, one, other) = two().await;
    let task = begin(&one, "ask").await.task_id;
    let asks = |state: &GetTaskResult| matches!(state, GetTaskResult::InputRequired(_));
    wait(&other, &task, asks).await;
    let params = answer(&task, "sure", "accept");
    request::<UpdateTaskRequest>(&other, &params).await.unwrap();
    let done = |state: &GetTaskResult| matches!(state, GetTaskResult::Completed(_));
    let GetTaskResult::Completed(done) = wait(&other, &task, done).await else {
        panic!()
    };
    assert_eq!(text(&done.result.parse().unwrap()), "accept");

    let task = begin(&one, "forever").await.task_id;
    let params = CancelTaskRequestParams::new(&task);
    request::<CancelTaskRequest>(&other, &params).await.unwrap();
    let cancelled = |state: &GetTaskResult| matches!(state, GetTaskResult::Cancelled(_));
    assert!(cancelled(&get(&other, &task).await.unwrap()));
    wait(&one, &task, cancelled).await;
}

#[tokio::test]
async fn a_task_whose_instance_is_gone_fails_even_if_that_instance_completes_it_later() {
    let (database, one, other) = two().await;
    let task = begin(&one, "ask").await.task_id;
    let asks = |state: &GetTaskResult| matches!(state, GetTaskResult::InputRequired(_));
    wait(&other, &task, asks).await;
    database.alive.lock().unwrap().remove("one");
    let GetTaskResult::Failed(failed) = get(&other, &task).await.unwrap() else {
        panic!()
    };
    assert!(failed.error.message.contains("gone"), "{}", failed.error.message);

    let params = answer(&task, "sure", "accept");
    request::<UpdateTaskRequest>(&one, &params).await.unwrap();
    // The instance learns that its task has failed when it writes the result.
    let has_failed = |state: &GetTaskResult| matches!(state, GetTaskResult::Failed(_));
    wait(&one, &task, has_failed).await;
    assert!(has_failed(&get(&other, &task).await.unwrap()));
}

#[tokio::test]
async fn a_task_is_unknown_to_other_principals_at_another_instance() {
    let database = Arc::default();
    let one = hub_client(&instance(Store::of("one", &database))).await;
    let router = instance(Store::of("other", &database));
    let bob = client(&router, Revision::HUB, true, Some("bob")).await;
    let task = begin(&one, "forever").await.task_id;
    assert_eq!(refused(get(&bob, &task).await), refused(get(&bob, "0").await));
    let params = CancelTaskRequestParams::new(&task);
    refused(request::<CancelTaskRequest>(&bob, &params).await);
    assert!(matches!(get(&one, &task).await, Ok(GetTaskResult::Working(_))));
}

/// The program's own queue of task ids.
type Queue = mpsc::UnboundedSender<String>;

async fn enqueue(
    State(tasks): State<Tasks>,
    State(queue): State<Queue>,
    call: Call,
) -> Result<hub::AnyCallToolResult, ToolError> {
    let (answer, id) = tasks.enqueue(&call).await?;
    queue.send(id).map_err(ToolError::tool)?;
    Ok(answer)
}

async fn done() -> Result<hub::CallToolResult, ToolError> {
    Ok(hub::CallToolResult::new(vec![hub::TextContent::new("done").into()]))
}

#[tokio::test]
async fn a_queued_task_is_completed_by_another_worker_when_the_first_one_dies() {
    let database = Arc::default();
    let (queue, mut waiting) = mpsc::unbounded_channel::<String>();
    let tasks = Tasks::with_store(TaskLimits::default(), Store::of("front", &database));
    let router = Router::new("jobs", "1.0")
        .extension(tasks)
        .with_state(queue)
        .with(tool("job", "Does a job", enqueue).spawns_task());
    let client = client(&router, Revision::HUB, true, ALICE).await;
    let peer = client.peer();
    let ToolAnswer::Task(task) = peer
        .call_tool_as_task(hub::CallToolRequestParams::new("job"))
        .await
        .unwrap()
    else {
        panic!("a result instead of a task")
    };
    let id = waiting.recv().await.unwrap();
    assert_eq!(task.id(), id);

    // A worker takes the task, and dies before it is done.
    let worker = Tasks::with_store(TaskLimits::default(), Store::of("worker 1", &database));
    let work = worker.clone();
    let (taken, first) = (Arc::new(Notify::new()), id.clone());
    let takes = Arc::clone(&taken);
    let working = tokio::spawn(async move {
        let work = work.resume(&first, |_| async move {
            takes.notify_one();
            std::future::pending().await
        });
        work.await
    });
    taken.notified().await;
    database.alive.lock().unwrap().remove("worker 1");
    working.abort();
    assert!(matches!(task.state().await, Ok(GetTaskResult::Working(_))));

    // Another worker completes it.
    let other = Tasks::with_store(TaskLimits::default(), Store::of("worker 2", &database));
    other.resume(&id, |_| done()).await.unwrap();
    let GetTaskResult::Completed(done_by) = task.state().await.unwrap() else {
        panic!("it isn't done")
    };
    assert_eq!(text(&done_by.result.parse().unwrap()), "done");
    assert!(other.resume(&id, |_| done()).await.is_err(), "it has ended");
}

#[tokio::test]
async fn a_task_cancelled_in_the_queue_is_not_run() {
    let (queue, mut waiting) = mpsc::unbounded_channel::<String>();
    let tasks = Tasks::new(TaskLimits::default());
    let router = Router::new("jobs", "1.0")
        .extension(tasks.clone())
        .with_state(queue)
        .with(tool("job", "Does a job", enqueue).spawns_task());
    let client = client(&router, Revision::HUB, true, ALICE).await;
    for is_cancelled in [true, false] {
        let answer = client
            .peer()
            .call_tool_as_task(hub::CallToolRequestParams::new("job"))
            .await
            .unwrap();
        let ToolAnswer::Task(task) = answer else {
            panic!("a result instead of a task")
        };
        let id = waiting.recv().await.unwrap();
        if is_cancelled {
            task.cancel().await.unwrap();
            assert!(tasks.resume(&id, |_| done()).await.is_err());
        } else {
            tasks.resume(&id, |_| done()).await.unwrap();
            assert!(matches!(task.state().await, Ok(GetTaskResult::Completed(_))));
        }
    }
}
