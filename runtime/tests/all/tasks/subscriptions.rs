//! Subscriptions to tasks, and the progress that tasks report.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use mcp_ext_tasks::{EXTENSION, TaskStatusNotificationParams};
use mcp_runtime::mcp_wire::{Extension, RawJson, Validate, error_code};
use mcp_runtime::router::{Call, ExtensionSubscription, ServerExtension, tool};
use mcp_runtime::tasks::{TaskContext, TaskLimits, Tasks, ToolTask};
use mcp_runtime::transport::{Incoming, Outgoing, Purpose, Receiver as _, Sender as _, Transport as _, channel};
use mcp_runtime::{
    ChangeFilter, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, Options, Revision, Router,
    UnknownMethod, connect, hub, mcp_wire,
};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use crate::common::PATIENCE;
use crate::tasks::{begin, refused};

/// A client that forwards the notifications that the protocol doesn't declare to a channel.
struct Listens(mpsc::UnboundedSender<UnknownMethod>);

impl ClientHandler<Context<ClientSide>> for Listens {
    async fn on_unknown(&self, notification: UnknownMethod, _: &Context<ClientSide>) {
        let _ = self.0.send(notification);
    }
}

async fn listening(
    router: &Router,
    principal: &str,
    knows_tasks: bool,
) -> (ClientSession, mpsc::UnboundedReceiver<UnknownMethod>) {
    let (ours, theirs) = channel(16);
    drop(router.clone().serve(Options::default(), theirs));
    let (sender, receiver) = mpsc::unbounded_channel();
    let mut capabilities = hub::ClientCapabilities::default();
    if knows_tasks {
        let extensions = [(EXTENSION.id.to_owned(), json!({}).into())];
        capabilities = capabilities.with_extensions(extensions.into_iter().collect());
    }
    let info = hub::Implementation::new("test", "1.0");
    let options = Options {
        supported: [Revision::HUB].into(),
        ..Options::default()
    };
    let session = connect(Listens(sender), info, capabilities, options, ours.principal(principal)).await;
    (session.unwrap(), receiver)
}

/// A server whose tool waits for `go_on` before it reports progress, and again before it returns.
fn server(go_on: &Arc<Notify>) -> Router {
    let go_on = Arc::clone(go_on);
    let work = move |task: TaskContext| {
        let go_on = Arc::clone(&go_on);
        async move {
            go_on.notified().await;
            task.progress(1.0, Some(3.0), Some("compiling".to_owned()))
                .await
                .unwrap();
            go_on.notified().await;
            "built"
        }
    };
    Router::new("builds", "1.0")
        .extension(Tasks::new(TaskLimits::default()))
        .with(tool("build", "Builds", work).task())
}

fn of_tasks(ids: &[&str]) -> ChangeFilter {
    ChangeFilter::default().with_extra("taskIds", json!(ids))
}

async fn notified(receiver: &mut mpsc::UnboundedReceiver<UnknownMethod>) -> Value {
    let notification = timeout(PATIENCE, receiver.recv()).await.unwrap().unwrap();
    assert_eq!(notification.method, "notifications/tasks");
    let params = RawJson::from(notification.params.unwrap());
    let typed: TaskStatusNotificationParams = params.decode_as().unwrap();
    typed.validate().unwrap();
    params.parse().unwrap()
}

#[tokio::test]
async fn a_subscriber_is_notified_of_each_state_of_its_own_task_only() {
    let go_on = Arc::new(Notify::new());
    let router = server(&go_on);
    let (alice, mut of_alice) = listening(&router, "alice", true).await;
    let (bob, mut of_bob) = listening(&router, "bob", true).await;
    let task = begin(&alice, "build").await.task_id;

    let changes = alice
        .peer()
        .changes(of_tasks(&[&task, &task, "unknown"]))
        .await
        .unwrap();
    let agreed = changes.acknowledged().extra.get("taskIds").unwrap().to_string();
    assert_eq!(agreed, json!([task]).to_string());
    let others = bob.peer().changes(of_tasks(&[&task])).await.unwrap();
    assert_eq!(others.acknowledged().extra.get("taskIds").unwrap().to_string(), "[]");

    go_on.notify_one();
    let working = notified(&mut of_alice).await;
    assert_eq!(
        (&working["taskId"], &working["status"]),
        (&json!(task), &json!("working"))
    );
    assert_eq!(working["statusMessage"], "1 of 3: compiling");
    assert!(working["_meta"]["io.modelcontextprotocol/subscriptionId"].is_number());
    assert_eq!(working.get("resultType"), None);
    go_on.notify_one();
    let completed = notified(&mut of_alice).await;
    assert_eq!(completed["status"], "completed");
    assert_eq!(completed["result"]["content"][0]["text"], "built");
    assert!(of_bob.try_recv().is_err());
}

#[tokio::test]
async fn only_a_client_with_the_extension_can_subscribe_to_tasks() {
    let router = server(&Arc::default());
    let (client, _) = listening(&router, "alice", false).await;
    let error = refused(client.peer().changes(of_tasks(&["1"])).await);
    assert_eq!(error.code, hub::error_code::MISSING_REQUIRED_CLIENT_CAPABILITY);
    // A filter member that no extension declares is ignored.
    let unknown = ChangeFilter::lists().with_extra("moods", json!(true));
    let changes = client.peer().changes(unknown).await.unwrap();
    assert!(changes.acknowledged().extra.is_empty());
    assert!(changes.acknowledged().tool_list);
}

