//! A client whose HTTP requests a function sends, polled without an async runtime.

use std::convert::Infallible;
use std::future::{pending, ready};
use std::io::Cursor;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt;
use http_body::{Body, Frame};
use mcp_runtime::http::{Request, Response};
use mcp_runtime::router::{Answer, Args, Call, Router};
use mcp_runtime::transport::http::client::{HttpCaller, HttpError};
use mcp_runtime::transport::http::server::HttpFunction;
use mcp_runtime::{
    CallError, CallServer, Change, ChangeFilter, Client, ClientSession, ConnectError, Options, Revision, accepted, hub,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::http_client::stateless::revision;

const URL: &str = "https://weather.example/mcp";
/// The limit on the bytes of a message from the hand-written server.
const LIMIT: usize = 1000;

/// The output of a future that is ready at its first poll.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match poll(&mut pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future isn't ready"),
    }
}

fn poll<F: Future>(future: &mut Pin<&mut F>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    #[schemars(extend("x-mcp-header" = "City"))]
    city: String,
}

#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
}

async fn greet(call: Call) -> Result<String, CallError> {
    let (first, second) = (
        call.elicit::<Person>("Who are you?"),
        call.elicit("And who is with you?"),
    );
    let (first, second) = futures_util::future::try_join(first, second).await?;
    match (first, second) {
        (Answer::Accepted(first), Answer::Accepted(Person { name })) => Ok(format!("Hello, {} and {name}", first.name)),
        _ => Ok("Hello".to_owned()),
    }
}

/// A caller of a router in this process. It records the method and the city that the headers of each request repeat.
fn caller(noted: &Arc<Mutex<Vec<String>>>) -> HttpCaller {
    let router = Router::new("weather", "1.0")
        .tool("weather", "The weather of a city", |Args(Place { city })| {
            format!("sunny in {city}")
        })
        .tool("greet", "Greets the user", greet);
    let (server, noted) = (HttpFunction::new(router), Arc::clone(noted));
    let caller = HttpCaller::new(URL, move |request: Request<Vec<u8>>| {
        assert_eq!(request.uri(), URL);
        let header = |name| {
            request
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or("-")
        };
        let note = format!("{} {}", header("mcp-method"), header("mcp-param-city"));
        noted.lock().unwrap().push(note);
        let server = server.clone();
        async move {
            let response = server.respond(request).await;
            Ok::<_, Infallible>(response.map(|body| String::from_utf8(body.into()).expect("it is text")))
        }
    });
    caller.expect("it is a URL")
}

fn connect(caller: HttpCaller) -> Result<ClientSession, ConnectError> {
    let options = Options {
        supported: vec![revision()],
        ..Options::default()
    };
    at_once(Client::new("client", "1.0").options(options).connect_by(caller))
}

fn text(result: &hub::CallToolResult) -> Value {
    serde_json::to_value(&result.content).expect("it is JSON")[0]["text"].clone()
}

#[test]
fn calls_work_without_a_runtime_and_repeat_method_and_arguments_in_headers() {
    let noted = Arc::default();
    let session = connect(caller(&noted)).expect("it connects");
    assert_eq!(session.peer().revision(), Some(revision()));
    let tools = at_once(session.list_tools()).expect("it lists");
    assert_eq!(
        tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        ["greet", "weather"]
    );
    let result = at_once(session.call_tool("weather", json!({"city": "Bern"}))).expect("it answers");
    assert_eq!(text(&result), "sunny in Bern");
    let notes = ["server/discover -", "tools/list -", "tools/call Bern"];
    assert_eq!(*noted.lock().unwrap(), notes);

    let known = session.discovery();
    let peer = session.peer().clone();
    at_once(session.close());
    let called = at_once(peer.list_all::<hub::Tool>());
    assert!(matches!(called, Err(CallError::Closed)), "{called:?}");

    // A client that is given the discovery doesn't send it. It lists the tools only after its call lacked a header.
    noted.lock().unwrap().clear();
    let options = Options {
        discovery: Some(known),
        ..Options::default()
    };
    let client = Client::new("client", "1.0").options(options);
    let session = at_once(client.connect_by(caller(&noted))).expect("it connects");
    let result = at_once(session.call_tool("weather", json!({"city": "Bern"}))).expect("it answers");
    assert_eq!(text(&result), "sunny in Bern");
    let notes = ["tools/call -", "tools/list -", "tools/call Bern"];
    assert_eq!(*noted.lock().unwrap(), notes);
}

