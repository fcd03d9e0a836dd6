//! Middleware of servers and clients.

use std::sync::{Arc, Mutex};

use mcp_runtime::router::{Answer, Call};
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallError, CallServer, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, HandlerResult, Layered,
    Middleware, Next, Options, Revision, Router, Side, UnknownMethod, accepted, connect, error_code, hub,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

type Notes = Arc<Mutex<Vec<String>>>;

/// Records the messages that pass through it.
#[derive(Clone)]
struct Notebook {
    name: &'static str,
    notes: Notes,
}

impl Notebook {
    fn note(&self, what: &str, method: &str) {
        let note = format!("{} {what} {method}", self.name);
        self.notes.lock().unwrap().push(note);
    }
}

impl<S: Side> Middleware<S> for Notebook {
    async fn request(
        &self,
        request: S::Request,
        context: Context<S>,
        next: Next<S>,
    ) -> Result<HandlerResult<S::Result>, ErrorObject> {
        assert!(context.revision().is_some());
        let method = S::method(&request).to_owned();
        self.note("begins", &method);
        let result = next.request(request, context).await;
        self.note(if result.is_ok() { "ends" } else { "refuses" }, &method);
        result
    }

    async fn notification(&self, notification: S::Notification, context: Context<S>, next: Next<S>) {
        self.note("hears", S::notification_method(&notification));
        next.notification(notification, context).await;
    }
}

/// Lets only requests with a ticket in their metadata pass.
struct Turnstile;

impl<S: Side> Middleware<S> for Turnstile {
    async fn request(
        &self,
        request: S::Request,
        context: Context<S>,
        next: Next<S>,
    ) -> Result<HandlerResult<S::Result>, ErrorObject> {
        match context.meta().and_then(|meta| meta.get("ticket")) {
            Some(_) => next.request(request, context).await,
            None => Err(ErrorObject::new(error_code::INVALID_REQUEST, "there is no ticket")),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// A client that answers every elicitation with the name of its user.
struct Client;

impl ClientHandler<Context<ClientSide>> for Client {
    async fn elicit(
        &self,
        _: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        accepted(&json!({"name": "Ada"}))
    }
}

async fn session(router: Router, revision: Revision, client: impl Into<Layered<ClientSide>>) -> ClientSession {
    let (ours, theirs) = channel(16);
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    drop(router.serve(options.clone(), theirs));
    let info = hub::Implementation::new("test", "1.0");
    let capabilities =
        hub::ClientCapabilities::default().with_elicitation(hub::ClientCapabilitiesElicitation::default());
    connect(client, info, capabilities, options, ours).await.unwrap()
}

#[tokio::test]
async fn middleware_wraps_requests_and_notifications_of_both_sides() {
    let notes = Notes::default();
    let notebook = |name| Notebook {
        name,
        notes: Arc::clone(&notes),
    };
    let hello = |call: Call| async move {
        let answer = call.elicit("Who are you?").await?;
        let Answer::Accepted(Name { name }) = answer else {
            return Ok("nobody".to_owned());
        };
        Ok::<_, CallError>(name)
    };
    let router = Router::new("test", "1.0")
        .tool("hello", "Greets", hello)
        .layer(notebook("inner"))
        .layer(notebook("outer"));
    let asks_in_results = [
        "outer begins tools/call",
        "inner begins tools/call",
        "inner ends tools/call",
        "outer ends tools/call",
        "client begins elicitation/create",
        "client ends elicitation/create",
        "outer begins tools/call",
        "inner begins tools/call",
        "inner ends tools/call",
        "outer ends tools/call",
    ];
    let asks_by_requests = [
        "outer begins tools/call",
        "inner begins tools/call",
        "client begins elicitation/create",
        "client ends elicitation/create",
        "inner ends tools/call",
        "outer ends tools/call",
    ];
    let has_forms = |revision: &Revision| revision.method("elicitation/create").is_some();
    for revision in Revision::ALL.into_iter().filter(has_forms) {
        let client = Layered::<ClientSide>::from(Client).layer(notebook("client"));
        let session = session(router.clone(), revision, client).await;
        notes.lock().unwrap().clear();
        let result = session
            .peer()
            .call_tool(hub::CallToolRequestParams::new("hello"))
            .await
            .unwrap();
        assert_eq!(json!(result.content)[0]["text"], "Ada");
        let expected: &[&str] = match revision.facts().initializes {
            true => &asks_by_requests,
            false => &asks_in_results,
        };
        assert_eq!(*notes.lock().unwrap(), expected, "{revision}");

        notes.lock().unwrap().clear();
        let error = session
            .peer()
            .call_unknown(UnknownMethod::new("example/unknown"))
            .await
            .unwrap_err();
        assert_eq!(error.error_object().unwrap().code, error_code::METHOD_NOT_FOUND);
        session
            .peer()
            .notify_unknown(UnknownMethod::new("example/told"))
            .await
            .unwrap();
        session.close().await;
        let heard = [
            "outer begins example/unknown",
            "inner begins example/unknown",
            "inner refuses example/unknown",
            "outer refuses example/unknown",
            "outer hears example/told",
            "inner hears example/told",
        ];
        wait_for(&notes, &heard).await;
    }
}

async fn wait_for(notes: &Notes, expected: &[&str]) {
    for _ in 0..100 {
        if *notes.lock().unwrap() == expected {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(*notes.lock().unwrap(), expected);
}

#[tokio::test]
async fn requests_rejected_by_middleware_fail_and_others_pass() {
    let router = Router::new("test", "1.0")
        .tool("enter", "Enters", || "inside")
        .layer(Turnstile);
    let session = session(router, Revision::HUB, Client).await;
    let mut params = hub::CallToolRequestParams::new("enter");
    let error = session.peer().call_tool(params.clone()).await.unwrap_err();
    assert_eq!(error.error_object().unwrap().message, "there is no ticket");
    params.meta.extra.insert("ticket", json!(1));
    session.peer().call_tool(params).await.unwrap();
}