#[tokio::test]
async fn a_client_without_tasks_gets_task_progress_as_progress_notifications() {
    let go_on = Arc::new(Notify::new());
    let router = server(&go_on);
    let (client, _) = listening(&router, "alice", false).await;
    let (sender, mut progress) = mpsc::channel(16);
    let peer = client.peer().clone().with_progress(sender);
    go_on.notify_one();
    let call = tokio::spawn(async move {
        let request = hub::CallToolRequest::new(hub::CallToolRequestParams::new("build"));
        peer.call(request.into()).await
    });
    let reported = timeout(PATIENCE, progress.recv()).await.unwrap().unwrap();
    assert_eq!(reported.message.as_deref(), Some("compiling"));
    go_on.notify_one();
    assert!(matches!(call.await.unwrap(), Ok(hub::ServerResult::CallTool(_))));
}

/// An extension that adds a notification to each subscription.
#[derive(Clone)]
struct Greets;

impl ServerExtension for Greets {
    fn extension(&self) -> Extension {
        Extension {
            id: "com.example/greets",
            methods: &[],
            results: &[],
            settings: None,
            ..EXTENSION
        }
    }

    async fn answer(&self, _: &'static str, _: Value, _: Call) -> Result<RawJson, ErrorObject> {
        unreachable!("it has no method")
    }

    async fn subscribe(&self, _: Arc<mcp_wire::Extra>, _: Call) -> Result<ExtensionSubscription, ErrorObject> {
        let notification = UnknownMethod::new("notifications/greets");
        Ok(ExtensionSubscription {
            agreed: [("greets", json!(true))]
                .map(|(name, value)| (name, RawJson::from(value)))
                .into(),
            notifications: Some(futures_util::stream::iter([notification]).boxed()),
        })
    }
}

#[tokio::test]
async fn several_extensions_contribute_to_one_subscription() {
    let go_on = Arc::new(Notify::new());
    let router = server(&go_on).extension(Greets);
    let (client, mut notifications) = listening(&router, "alice", true).await;
    let task = begin(&client, "build").await.task_id;
    let changes = client.peer().changes(of_tasks(&[&task])).await.unwrap();
    let extra = changes.acknowledged().extra;
    let mut members: Vec<&str> = extra.keys().collect();
    members.sort_unstable();
    assert_eq!(members, ["greets", "taskIds"]);
    let greeting = timeout(PATIENCE, notifications.recv()).await.unwrap().unwrap();
    assert_eq!(greeting.method, "notifications/greets");
    go_on.notify_one();
    assert_eq!(notified(&mut notifications).await["status"], "working");
}

/// An extension whose part of a subscription panics, or never starts.
#[derive(Clone)]
struct Fails {
    panics: bool,
}

impl ServerExtension for Fails {
    fn extension(&self) -> Extension {
        Greets.extension()
    }

    async fn answer(&self, _: &'static str, _: Value, _: Call) -> Result<RawJson, ErrorObject> {
        unreachable!("it has no method")
    }

    async fn subscribe(&self, _: Arc<mcp_wire::Extra>, _: Call) -> Result<ExtensionSubscription, ErrorObject> {
        assert!(!self.panics, "on purpose");
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn the_id_of_a_subscription_that_panics_or_is_cancelled_early_can_be_reused() {
    for panics in [true, false] {
        let router = Router::new("test", "1.0").extension(Fails { panics });
        let (ours, theirs) = channel(16);
        let _served = router.serve(Options::default(), theirs);
        let (sender, mut receiver) = ours.split();
        let send = async |message: Value| {
            let (json, purpose) = (message.to_string().into_bytes(), Purpose::Unsolicited);
            sender.send(Outgoing { json, purpose }).await.unwrap();
            // The paused clock advances once all other tasks wait.
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": Revision::HUB.as_str(),
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        for _ in 0..2 {
            let params = json!({"notifications": {"greets": true}, "_meta": meta});
            send(json!({"jsonrpc": "2.0", "id": "a", "method": "subscriptions/listen", "params": params})).await;
            let params = json!({"requestId": "a", "_meta": meta});
            send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        }
        send(json!({"jsonrpc": "2.0", "id": "end", "method": "server/discover", "params": {"_meta": meta}})).await;
        let mut answers = Vec::new();
        while answers.last() != Some(&(json!("end"), Value::Null)) {
            let Some(Incoming::Message { json, .. }) = receiver.receive().await.unwrap() else {
                panic!("the session has ended");
            };
            let answer: Value = serde_json::from_slice(&json).unwrap();
            answers.push((answer["id"].clone(), answer["error"]["code"].clone()));
        }
        let failed = (json!("a"), json!(error_code::INTERNAL_ERROR));
        let expected = if panics { vec![failed; 2] } else { Vec::new() };
        assert_eq!(answers[..answers.len() - 1], expected, "panics: {panics}");
    }
}