#[test]
fn a_call_is_sent_again_with_the_answers_to_its_elicitations() {
    let noted = Arc::default();
    let asked = Arc::new(AtomicUsize::new(0));
    let client = Client::new("client", "1.0").elicit_form(move |_| {
        let name = ["Ada", "Grace"][asked.fetch_add(1, Ordering::Relaxed)];
        ready(accepted(&json!({"name": name})))
    });
    let session = at_once(client.connect_by(caller(&noted))).expect("it connects");
    let result = at_once(session.call_tool("greet", ())).expect("it answers");
    assert_eq!(text(&result), "Hello, Ada and Grace");
    assert_eq!(
        *noted.lock().unwrap(),
        ["server/discover -", "tools/call -", "tools/call -"]
    );

    let failing = Client::new("client", "1.0").elicit_form(|_| async { panic!("on purpose") });
    let session = at_once(failing.connect_by(caller(&noted))).expect("it connects");
    let called = at_once(session.call_tool("greet", ()));
    assert!(matches!(called, Err(CallError::InputNotProvided(_))), "{called:?}");
}

/// A response body that is sent in parts, and ends when its sender is dropped.
struct Parts(mpsc::UnboundedReceiver<String>);

impl Body for Parts {
    type Data = Cursor<Vec<u8>>;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Infallible>>> {
        let part = self.0.poll_recv(context);
        part.map(|part| part.map(|text| Ok(Frame::data(Cursor::new(text.into_bytes())))))
    }
}

/// A hand-written server: gets a message and the sender of the body, and returns the status and the media type.
type Answerer = dyn Fn(&Value, &mpsc::UnboundedSender<String>) -> (u16, &'static str) + Send + Sync;

fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// A session with a hand-written server, and the sender of the last body if that is an event stream.
fn session(
    client: Client,
    answer: impl Fn(&Value, &mpsc::UnboundedSender<String>) -> (u16, &'static str) + Send + Sync + 'static,
) -> (ClientSession, Arc<Mutex<Option<mpsc::UnboundedSender<String>>>>) {
    let last = Arc::new(Mutex::new(None));
    let (answer, kept): (Arc<Answerer>, _) = (Arc::new(answer), Arc::clone(&last));
    let caller = HttpCaller::new(URL, move |request: Request<Vec<u8>>| {
        let message: Value = serde_json::from_slice(request.body()).expect("it is JSON");
        let (sender, parts) = mpsc::unbounded_channel();
        let (status, media_type) = if message["method"] == "server/discover" {
            let result = json!({
                "resultType": "complete", "supportedVersions": [revision().as_str()], "ttlMs": 0, "cacheScope": "public",
                "capabilities": {"tools": {"listChanged": true}}, "_meta": {},
            });
            let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            sender.send(response.to_string()).expect("it is open");
            (200, "application/json")
        } else {
            let answered = answer(&message, &sender);
            *kept.lock().unwrap() = (answered.1 == "text/event-stream").then_some(sender);
            answered
        };
        let response = Response::builder().status(status).header("content-type", media_type);
        ready(response.body(Parts(parts)))
    });
    let caller = caller.expect("it is a URL").message_bytes(LIMIT);
    let session = at_once(client.connect_by(caller)).expect("it connects");
    (session, last)
}

fn result(id: &Value) -> Value {
    let result = json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]});
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

#[test]
fn notifications_before_the_response_are_handled_before_the_call_returns() {
    let milestones = Arc::new(Mutex::new(Vec::new()));
    let reached = Arc::clone(&milestones);
    let client = Client::new("client", "1.0").on_notification("notifications/x/milestone", move |params: Value| {
        reached.lock().unwrap().push(params["visits"].clone());
    });
    let (session, _last) = session(client, |message, body| {
        let token = &message["params"]["_meta"]["progressToken"];
        for message in [
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 0.5}}),
            json!({"jsonrpc": "2.0", "method": "notifications/x/milestone", "params": {"visits": 100}}),
            // A stateless server can't send requests: this one is ignored.
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            result(&message["id"]),
        ] {
            body.send(event(&message)).expect("it is open");
        }
        (200, "text/event-stream")
    });
    let (progress, mut progressed) = mpsc::channel(1);
    let peer = session.peer().clone().with_progress(progress);
    let called = at_once(peer.call_tool(hub::CallToolRequestParams::new("visit"))).expect("it answers");
    assert_eq!(text(&called), "done");
    assert_eq!(progressed.try_recv().map(|update| update.progress), Ok(0.5));
    assert_eq!(*milestones.lock().unwrap(), [json!(100)]);
}

