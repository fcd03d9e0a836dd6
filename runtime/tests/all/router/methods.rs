//! Methods that only one revision has.

use mcp_adapters::mcp_wire::{RawJson, UnknownMethod};
use mcp_adapters::v2025_11_25::{self, Task, TaskStatus};
use mcp_runtime::router::{Call, RouteError};
use mcp_runtime::transport::{ChannelReceiver, ChannelSender, Outgoing, Purpose, Sender, Transport, channel};
use mcp_runtime::{Args, CallError, ErrorObject, Options, Revision, Router, State, error_code};
use serde_json::{Value, json};

use super::client_in;

const REVISION: Revision = Revision::V2025_11_25;
const BEGUN: &str = "2026-07-28T12:00:00Z";

/// The id of the only build.
#[derive(Clone)]
struct Due(&'static str);

fn builds() -> Router {
    Router::new("builds", "1.0")
        .with_state(Due("build-1"))
        .method(
            |request: v2025_11_25::GetTaskRequest, call: Call, State(Due(id))| async move {
                if request.params.task_id != id {
                    let reason = format!("{} isn't a task", request.params.task_id);
                    return Err(ErrorObject::new(error_code::INVALID_PARAMS, reason));
                }
                assert_eq!(call.revision(), Some(REVISION));
                let (begun, status) = (BEGUN, TaskStatus::Working);
                Ok(v2025_11_25::GetTaskResult::new(
                    begun,
                    begun,
                    status,
                    "build-1",
                    Some(1000),
                ))
            },
        )
        .method(|_: v2025_11_25::ListTasksRequest| {
            let task = Task::new(BEGUN, BEGUN, TaskStatus::Working, "build-1", None);
            Ok::<_, String>(v2025_11_25::ListTasksResult::new(vec![task]))
        })
}

fn get(id: &str) -> v2025_11_25::GetTaskRequest {
    v2025_11_25::GetTaskRequest::new(v2025_11_25::GetTaskRequestParams::new(id))
}

fn code(answer: Result<impl std::fmt::Debug, CallError>) -> i64 {
    match answer {
        Err(CallError::Peer(error)) => error.code,
        answer => panic!("{answer:?}"),
    }
}

#[tokio::test]
async fn a_client_of_the_revision_calls_a_method_that_only_this_revision_has() {
    let (client, _heard) = client_in(REVISION, &builds()).await;
    let peer = client.peer();
    let task = peer.call_custom(get("build-1")).await.unwrap();
    assert_eq!((task.status, task.ttl), (TaskStatus::Working, Some(1000)));
    let listed = peer
        .call_custom(v2025_11_25::ListTasksRequest::default())
        .await
        .unwrap();
    assert_eq!(listed.tasks[0].task_id, "build-1");

    assert_eq!(code(peer.call_custom(get("build-2")).await), error_code::INVALID_PARAMS);
    let unreadable = UnknownMethod::new("tasks/get").with_params(RawJson::from(json!({"taskId": 1})));
    assert_eq!(code(peer.call_unknown(unreadable).await), error_code::INVALID_PARAMS);
    let missing = UnknownMethod::new("tasks/cancel").with_params(RawJson::from(json!({"taskId": "build-1"})));
    assert_eq!(code(peer.call_unknown(missing).await), error_code::METHOD_NOT_FOUND);
}

#[tokio::test]
async fn a_method_of_one_revision_is_not_found_in_any_other() {
    for revision in Revision::ALL.into_iter().filter(|revision| *revision != REVISION) {
        let (client, _heard) = client_in(revision, &builds()).await;
        let answer = client.peer().call_custom(get("build-1")).await;
        assert_eq!(code(answer), error_code::METHOD_NOT_FOUND, "{revision}");
    }
    let (client, _heard) = client_in(REVISION, &Router::new("none", "1.0")).await;
    let answer = client.peer().call_custom(get("build-1")).await;
    assert_eq!(code(answer), error_code::METHOD_NOT_FOUND);
}

/// Returns a server's response to the first request of a client.
async fn first_answer(router: Router, request: Value) -> Value {
    let (ours, theirs) = channel(16);
    let options = Options {
        supported: Revision::ALL.into(),
        ..Options::default()
    };
    router.serve(options, theirs);
    let (sender, mut receiver): (ChannelSender, ChannelReceiver) = ours.split();
    let message = Outgoing {
        json: request.to_string().into_bytes(),
        purpose: Purpose::Unsolicited,
    };
    sender.send(message).await.expect("it is read");
    let answer = receiver.receive_outgoing().await.expect("there is an answer");
    serde_json::from_slice(&answer.json).expect("it is JSON")
}

#[tokio::test]
async fn the_capability_is_declared_only_to_clients_of_the_revision() {
    for revision in Revision::ALL {
        let request = match revision.facts().initializes {
            true => json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": revision.as_str(),
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1.0"},
            }}),
            false => json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
                "io.modelcontextprotocol/protocolVersion": revision.as_str(),
                "io.modelcontextprotocol/clientCapabilities": {},
            }}}),
        };
        let declared = |router: Router| {
            let answer = first_answer(router, request.clone());
            async move { answer.await["result"]["capabilities"].clone() }
        };
        let tasks = match revision == REVISION {
            true => json!({"list": {}}),
            false => Value::Null,
        };
        let capabilities = declared(builds()).await;
        assert_eq!(capabilities["tasks"], tasks, "{revision}");
        assert_eq!(
            capabilities["logging"].is_object(),
            declared(Router::new("logs", "1.0").tool("logs", "Logs", |_: Call| "")).await["logging"].is_object()
        );
        assert_eq!(declared(Router::new("none", "1.0")).await["tasks"], Value::Null);
    }
}

