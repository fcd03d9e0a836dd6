//! A bridge between clients and servers of which one side has tasks in the core of its revision, and the other has the
//! tasks extension.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_ext_tasks::{EXTENSION, GetTaskResult};
use mcp_runtime::bridge::{Bridge, BridgeOptions};
use mcp_runtime::router::tool;
use mcp_runtime::tasks::{CallTasks, TaskContext, TaskError, Tasks, ToolAnswer, ToolTask};
use mcp_runtime::transport::{
    ChannelReceiver, ChannelSender, ChannelTransport, Outgoing, Sender, Transport, TransportError, channel,
};
use mcp_runtime::{CallClient, CallError, Client, ClientSession, Options, Revision, Router, error_code, hub};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::common::PATIENCE;
use crate::tasks::in_core::{Json, with_tasks};
use crate::tasks::{asked, begin, example, form, get, limits, refused, server, text, wait};

fn options_of(supported: &[Revision]) -> Options {
    Options {
        supported: supported.into(),
        ..Options::default()
    }
}

fn bridge(router: &Router, revisions: &[Revision], options: BridgeOptions) -> Bridge {
    let (router, options_of_server) = (router.clone(), options_of(revisions));
    let connector = move || {
        let (server, client) = channel(16);
        drop(router.clone().serve(options_of_server.clone(), server));
        Ok(client)
    };
    Bridge::new(connector, options)
}

fn connect_to(bridge: &Bridge, principal: Option<&str>) -> ChannelTransport {
    let (clients, ours) = channel(16);
    let (bridge, principal) = (bridge.clone(), principal.map(str::to_owned));
    tokio::spawn(async move { bridge.serve_for(principal, clients).await });
    ours
}

/// Returns a client's end of a bridge to a server that supports these revisions.
pub fn bridged(router: &Router, revisions: &[Revision]) -> ChannelTransport {
    connect_to(&bridge(router, revisions, BridgeOptions::default()), None)
}

/// Connects a client of the hub revision that declares the extension and answers elicitations.
async fn hub_client(transport: ChannelTransport) -> ClientSession {
    let client = asked().options(options_of(&[Revision::HUB]));
    client.connect(transport).await.unwrap()
}

/// Increments its counter when it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A router with a tool that never ends; `dropped` counts the calls of it that were dropped.
fn counting(dropped: &Arc<AtomicUsize>) -> Router {
    let dropped = Arc::clone(dropped);
    let forever = move || {
        let counted = Counted(Arc::clone(&dropped));
        async move {
            std::future::pending::<()>().await;
            drop(counted);
            String::new()
        }
    };
    let router = Router::new("count", "1.0").extension(Tasks::new(limits()));
    router.with(tool("forever", "Never ends", forever).task())
}

async fn until(condition: impl Fn() -> bool) {
    let met = async {
        while !condition() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, met).await.expect("the condition holds in time");
}

/// A connection that fails to send the first `tasks/update` requests, as many as its counter holds.
struct Lossy(ChannelTransport, Arc<AtomicUsize>);

struct LossySender(ChannelSender, Arc<AtomicUsize>);

impl Transport for Lossy {
    type Sender = LossySender;
    type Receiver = ChannelReceiver;

    fn split(self) -> (LossySender, ChannelReceiver) {
        let (sender, receiver) = self.0.split();
        (LossySender(sender, self.1), receiver)
    }
}

impl Sender for LossySender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        let is_update = String::from_utf8_lossy(&message.json).contains("\"tasks/update\"");
        let lose = |left: usize| left.checked_sub(1);
        if is_update && self.1.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lose).is_ok() {
            return Err(TransportError::Other("the network is gone".into()));
        }
        self.0.send(message).await
    }

    async fn close(&self) {
        self.0.close().await;
    }
}

