//! Clients whose revision has tasks in its core, and clients with the tasks extension, on one server.

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::PeerTypes;
use mcp_runtime::router::tool;
use mcp_runtime::tasks::{CallTasks, TaskContext, TaskLimits, ToolTask};
use mcp_runtime::transport::{
    ChannelReceiver, ChannelSender, ChannelTransport, Outgoing, Purpose, Receiver as _, Sender as _, Transport as _,
    channel,
};
use mcp_runtime::{CallClient, CallError, Options, Revision, Router, error_code, hub};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::common::PATIENCE;
use crate::tasks::bridged::bridged;
use crate::tasks::{ALICE, form, hub_client, server, text};

/// The revisions whose core has tasks.
pub fn with_tasks() -> Vec<Revision> {
    let revisions = Revision::all().filter(|revision| revision.method("tasks/result").is_some());
    let revisions: Vec<Revision> = revisions.collect();
    assert!(!revisions.is_empty());
    revisions
}

/// A client of such a revision that writes and reads raw JSON.
pub struct Json {
    revision: Revision,
    sender: ChannelSender,
    receiver: ChannelReceiver,
    /// The requests that the server has sent.
    pub asked: Vec<Value>,
    /// The response to each of them, without its id; `null` for none. It accepts by default.
    pub answer: Value,
    pub capabilities: Value,
}

impl Json {
    pub async fn connect(router: &Router, revision: Revision, principal: Option<&str>) -> Self {
        let (mut ours, theirs) = channel(16);
        if let Some(principal) = principal {
            ours = ours.principal(principal);
        }
        let options = Options {
            supported: Revision::ALL.into(),
            ..Options::default()
        };
        drop(router.clone().serve(options, theirs));
        Self::connect_over(ours, revision).await
    }

    pub async fn connect_over(transport: ChannelTransport, revision: Revision) -> Self {
        let (sender, receiver) = transport.split();
        let mut client = Self {
            revision,
            sender,
            receiver,
            asked: Vec::new(),
            answer: json!({"result": {"action": "accept"}}),
            capabilities: Value::Null,
        };
        let params = json!({
            "protocolVersion": revision.as_str(),
            "clientInfo": {"name": "test", "version": "1.0"},
            "capabilities": {"elicitation": {}},
        });
        client.capabilities = client.call("initialize", params).await.unwrap()["capabilities"].clone();
        client
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        client
    }

    async fn send(&self, message: Value) {
        let json = message.to_string().into_bytes();
        let purpose = Purpose::Unsolicited;
        self.sender.send(Outgoing { json, purpose }).await.unwrap();
    }

    /// Sends a request whose id is its method.
    async fn request(&self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}))
            .await;
    }

    /// Receives a message, and validates it if it has a method.
    async fn receive(&mut self) -> Value {
        let received = timeout(PATIENCE, self.receiver.receive()).await;
        let Ok(Ok(Some(mcp_runtime::transport::Incoming::Message { json, .. }))) = received else {
            panic!("there is no message")
        };
        let message: Value = serde_json::from_slice(&json).unwrap();
        if message["method"].is_string() {
            self.revision.validate_call(&json).unwrap();
        }
        message
    }

    /// Sends a request; returns its result, after validation in the revision, or its error.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.request(method, params).await;
        loop {
            let message = self.receive().await;
            if message["method"].is_string() {
                if message["id"].is_number() || message["id"].is_string() {
                    if !self.answer.is_null() {
                        let mut answer = self.answer.clone();
                        answer["jsonrpc"] = json!("2.0");
                        answer["id"] = message["id"].clone();
                        self.send(answer).await;
                    }
                    self.asked.push(message);
                }
                continue;
            }
            assert_eq!(message["id"], method, "{message}");
            let Some(result) = message.get("result") else {
                return Err(message["error"].clone());
            };
            let valid = self.revision.validate_result(method, &result.clone().into());
            valid.unwrap_or_else(|error| panic!("{method}: {error}: {result}"));
            return Ok(result.clone());
        }
    }

    /// Calls a tool as a task.
    pub async fn begin(&mut self, tool: &str) -> Value {
        let params = json!({"name": tool, "arguments": {}, "task": {"ttl": 60_000}});
        self.call("tools/call", params).await.unwrap()["task"].clone()
    }

    pub async fn of_task(&mut self, method: &str, task: &Value) -> Result<Value, Value> {
        self.call(method, json!({"taskId": task["taskId"]})).await
    }
}