#[test]
fn methods_that_a_function_cannot_answer_are_refused_at_registration() {
    let refused = |refused: Result<Router, RouteError>| refused.unwrap_err().to_string();
    let router = || Router::new("test", "1.0");
    let of_hub = router()
        .try_method(|_: v2025_11_25::ListToolsRequest| Ok::<_, String>(v2025_11_25::ListToolsResult::new(vec![])));
    assert_eq!(
        refused(of_hub),
        "a function can't answer tools/list for clients of revision 2025-11-25: \
         the handlers for clients of every revision answer it"
    );
    let internal = router().try_method(|_: v2025_11_25::PingRequest| Ok::<_, String>(Default::default()));
    assert!(refused(internal).ends_with("sessions answer it themselves"));
    let not_called = router()
        .try_method(|_: v2025_11_25::ListRootsRequest| Ok::<_, String>(v2025_11_25::ListRootsResult::new(vec![])));
    assert!(refused(not_called).ends_with("clients of the revision don't call it"));
    let needs_state =
        |_: v2025_11_25::ListTasksRequest, _: State<Due>| Ok::<_, String>(v2025_11_25::ListTasksResult::new(vec![]));
    let no_state = refused(router().try_method(needs_state));
    assert!(
        no_state.starts_with("the method `tasks/list` takes `State<"),
        "{no_state}"
    );
    let takes_args =
        |_: v2025_11_25::ListTasksRequest, _: Args<Value>| Ok::<_, String>(v2025_11_25::ListTasksResult::new(vec![]));
    let misplaced = refused(router().try_method(takes_args));
    assert!(
        misplaced.starts_with("the method `tasks/list` takes `Args`"),
        "{misplaced}"
    );
    let twice = builds()
        .try_method(|_: v2025_11_25::ListTasksRequest| Ok::<_, String>(v2025_11_25::ListTasksResult::new(vec![])));
    assert_eq!(
        twice.unwrap_err(),
        RouteError::Duplicate {
            kind: "method",
            key: "tasks/list".to_owned()
        }
    );
}