#[tokio::test]
async fn an_error_response_to_an_input_request_fails_the_task_on_both_sides() {
    for revision in with_tasks() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&dropped);
        let ask = move |task: TaskContext| {
            let counted = Counted(Arc::clone(&counted));
            async move {
                let answer = task.elicit(form("Sure?")).await;
                drop(counted);
                answer.map(|answer| answer.action.as_str().to_owned())
            }
        };
        let router = Router::new("ask", "1.0").extension(Tasks::new(limits()));
        let router = router.with(tool("sure", "Asks once", ask).task());
        let mut old = Json::connect_over(bridged(&router, &[Revision::HUB]), revision).await;
        old.answer = json!({"error": {"code": -7, "message": "nobody is there"}});
        let task = old.begin("sure").await;
        let failed = timeout(PATIENCE, old.of_task("tasks/result", &task)).await;
        let failed = failed.expect("the task ends").unwrap_err();
        assert_eq!(failed, json!({"code": -7, "message": "nobody is there"}));
        assert_eq!(old.of_task("tasks/get", &task).await.unwrap()["status"], "failed");
        until(|| dropped.load(Ordering::SeqCst) == 1).await;
        assert_eq!(old.asked.len(), 1, "{:?}", old.asked);
    }
}

#[tokio::test]
async fn a_tasks_update_that_fails_to_send_is_retried_a_limited_number_of_times() {
    // An update that fails to send every time fails the task.
    for (lost, is_answered) in [(2, true), (100, false)] {
        for revision in with_tasks() {
            let (router, left) = (server(limits()), Arc::new(AtomicUsize::new(lost)));
            let connector = move || {
                let (server, client) = channel(16);
                drop(router.clone().serve(options_of(&[Revision::HUB]), server));
                Ok(Lossy(client, Arc::clone(&left)))
            };
            let transport = connect_to(&Bridge::new(connector, BridgeOptions::default()), None);
            let mut old = Json::connect_over(transport, revision).await;
            let task = old.begin("ask").await;
            let result = timeout(PATIENCE, old.of_task("tasks/result", &task)).await;
            let result = result.expect("the task ends");
            match is_answered {
                true => assert_eq!(text(&result.expect("it is answered")), "accept and accept"),
                false => assert!(
                    result
                        .expect_err("it fails")
                        .to_string()
                        .contains("the network is gone")
                ),
            }
            assert_eq!(old.asked.len(), 2, "each input is requested once: {:?}", old.asked);
        }
    }
}

#[tokio::test]
async fn a_client_with_core_tasks_uses_tasks_of_a_server_with_the_extension() {
    for revision in with_tasks() {
        let mut old = Json::connect_over(bridged(&server(limits()), &[Revision::HUB]), revision).await;
        assert!(
            old.capabilities["tasks"]["requests"]["tools"]["call"].is_object(),
            "{}",
            old.capabilities
        );
        let tools = old.call("tools/list", json!({})).await.unwrap();
        let of = |name: &str| {
            let tool = tools["tools"]
                .as_array()
                .unwrap()
                .iter()
                .find(|tool| tool["name"] == name);
            tool.unwrap()["execution"]["taskSupport"].clone()
        };
        assert_eq!(
            (of("build"), of("only"), of("plain")),
            (json!("optional"), json!("required"), json!("optional"))
        );

        let task = old.begin("build").await;
        assert_eq!(
            (&task["status"], &task["ttl"], &task["pollInterval"]),
            (&json!("working"), &json!(60_000), &json!(20))
        );
        let result = old.of_task("tasks/result", &task).await.unwrap();
        assert_eq!(text(&result), "built");
        assert_eq!(
            result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"],
            task["taskId"]
        );
        let state = old.of_task("tasks/get", &task).await.unwrap();
        assert_eq!(
            (&state["status"], state.get("statusMessage")),
            (&json!("completed"), None)
        );
        let listed = old.call("tasks/list", json!({})).await.unwrap();
        assert_eq!(listed["tasks"][0]["taskId"], task["taskId"]);
        // The error of a failed task is the error of `tasks/result`.
        let refuses = old.begin("refuse").await;
        assert_eq!(old.of_task("tasks/result", &refuses).await.unwrap_err()["code"], -1);
        let fails = old.begin("fail").await;
        assert_eq!(old.of_task("tasks/result", &fails).await.unwrap()["isError"], true);
        let state = old.of_task("tasks/get", &fails).await.unwrap();
        assert_eq!(
            (&state["status"], &state["statusMessage"]),
            (&json!("failed"), &json!("no"))
        );
        let only = old.begin("only").await;
        assert_eq!(text(&old.of_task("tasks/result", &only).await.unwrap()), "done");
        let plain = old
            .call("tools/call", json!({"name": "build", "arguments": {}}))
            .await
            .unwrap();
        assert_eq!(text(&plain), "built");
        let unknown = old
            .call("tools/call", json!({"name": "none", "task": {}}))
            .await
            .unwrap_err();
        assert_eq!(unknown["code"], error_code::INVALID_PARAMS);
    }
}