#[tokio::test]
async fn methods_of_tasks_are_unknown_in_revisions_without_tasks() {
    let router = server(TaskLimits::default());
    let without = Revision::all().filter(|it| !it.is_stateless() && it.method("tasks/result").is_none());
    for revision in without {
        let mut old = Json::connect(&router, revision, ALICE).await;
        for method in [
            "tasks/get",
            "tasks/update",
            "tasks/cancel",
            "tasks/list",
            "tasks/result",
        ] {
            let error = old.call(method, json!({"taskId": "0"})).await.unwrap_err();
            assert_eq!(
                error["code"],
                error_code::METHOD_NOT_FOUND,
                "{revision} {method}: {error}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_server_runs_tools_as_core_tasks_and_as_extension_tasks() {
    let router = server(TaskLimits::default());
    for revision in with_tasks() {
        let mut old = Json::connect(&router, revision, ALICE).await;
        let declared = &old.capabilities["tasks"];
        assert_eq!(
            *declared,
            json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}})
        );
        let tools = old.call("tools/list", json!({})).await.unwrap();
        let tools = tools["tools"].as_array().unwrap();
        let support = |name: &str| {
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
            tool["execution"]["taskSupport"].clone()
        };
        assert_eq!(
            (support("build"), support("only"), support("publish")),
            (json!("optional"), json!("required"), json!("required"))
        );
        assert_eq!(support("plain"), Value::Null);

        let task = old.begin("build").await;
        assert_eq!(
            (&task["status"], &task["ttl"], &task["pollInterval"]),
            (&json!("working"), &json!(60_000), &json!(1_000))
        );
        let result = old.of_task("tasks/result", &task).await.unwrap();
        assert_eq!(text(&result), "built");
        let related = &result["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(*related, json!({"taskId": task["taskId"]}));
        let state = old.of_task("tasks/get", &task).await.unwrap();
        assert_eq!((&state["status"], state.get("result")), (&json!("completed"), None));
        assert_eq!(state.get("statusMessage"), None);

        let publishes = old.begin("publish").await;
        assert!(text(&old.of_task("tasks/result", &publishes).await.unwrap()).starts_with("published by"));
        // A call that requests no task gets the plain result.
        let result = old
            .call("tools/call", json!({"name": "build", "arguments": {}}))
            .await
            .unwrap();
        assert_eq!(text(&result), "built");
        let refused = old
            .call("tools/call", json!({"name": "only", "arguments": {}}))
            .await
            .unwrap_err();
        assert_eq!(refused["code"], error_code::METHOD_NOT_FOUND);
        let only = old.begin("only").await;
        assert_eq!(text(&old.of_task("tasks/result", &only).await.unwrap()), "done");
    }
    let new = hub_client(&router).await;
    let call = new.peer().call_tool_to_end(hub::CallToolRequestParams::new("build"));
    assert_eq!(text(&serde_json::to_value(call.await.unwrap()).unwrap()), "built");
}

#[tokio::test]
async fn an_invalid_request_for_a_task_is_refused() {
    let router = server(TaskLimits::default());
    for revision in with_tasks() {
        let direct = Json::connect(&router, revision, ALICE).await;
        let bridged = Json::connect_over(bridged(&router, &[Revision::HUB]), revision).await;
        for mut old in [direct, bridged] {
            for (task, path) in [
                (json!(5), "`task`"),
                (json!({"ttl": "60000"}), "`task.ttl`"),
                (json!({"ttl": 0.5}), "`task.ttl`"),
                (json!({"ttl": -1}), "`task.ttl`"),
            ] {
                let params = json!({"name": "build", "arguments": {}, "task": task});
                let refused = old
                    .call("tools/call", params.clone())
                    .await
                    .expect_err(&params.to_string());
                assert_eq!(refused["code"], error_code::INVALID_PARAMS, "{refused}");
                let message = refused["message"].as_str().unwrap();
                assert!(message.starts_with(path), "{message}");
            }
            let params = json!({"name": "build", "arguments": {}, "task": {"ttl": 60000.0}});
            assert!(old.call("tools/call", params).await.unwrap()["task"].is_object());
        }
    }
}

#[tokio::test]
async fn a_task_of_a_tool_that_does_not_declare_tasks_is_refused() {
    let forbidden =
        tool("forbidden", "Runs at once", || "plain").member("execution", json!({"taskSupport": "forbidden"}));
    let router = server(TaskLimits::default()).with(forbidden);
    let without_tasks = Router::new("plain", "1.0").tool("plain", "Runs at once", || "plain");
    for revision in with_tasks() {
        let mut old = Json::connect(&router, revision, ALICE).await;
        for name in ["plain", "forbidden"] {
            let params = json!({"name": name, "arguments": {}, "task": {}});
            let refused = old.call("tools/call", params).await.unwrap_err();
            assert_eq!(refused["code"], error_code::METHOD_NOT_FOUND, "{refused}");
            let params = json!({"name": name, "arguments": {}});
            assert_eq!(text(&old.call("tools/call", params).await.unwrap()), "plain");
        }
        // A server without the capability ignores the request for a task.
        let mut old = Json::connect(&without_tasks, revision, ALICE).await;
        let params = json!({"name": "plain", "arguments": {}, "task": {}});
        assert_eq!(text(&old.call("tools/call", params).await.unwrap()), "plain");
    }
}

#[tokio::test]
async fn tasks_result_returns_errors_and_failures_and_a_second_cancel_is_refused() {
    let router = server(TaskLimits::default());
    for revision in with_tasks() {
        let mut old = Json::connect(&router, revision, ALICE).await;
        let refuses = old.begin("refuse").await;
        assert_eq!(old.of_task("tasks/result", &refuses).await.unwrap_err()["code"], -1);
        let fails = old.begin("fail").await;
        assert_eq!(old.of_task("tasks/result", &fails).await.unwrap()["isError"], true);
        for task in [refuses, fails] {
            let state = old.of_task("tasks/get", &task).await.unwrap();
            assert_eq!(
                (&state["status"], &state["statusMessage"]),
                (&json!("failed"), &json!("no"))
            );
        }

        let forever = old.begin("forever").await;
        let cancelled = old.of_task("tasks/cancel", &forever).await.unwrap();
        assert_eq!(
            (&cancelled["status"], cancelled.get("statusMessage")),
            (&json!("cancelled"), None)
        );
        let again = old.of_task("tasks/cancel", &forever).await.unwrap_err();
        assert_eq!(again["code"], error_code::INVALID_PARAMS);
        assert_eq!(
            old.of_task("tasks/result", &forever).await.unwrap_err()["code"],
            error_code::INVALID_PARAMS
        );
    }
}

#[tokio::test]
async fn tasks_result_of_a_task_that_expires_meanwhile_is_an_error() {
    let never_asked = |task: TaskContext| async move { task.elicit(form("Sure?")).await.map(|_| "asked".to_owned()) };
    let router = server(TaskLimits::default()).with(tool("sure", "Asks once", never_asked).task());
    for revision in with_tasks() {
        for transport in [None, Some(bridged(&router, &[Revision::HUB]))] {
            let mut old = match transport {
                Some(transport) => Json::connect_over(transport, revision).await,
                None => Json::connect(&router, revision, ALICE).await,
            };
            for tool in ["forever", "sure"] {
                old.answer = Value::Null;
                let params = json!({"name": tool, "arguments": {}, "task": {"ttl": 200}});
                let task = old.call("tools/call", params).await.unwrap()["task"].clone();
                let expired = timeout(PATIENCE, old.of_task("tasks/result", &task)).await;
                let expired = expired.expect("the request is answered").unwrap_err();
                assert_eq!(expired["code"], error_code::INVALID_PARAMS, "{expired}");
            }
        }
    }
}

#[tokio::test]
async fn input_requests_arrive_during_tasks_result_and_name_their_task() {
    async fn ask(task: TaskContext) -> Result<String, CallError> {
        let answer = task.elicit(form("Sure?")).await?;
        Ok(answer.action.as_str().to_owned())
    }
    let router = server(TaskLimits::default()).with(tool("sure", "Asks once", ask).task());
    for revision in with_tasks() {
        let mut old = Json::connect(&router, revision, ALICE).await;
        let task = old.begin("sure").await;
        let result = old.of_task("tasks/result", &task).await.unwrap();
        assert_eq!(text(&result), "accept");
        let [question] = &old.asked[..] else {
            panic!("{:?}", old.asked)
        };
        assert_eq!(question["params"]["message"], "Sure?");
        let related = &question["params"]["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(*related, json!({"taskId": task["taskId"]}));
    }
}

#[tokio::test]
async fn an_input_request_is_withdrawn_when_its_task_gives_up_or_is_cancelled() {
    let given_up = Arc::new(Notify::new());
    let gives_up = Arc::clone(&given_up);
    let ask = move |task: TaskContext| {
        let given_up = Arc::clone(&gives_up);
        async move {
            tokio::select! {
                answer = task.elicit(form("Sure?")) => answer.map(|answer| answer.action.as_str().to_owned()),
                () = given_up.notified() => Ok("gave up".to_owned()),
            }
        }
    };
    let router = server(TaskLimits::default()).with(tool("sure", "Asks once", ask).task());
    for revision in with_tasks() {
        for (is_bridged, is_cancelled) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut old = match is_bridged {
                true => Json::connect_over(bridged(&router, &[Revision::HUB]), revision).await,
                false => Json::connect(&router, revision, ALICE).await,
            };
            let task = old.begin("sure").await;
            let params = json!({"taskId": task["taskId"]});
            old.request("tasks/result", params.clone()).await;
            let asked = old.receive().await;
            assert_eq!(asked["method"], "elicitation/create");
            match is_cancelled {
                true => old.request("tasks/cancel", params).await,
                false => given_up.notify_one(),
            }

            let (mut withdrawn, mut result) = (None, None);
            while withdrawn.is_none() || result.is_none() {
                let message = old.receive().await;
                if message["method"] == "notifications/cancelled" {
                    withdrawn = Some(message["params"]["requestId"].clone());
                } else if message["id"] == "tasks/result" {
                    result = Some(message);
                }
            }
            assert_eq!(withdrawn.as_ref(), Some(&asked["id"]));
            let result = result.unwrap();
            match is_cancelled {
                true => assert_eq!(result["error"]["code"], error_code::INVALID_PARAMS, "{result}"),
                false => assert_eq!(text(&result["result"]), "gave up"),
            }
        }
    }
}

#[tokio::test]
async fn a_task_that_repeats_the_name_of_an_input_request_gets_another_answer() {
    let ask = |task: TaskContext| async move {
        let confirm = task.named("confirm");
        confirm.elicit(form("Sure?")).await?;
        confirm
            .elicit(form("Sure?"))
            .await
            .map(|answer| answer.action.as_str().to_owned())
    };
    let router = server(TaskLimits::default()).with(tool("sure", "Asks twice", ask).task());
    for revision in with_tasks() {
        for transport in [None, Some(bridged(&router, &[Revision::HUB]))] {
            let mut old = match transport {
                Some(transport) => Json::connect_over(transport, revision).await,
                None => Json::connect(&router, revision, ALICE).await,
            };
            let task = old.begin("sure").await;
            let result = old.of_task("tasks/result", &task).await.unwrap();
            assert_eq!((text(&result), old.asked.len()), ("accept", 2));
        }
    }
}

#[tokio::test]
async fn a_task_function_receives_the_error_response_to_its_elicitation() {
    async fn ask(task: TaskContext) -> Result<String, CallError> {
        match task.elicit(form("Sure?")).await {
            Ok(answer) => Ok(answer.action.as_str().to_owned()),
            Err(CallError::Peer(error)) => Ok(format!("{}: {}", error.code, error.message)),
            Err(error) => Err(error),
        }
    }
    let router = server(TaskLimits::default()).with(tool("sure", "Asks once", ask).task());
    for revision in with_tasks() {
        let mut old = Json::connect(&router, revision, ALICE).await;
        old.answer = json!({"error": {"code": -7, "message": "nobody is there"}});
        let task = old.begin("sure").await;
        let result = timeout(PATIENCE, old.of_task("tasks/result", &task)).await;
        assert_eq!(
            text(&result.expect("the task continues").unwrap()),
            "-7: nobody is there"
        );
        assert_eq!(old.asked.len(), 1, "{:?}", old.asked);
    }
}

#[tokio::test]
async fn tasks_list_pages_through_only_the_tasks_of_the_principal() {
    let router = server(TaskLimits::default());
    for revision in with_tasks() {
        let mut alice = Json::connect(&router, revision, Some(&format!("alice {revision}"))).await;
        let mut begun = Vec::new();
        for _ in 0..150 {
            begun.push(alice.begin("forever").await["taskId"].as_str().unwrap().to_owned());
        }
        begun.sort_unstable();
        let first = alice.call("tasks/list", json!({})).await.unwrap();
        let second = alice
            .call("tasks/list", json!({"cursor": first["nextCursor"]}))
            .await
            .unwrap();
        let pages = [&first, &second].map(|page| page["tasks"].as_array().unwrap());
        assert_eq!(pages.map(Vec::len), [100, 50]);
        let listed = pages.into_iter().flatten().map(|task| task["taskId"].as_str().unwrap());
        assert!(listed.eq(begun.iter().map(String::as_str)));
        assert_eq!(second.get("nextCursor"), None);
        for invalid in [json!("zzz"), json!(5)] {
            let refused = alice.call("tasks/list", json!({"cursor": invalid})).await.unwrap_err();
            assert_eq!(refused["code"], error_code::INVALID_PARAMS);
        }

        let mut bob = Json::connect(&router, revision, Some("bob")).await;
        assert_eq!(bob.call("tasks/list", json!({})).await.unwrap()["tasks"], json!([]));
        let hidden = bob.call("tasks/get", json!({"taskId": begun[0]})).await.unwrap_err();
        let unknown = bob.call("tasks/get", json!({"taskId": "0"})).await.unwrap_err();
        assert_eq!(hidden, unknown);
        // Without a principal, the owner of a task isn't known, so none are listed.
        let mut nobody = Json::connect(&router, revision, None).await;
        nobody.begin("forever").await;
        assert_eq!(nobody.call("tasks/list", json!({})).await.unwrap()["tasks"], json!([]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_bridge_forwards_tasks_of_each_revision_to_a_server_that_supports_it() {
    let router = server(TaskLimits::default());
    for revision in with_tasks() {
        let mut old = Json::connect_over(bridged(&router, &Revision::ALL), revision).await;
        assert!(old.capabilities["tasks"].is_object(), "{}", old.capabilities);
        let task = old.begin("build").await;
        assert_eq!(text(&old.of_task("tasks/result", &task).await.unwrap()), "built");
        let forever = old.begin("forever").await;
        assert_eq!(
            old.of_task("tasks/cancel", &forever).await.unwrap()["status"],
            "cancelled"
        );
    }
    for stateless in Revision::ALL.into_iter().filter(|revision| revision.is_stateless()) {
        let options = Options {
            supported: [stateless].into(),
            ..Options::default()
        };
        let new = crate::tasks::asked()
            .options(options)
            .connect(bridged(&router, &Revision::ALL))
            .await
            .unwrap();
        let call = new.peer().call_tool_to_end(hub::CallToolRequestParams::new("ask"));
        let result = serde_json::to_value(call.await.unwrap()).unwrap();
        assert_eq!(text(&result), "accept and decline");
    }
}

#[tokio::test]
async fn a_task_can_be_kept_forever() {
    let router = server(TaskLimits {
        ttl: Duration::MAX,
        ..TaskLimits::default()
    });
    for revision in with_tasks() {
        let mut client = Json::connect(&router, revision, ALICE).await;
        let params = json!({"name": "build", "arguments": {}, "task": {"ttl": u64::MAX}});
        let begun = client.call("tools/call", params).await.unwrap();
        assert_eq!(begun["task"]["status"], "working", "{begun}");
    }
}