#[test]
fn cut_mismatched_oversized_and_refused_responses_fail_the_call() {
    let (session, last) = session(Client::new("client", "1.0"), |message, body| {
        let tool = message["params"]["name"].as_str().unwrap_or_default();
        match tool {
            "cut" => body.send(event(&json!({"jsonrpc": "2.0", "method": "notifications/x/nothing"}))),
            "other" => body.send(json!({"jsonrpc": "2.0", "id": "other", "result": {}}).to_string()),
            "large" => body.send(" ".repeat(LIMIT + 1)),
            "large event" => body.send(event(&json!("x".repeat(LIMIT)))),
            _ => body.send("not for you".to_owned()),
        }
        .expect("it is open");
        match tool {
            "cut" | "large event" => (200, "text/event-stream"),
            "other" | "large" => (200, "application/json"),
            "html" => (200, "text/html"),
            _ => (401, "text/plain"),
        }
    });
    let call = |tool: &str| session.call_tool(tool.to_owned(), ()).boxed_local();
    let mut cut = call("cut");
    assert!(poll(&mut Pin::new(&mut cut)).is_pending());
    *last.lock().unwrap() = None;
    let called = at_once(cut);
    assert!(matches!(called, Err(CallError::Cut(_))), "{called:?}");
    for tool in ["other", "html"] {
        let called = at_once(call(tool));
        assert!(matches!(called, Err(CallError::InvalidResult(_))), "{tool}: {called:?}");
    }
    for tool in ["large", "large event"] {
        let called = at_once(call(tool));
        let too_large = format!("the server's response has more than {LIMIT} bytes");
        match called {
            Err(CallError::InvalidResult(reason)) => assert_eq!(reason, too_large),
            called => panic!("{tool}: {called:?}"),
        }
    }
    match at_once(call("secret")) {
        Err(CallError::Http(failure)) => assert_eq!((failure.status.as_u16(), &*failure.body), (401, "not for you")),
        called => panic!("{called:?}"),
    }
}

#[test]
fn dropping_a_call_closes_its_response() {
    let (session, last) = session(Client::new("client", "1.0"), |_, _| (200, "text/event-stream"));
    let mut call = session.call_tool("slow", ()).boxed_local();
    assert!(poll(&mut Pin::new(&mut call)).is_pending());
    let body = last.lock().unwrap().clone().expect("it is sent");
    assert!(!body.is_closed());
    drop(call);
    assert!(body.is_closed(), "the response is dropped");
}

#[test]
fn changes_arrive_until_their_stream_is_dropped() {
    let (session, last) = session(Client::new("client", "1.0"), |message, body| {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
        for (method, params) in [
            (
                "notifications/subscriptions/acknowledged",
                json!({"notifications": {"toolsListChanged": true}, "_meta": meta}),
            ),
            ("notifications/tools/list_changed", json!({"_meta": meta})),
        ] {
            let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
            body.send(event(&message)).expect("it is open");
        }
        (200, "text/event-stream")
    });
    let mut changes = at_once(session.peer().changes(ChangeFilter::lists())).expect("it agrees");
    let mut next = || futures_util::StreamExt::next(&mut changes).now_or_never();
    assert!(matches!(next(), Some(Some(Ok(Change::ToolList)))));
    assert!(next().is_none());
    let body = last.lock().unwrap().take().expect("it is sent");
    drop(changes);
    assert!(body.is_closed(), "the response is dropped");
}

#[test]
fn connecting_fails_for_invalid_urls_failed_requests_and_handshake_revisions() {
    for url in ["ftp://weather.example", "/mcp", "weather.example", "http://a b"] {
        let caller = HttpCaller::new(url, |_| pending::<Result<Response<String>, Infallible>>());
        assert!(matches!(caller, Err(HttpError::Address(_))), "{url}");
    }
    let unreachable = |_| ready(Err::<Response<String>, _>(std::io::Error::other("no network")));
    match connect(HttpCaller::new(URL, unreachable).expect("it is a URL")) {
        Err(ConnectError::Call(CallError::Transport(error))) => {
            assert_eq!(error.to_string(), "the HTTP request failed: no network");
        }
        connected => panic!("{connected:?}"),
    }
    let handshakes = Options {
        supported: Revision::ALL
            .into_iter()
            .filter(|revision| revision.facts().initializes)
            .collect(),
        ..Options::default()
    };
    let client = Client::new("client", "1.0").options(handshakes);
    let connected = at_once(client.connect_by(caller(&Arc::default())));
    assert!(matches!(connected, Err(ConnectError::NoRevision)), "{connected:?}");
}