#[tokio::test]
async fn a_completed_extension_task_whose_result_has_no_result_type_completes_the_core_task() {
    for revision in with_tasks() {
        let mut old = Json::connect_over(bridged(&example(), &[Revision::HUB]), revision).await;
        let task = old.begin("hello").await;
        assert_eq!(text(&old.of_task("tasks/result", &task).await.unwrap()), "Hello, Luca!");
        assert_eq!(old.of_task("tasks/get", &task).await.unwrap()["status"], "completed");
    }
}

#[tokio::test]
async fn an_immediate_result_becomes_a_task_if_the_client_requests_one() {
    let router = Router::new("quick", "1.0")
        .extension(Tasks::default())
        .tool("ping", "Answers", || "pong");
    for revision in with_tasks() {
        let mut old = Json::connect_over(bridged(&router, &[Revision::HUB]), revision).await;
        let task = old.begin("ping").await;
        assert_eq!(text(&old.of_task("tasks/result", &task).await.unwrap()), "pong");
    }
}

#[tokio::test]
async fn input_requests_of_an_extension_task_arrive_during_tasks_result() {
    for revision in with_tasks() {
        let mut old = Json::connect_over(bridged(&server(limits()), &[Revision::HUB]), revision).await;
        let task = old.begin("ask").await;
        let result = old.of_task("tasks/result", &task).await.unwrap();
        assert_eq!(text(&result), "accept and accept");
        assert_eq!(old.asked.len(), 2, "{:?}", old.asked);
        for question in &old.asked {
            let related = &question["params"]["_meta"]["io.modelcontextprotocol/related-task"];
            assert_eq!(related["taskId"], task["taskId"]);
        }
    }
}

#[tokio::test]
async fn a_client_with_the_extension_uses_tasks_of_a_server_with_core_tasks() {
    for revision in with_tasks() {
        let client = hub_client(bridged(&server(limits()), &[revision])).await;
        let declared = client.peer().info().unwrap().server_capabilities().extensions.unwrap();
        assert!(declared.contains_key(EXTENSION.id));
        let tools = client.list_tools().await.unwrap();
        assert!(tools.iter().any(|tool| tool.name == "only"), "{tools:?}");

        let task = begin(&client, "build").await;
        assert_eq!(task.poll_interval_ms, Some(20));
        let done = wait(&client, &task.task_id, |state| {
            matches!(state, GetTaskResult::Completed(_))
        })
        .await;
        let GetTaskResult::Completed(done) = done else {
            panic!("{done:?}")
        };
        let result: Value = done.result.parse().unwrap();
        assert_eq!((text(&result), result.get("_meta")), ("built", None));
        assert_eq!(done.status_message, None);
        for (tool, expected) in [("only", "done"), ("ask", "accept and decline")] {
            let call = client.peer().call_tool_to_end(hub::CallToolRequestParams::new(tool));
            let result = serde_json::to_value(timeout(PATIENCE, call).await.unwrap().unwrap()).unwrap();
            assert_eq!(text(&result), expected);
        }
        let failed = client
            .peer()
            .call_tool_to_end(hub::CallToolRequestParams::new("refuse"))
            .await;
        assert!(
            matches!(&failed, Err(TaskError::Failed(error)) if error.code == -1),
            "{failed:?}"
        );
        let failed = client
            .peer()
            .call_tool_to_end(hub::CallToolRequestParams::new("fail"))
            .await
            .unwrap();
        assert_eq!(failed.is_error, Some(true));
    }
}

