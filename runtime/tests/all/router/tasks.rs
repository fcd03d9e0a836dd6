//! Results of tools that the hub doesn't declare, such as tasks, and methods that no revision declares.

use mcp_adapters::mcp_wire::{RawJson, RawObject, UnknownMethod};
use mcp_adapters::v2025_11_25::{self, CreateTaskResult, Task, TaskStatus};
use mcp_runtime::router::{Call, RouteError};
use mcp_runtime::{Args, CallError, CallServer, Revision, Router, error_code, hub};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{call, client_in, refused, text};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

#[derive(Deserialize, JsonSchema)]
struct TaskId {
    #[serde(rename = "taskId")]
    id: String,
}

fn created() -> RawJson {
    let begun = "2026-07-28T12:00:00Z";
    let task = Task::new(begun, begun, TaskStatus::Working, "build-1", Some(1000));
    RawJson::from_encode(&CreateTaskResult::new(task)).expect("a task can be encoded")
}

/// Builds immediately, unless the client requests a task.
fn build(call: Call) -> hub::AnyCallToolResult {
    let params = call.original_params().and_then(|params| {
        let params = RawJson::from(params.clone());
        params.decode_as::<v2025_11_25::CallToolRequestParams>().ok()
    });
    match params.and_then(|params| params.task) {
        Some(task) => {
            assert_eq!(task.ttl, Some(1000));
            hub::AnyCallToolResult::Unknown(created())
        }
        None => hub::CallToolResult::new(vec![hub::TextContent::new("built").into()]).into(),
    }
}

/// Always returns a task of the extension.
fn extended() -> hub::AnyCallToolResult {
    hub::AnyCallToolResult::Unknown(json!({"resultType": "task", "taskId": "build-1", "status": "working"}).into())
}

fn builds() -> Router {
    let extensions = [(EXTENSION.to_owned(), RawObject::default())];
    let capabilities = hub::ServerCapabilities::default().with_extensions(extensions.into_iter().collect());
    Router::new("builds", "1.0")
        .with_capabilities(capabilities)
        .tool("build", "Builds", build)
        .tool("extended", "Builds by an extension", extended)
        .tool("wrong", "Gives a task to everybody", || {
            hub::AnyCallToolResult::Unknown(created())
        })
        .custom_method("tasks/get", |Args(task): Args<TaskId>| async move {
            json!({"resultType": "complete", "taskId": task.id, "status": "completed"})
        })
}

/// A call that requests a task.
fn augmented() -> hub::ClientRequest {
    let mut params = call("build", json!({}));
    params.extra.insert("task", json!({"ttl": 1000}));
    hub::CallToolRequest::new(params).into()
}

#[tokio::test]
async fn a_client_of_the_revision_with_tasks_gets_the_task_it_requests() {
    let (client, _heard) = client_in(Revision::V2025_11_25, &builds()).await;
    match client.peer().call(augmented()).await.unwrap() {
        hub::ServerResult::Unknown(task) => {
            let task: CreateTaskResult = task.decode_as().unwrap();
            assert_eq!(task.task.task_id, "build-1");
        }
        other => panic!("{other:?}"),
    }
    let only_plain = client.peer().request(augmented()).await.unwrap_err();
    let message = "the answer isn't a result of the method: it is of a kind that only revision 2025-11-25 has";
    assert_eq!(only_plain.to_string(), message);
    let result = client.peer().call_tool(call("build", json!({}))).await.unwrap();
    assert_eq!(text(&result), "built");
}

#[tokio::test]
async fn a_task_requested_in_another_revision_is_ignored() {
    for revision in Revision::ALL.into_iter().filter(|it| *it != Revision::V2025_11_25) {
        let (client, _heard) = client_in(revision, &builds()).await;
        match client.peer().call(augmented()).await.unwrap() {
            hub::ServerResult::CallTool(result) => assert_eq!(text(&result), "built", "{revision}"),
            other => panic!("{revision}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_result_that_the_clients_revision_does_not_define_is_an_internal_error() {
    for revision in Revision::ALL {
        let (client, _heard) = client_in(revision, &builds()).await;
        let wrong = match revision == Revision::V2025_11_25 {
            true => "extended",
            false => "wrong",
        };
        let error = refused(client.peer().call_tool(call(wrong, json!({}))).await);
        assert_eq!(error.code, error_code::INTERNAL_ERROR);
        assert!(error.message.contains(revision.as_str()), "{}", error.message);
    }
}

#[tokio::test]
async fn a_task_result_of_an_extension_is_passed_through_unchanged() {
    let (client, _heard) = client_in(Revision::HUB, &builds()).await;
    let peer = client.peer();
    let declared = peer.info().unwrap().server_capabilities();
    assert!(declared.extensions.unwrap().contains_key(EXTENSION));

    let request = hub::CallToolRequest::new(call("extended", json!({}))).into();
    match peer.call(request).await.unwrap() {
        hub::ServerResult::Unknown(task) => {
            assert_eq!(task.get("resultType"), Some(json!("task").into()));
            assert_eq!(task.get("taskId"), Some(json!("build-1").into()));
        }
        other => panic!("{other:?}"),
    }
    match peer.call_tool(call("extended", json!({}))).await {
        Err(CallError::InvalidResult(reason)) => assert!(reason.contains("task"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_custom_method_takes_extractors_and_returns_json() {
    for revision in Revision::ALL {
        let (client, _heard) = client_in(revision, &builds()).await;
        let request = |params: Value| {
            let request = UnknownMethod::new("tasks/get").with_params(RawJson::from(params));
            client.peer().call_unknown(request)
        };
        let answer = request(json!({"taskId": "build-1"})).await;
        if revision == Revision::V2025_11_25 {
            // This revision declares its own method of this name, which isn't the custom one.
            assert!(
                matches!(answer, Err(CallError::Peer(_) | CallError::NotOffered { .. })),
                "{answer:?}"
            );
            continue;
        }
        let answer: Value = answer.unwrap().parse().unwrap();
        assert_eq!(
            (&answer["taskId"], &answer["status"]),
            (&json!("build-1"), &json!("completed"))
        );
        assert_eq!(
            refused(request(json!({"taskId": 1})).await).code,
            error_code::INVALID_PARAMS
        );
        assert_eq!(refused(request(json!({})).await).code, error_code::INVALID_PARAMS);
    }
}

#[test]
fn a_custom_method_with_a_duplicate_or_protocol_name_is_refused() {
    let twice = builds().try_custom_method("tasks/get", || Value::Null).unwrap_err();
    assert!(
        matches!(
            twice,
            RouteError::Duplicate {
                kind: "custom method",
                ..
            }
        ),
        "{twice}"
    );
    let declared = builds().try_custom_method("tools/call", || Value::Null).unwrap_err();
    assert_eq!(
        declared.to_string(),
        "tools/call is a method of the protocol, and not a custom one"
    );
}
