//! The program's client: calls each tool, and expects the results that the negotiated revision allows.

use std::time::Duration;

use futures_util::StreamExt;
use mcp_adapters::{Lifecycle, PeerTypes};
use mcp_runtime::hub::{self, LoggingLevel};
use mcp_runtime::transport::{MessageDirection, Transport, inspect};
use mcp_runtime::{
    CallError, CallServer, Change, ChangeFilter, ClientHandler, ClientSession, ClientSide, Context, Era, ErrorObject,
    Options, Revision, Validation, connect,
};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::server::RESOURCE;

const PATIENCE: Duration = Duration::from_secs(10);

/// A handler that answers elicitations and passes on the levels of log messages.
struct Client(mpsc::UnboundedSender<LoggingLevel>);

impl ClientHandler<Context<ClientSide>> for Client {
    async fn elicit(
        &self,
        _: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        let content = serde_json::from_str(r#"{"name": "Ada"}"#).expect("it is an object");
        Ok(hub::ElicitResult::new(hub::ElicitResultAction::Accept).with_content(content))
    }

    async fn on_logging_message(&self, params: hub::LoggingMessageNotificationParams, _: &Context<ClientSide>) {
        drop(self.0.send(params.level));
    }
}

async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("{what} doesn't come in time"))
}

/// Calls a tool, and returns its result or the message of the error.
async fn call(session: &ClientSession, tool: &str) -> String {
    let called = session.peer().call_tool(hub::CallToolRequestParams::new(tool));
    match in_time(tool, called).await {
        Ok(result) => serde_json::to_string(&result).expect("it is JSON"),
        Err(error) => error.to_string(),
    }
}

/// Connects a client to a server over a transport, and uses every feature of the negotiated revision.
pub async fn meet(transport: impl Transport, ours: &[Revision], theirs: &[Revision]) {
    let session = connected(transport, ours).await;
    let agreed = session.0.peer().revision().expect("it is agreed");
    assert!(ours.contains(&agreed) && theirs.contains(&agreed), "{agreed}");
    exchange(session, &[agreed]).await;
}

/// Like [`meet`], across a bridge whose two sides have different revisions.
pub async fn meet_across(transport: impl Transport, client: Revision, server: Revision) {
    let session = connected(transport, &[client]).await;
    exchange(session, &[client, server]).await;
}

type Logged = mpsc::UnboundedReceiver<LoggingLevel>;

async fn connected(transport: impl Transport, ours: &[Revision]) -> (ClientSession, Logged) {
    let (sender, logged) = mpsc::unbounded_channel();
    let transport = inspect(transport, |way, json| {
        let way = match way {
            MessageDirection::Received => "<",
            MessageDirection::Sent => ">",
        };
        println!("{way} {}", String::from_utf8_lossy(json));
    });
    let capabilities = hub::ClientCapabilities::default().with_elicitation(Default::default());
    let info = hub::Implementation::new("client", "1.0");
    let options = Options {
        supported: ours.to_vec(),
        validation: Validation::Strict,
        log_level: Some(LoggingLevel::Warning),
        ..Options::default()
    };
    let session = connect(Client(sender), info, capabilities, options, transport);
    let session = in_time("the session", session)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(session.peer().era(), session.peer().revision().map(Era::of));
    (session, logged)
}

/// Uses every feature that all of these revisions have.
async fn exchange((session, mut logged): (ClientSession, Logged), revisions: &[Revision]) {
    let have = |what: fn(&Lifecycle) -> bool| revisions.iter().all(|revision| what(revision.lifecycle()));
    let peer = session.peer();
    let info = peer.info().expect("the server has sent its name");
    let name = info.implementation.as_ref().map(|it| it.name.as_str());
    assert_eq!(name, Some("made up"));
    let tools = peer.list::<hub::Tool>().collect::<Vec<_>>();
    let tools = in_time("the list", tools).await;
    assert!(tools.len() > 2 && tools.iter().all(Result::is_ok), "{tools:?}");
    assert!(call(&session, "greet").await.contains("hello"));
    asks(&session, revisions).await;

    assert!(call(&session, "log").await.contains("logged"));
    if have(|lifecycle| lifecycle.log.is_some()) {
        assert_eq!(
            in_time("the log message", logged.recv()).await,
            Some(LoggingLevel::Error)
        );
    }
    makes_progress(&session, have(|lifecycle| lifecycle.progress.is_some())).await;
    cancels(&session, have(|lifecycle| lifecycle.cancel.is_some())).await;

    let absent = peer.read_resource(hub::ReadResourceRequestParams::new("test://nothing"));
    let absent = in_time("the error", absent).await;
    assert!(matches!(absent, Err(CallError::Peer(_))), "{absent:?}");
    changes(&session).await;
    session.close().await;
}

async fn asks(session: &ClientSession, revisions: &[Revision]) {
    let has_questions = |revision: &Revision| {
        let name = revision.name_of_method(Revision::HUB, "elicitation/create");
        revision.method(name).is_some()
    };
    let expected = match revisions.iter().all(has_questions) {
        true => "Ada",
        false => "the client hasn't declared",
    };
    let answer = call(session, "ask").await;
    assert!(answer.contains(expected), "{answer}");
}

async fn makes_progress(session: &ClientSession, is_reported: bool) {
    let (sender, mut progress) = mpsc::channel(8);
    let peer = session.peer().clone().with_progress(sender);
    let worked = in_time("work", peer.call_tool(hub::CallToolRequestParams::new("work"))).await;
    worked.expect("it works");
    if is_reported {
        let progress = in_time("progress", progress.recv()).await;
        assert!(progress.is_some_and(|progress| progress.total == Some(2.0)));
    }
}

async fn cancels(session: &ClientSession, is_told: bool) {
    let peer = session.peer().clone();
    let waiting = tokio::spawn(async move { peer.call_tool(hub::CallToolRequestParams::new("wait")).await });
    until(session, "waiting").await;
    waiting.abort();
    if is_told {
        until(session, "cancelled").await;
    }
}

/// Calls the tool `events` until it reports an event.
async fn until(session: &ClientSession, event: &str) {
    in_time(event, async {
        while !call(session, "events").await.contains(event) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

async fn changes(session: &ClientSession) {
    let filter = ChangeFilter::lists().with_resource(RESOURCE);
    let changes = in_time("the acknowledgement", session.peer().changes(filter)).await;
    let mut changes = changes.unwrap_or_else(|error| panic!("{error}"));
    call(session, "change").await;
    let mut expected = vec![Change::Resource(RESOURCE.into()), Change::ToolList];
    while !expected.is_empty() {
        let change = in_time("a change", changes.next())
            .await
            .expect("there is one")
            .expect("it is agreed");
        expected.retain(|it| *it != change);
    }
}