#[tokio::test]
async fn a_client_without_the_extension_gets_plain_results_and_no_task_only_tools() {
    for revision in with_tasks() {
        let client = Client::new("test", "1.0").options(options_of(&[Revision::HUB]));
        let client = client.connect(bridged(&server(limits()), &[revision])).await.unwrap();
        assert!(
            client
                .list_tools()
                .await
                .unwrap()
                .iter()
                .all(|tool| tool.name != "only")
        );
        let result = client.call_tool("build", json!({})).await.unwrap();
        assert_eq!(text(&serde_json::to_value(result).unwrap()), "built");
        let get = client.peer().call_method::<Value>("tasks/get", json!({"taskId": "a"}));
        match get.await {
            Err(CallError::Peer(error)) => assert_eq!(error.code, -32021, "{error:?}"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn cancelling_a_task_stops_it_on_the_server_in_both_directions() {
    for revision in with_tasks() {
        let dropped = Arc::default();
        let mut old = Json::connect_over(bridged(&counting(&dropped), &[Revision::HUB]), revision).await;
        let task = old.begin("forever").await;
        assert_eq!(old.of_task("tasks/cancel", &task).await.unwrap()["status"], "cancelled");
        until(|| dropped.load(Ordering::SeqCst) == 1).await;
        let again = old.of_task("tasks/cancel", &task).await.unwrap_err();
        assert_eq!(again["code"], error_code::INVALID_PARAMS);

        let client = hub_client(bridged(&counting(&dropped), &[revision])).await;
        let call = client
            .peer()
            .call_tool_as_task(hub::CallToolRequestParams::new("forever"));
        let ToolAnswer::Task(task) = call.await.unwrap() else {
            panic!("it isn't a task")
        };
        task.cancel().await.unwrap();
        until(|| dropped.load(Ordering::SeqCst) == 2).await;
        assert!(matches!(task.state().await.unwrap(), GetTaskResult::Cancelled(_)));
    }
}

#[tokio::test]
async fn a_task_is_hidden_from_other_clients_but_not_from_its_principal() {
    for revision in with_tasks() {
        let (router, options) = (server(limits()), BridgeOptions::default());
        let extension = bridge(&router, &[Revision::HUB], options.clone());
        let mut alice = Json::connect_over(connect_to(&extension, Some("alice")), revision).await;
        let task = alice.begin("forever").await;
        for other in [Some("bob"), None] {
            let mut other = Json::connect_over(connect_to(&extension, other), revision).await;
            for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
                let hidden = other.of_task(method, &task).await.unwrap_err();
                let unknown = other.call(method, json!({"taskId": "0"})).await.unwrap_err();
                assert_eq!(hidden, unknown);
            }
            assert_eq!(other.call("tasks/list", json!({})).await.unwrap()["tasks"], json!([]));
        }
        let mut again = Json::connect_over(connect_to(&extension, Some("alice")), revision).await;
        assert_eq!(again.of_task("tasks/get", &task).await.unwrap()["status"], "working");

        let core = bridge(&router, &[revision], options);
        let alice = hub_client(connect_to(&core, Some("alice"))).await;
        let task = begin(&alice, "forever").await;
        for other in [Some("bob"), None] {
            let other = hub_client(connect_to(&core, other)).await;
            assert_eq!(
                refused(get(&other, &task.task_id).await).code,
                error_code::INVALID_PARAMS
            );
        }
        alice.close().await;
        let again = hub_client(connect_to(&core, Some("alice"))).await;
        assert!(matches!(
            get(&again, &task.task_id).await,
            Ok(GetTaskResult::Working(_))
        ));
    }
}

#[tokio::test]
async fn a_task_fails_when_the_session_with_its_server_ends() {
    for revision in with_tasks() {
        for (of_server, is_core) in [(Revision::HUB, true), (revision, false)] {
            let router = server(limits());
            let (stop, connection) = (tokio_util::sync::CancellationToken::new(), options_of(&[of_server]));
            let stopped = stop.clone();
            let connector = move || {
                let (theirs, ours) = channel(16);
                let session = router.clone().serve(connection.clone(), theirs);
                let stopped = stopped.clone();
                tokio::spawn(async move {
                    stopped.cancelled().await;
                    session.close().await;
                });
                Ok(ours)
            };
            let options = BridgeOptions {
                restart: true,
                ..BridgeOptions::default()
            };
            let transport = connect_to(&Bridge::new(connector, options), None);
            if is_core {
                let mut old = Json::connect_over(transport, revision).await;
                let task = old.begin("forever").await;
                stop.cancel();
                let failed = timeout(PATIENCE, old.of_task("tasks/result", &task)).await.unwrap();
                assert_eq!(failed.unwrap_err()["code"], error_code::INTERNAL_ERROR);
            } else {
                let client = hub_client(transport).await;
                let task = begin(&client, "forever").await;
                stop.cancel();
                let is_failed = |state: &GetTaskResult| matches!(state, GetTaskResult::Failed(_));
                let failed = timeout(PATIENCE, wait(&client, &task.task_id, is_failed)).await;
                assert!(failed.is_ok());
            }
        }
    }
}

#[tokio::test]
async fn each_client_has_a_share_of_the_tasks_and_ended_tasks_are_evicted_first() {
    for revision in with_tasks() {
        let options = BridgeOptions {
            tasks: 16,
            ..BridgeOptions::default()
        };
        let bridge = bridge(&server(limits()), &[Revision::HUB], options);
        let mut old = Json::connect_over(connect_to(&bridge, None), revision).await;
        let ended = old.begin("build").await;
        old.of_task("tasks/result", &ended).await.unwrap();
        old.begin("forever").await;
        let forever = old.begin("forever").await;
        assert_eq!(
            old.of_task("tasks/get", &ended).await.unwrap_err()["code"],
            error_code::INVALID_PARAMS
        );
        let params = json!({"name": "forever", "arguments": {}, "task": {}});
        let refused = old.call("tools/call", params).await.unwrap_err();
        assert_eq!(refused["message"], "the client has as many tasks as it may have");
        let mut other = Json::connect_over(connect_to(&bridge, None), revision).await;
        other.begin("forever").await;
        old.of_task("tasks/cancel", &forever).await.unwrap();
        old.begin("forever").await;
    }
}

#[tokio::test]
async fn a_task_that_elicits_from_a_client_without_elicitation_fails() {
    for revision in with_tasks() {
        let client = Client::new("test", "1.0").extension(&EXTENSION);
        let client = client.options(options_of(&[Revision::HUB]));
        let client = client.connect(bridged(&server(limits()), &[revision])).await.unwrap();
        let call = client.peer().call_tool_to_end(hub::CallToolRequestParams::new("ask"));
        let failed = timeout(PATIENCE, call).await.unwrap().unwrap();
        let failed = serde_json::to_value(&failed).unwrap();
        assert!(
            failed["isError"] == true && text(&failed).contains("elicitation"),
            "{failed}"
        );
    }
}

#[tokio::test]
async fn running_a_task_across_the_bridge_reports_no_losses() {
    for revision in with_tasks() {
        let lost = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lost);
        let options = BridgeOptions {
            losses: Some(Arc::new(move |method, losses| {
                let told = losses.iter().map(|loss| format!("{method} {}", loss.path));
                kept.lock().unwrap().extend(told);
            })),
            ..BridgeOptions::default()
        };
        let extension = bridge(&server(limits()), &[Revision::HUB], options);
        let mut old = Json::connect_over(connect_to(&extension, None), revision).await;
        let task = old.begin("build").await;
        old.of_task("tasks/result", &task).await.unwrap();
        assert_eq!(*lost.lock().unwrap(), [""; 0]);
    }
}
