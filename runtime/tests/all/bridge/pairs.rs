//! Clients of every revision with servers of every revision.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use mcp_adapters::PeerTypes as _;
use mcp_runtime::mcp_wire::{self, RawJson};
use mcp_runtime::router::{Call, resource};
use mcp_runtime::transport::ChannelTransport;
use mcp_runtime::{
    CallClient, CallError, CallServer, Change, ChangeFilter, ClientHandler, ClientSession, ClientSide, Context,
    ErrorObject, Options, Revision, Router, connect, hub,
};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::bridge::{PATIENCE, bridged, options};

#[derive(Clone, Default)]
struct Client(Arc<Mutex<Vec<String>>>);

impl ClientHandler<Context<ClientSide>> for Client {
    async fn elicit(
        &self,
        params: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        let params = RawJson::from_serialize(&params).expect("it is JSON");
        let message: String = params.get("message").expect("it has one").parse().expect("a text");
        Ok(serde_json::from_value(json!({"action": "accept", "content": {"name": message}})).expect("it is a result"))
    }

    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        _: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        Ok(hub::ListRootsResult::new(vec![hub::Root::new("file:///home")]))
    }

    async fn create_message(
        &self,
        _: hub::CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        let message = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}});
        Ok(serde_json::from_value(message).expect("it is a message"))
    }

    async fn on_logging_message(&self, params: hub::LoggingMessageNotificationParams, _: &Context<ClientSide>) {
        self.0
            .lock()
            .expect("nobody panics")
            .push(params.data.text().to_owned());
    }
}

async fn client(revision: Revision, handler: Client, transport: ChannelTransport) -> ClientSession {
    let options = Options {
        supported: vec![revision],
        log_level: Some(hub::LoggingLevel::Debug),
        ..Options::default()
    };
    let capabilities = serde_json::from_value(json!({"elicitation": {}, "roots": {}, "sampling": {}}));
    let capabilities = capabilities.expect("they are capabilities");
    let info = hub::Implementation::new("client", "1.0");
    let connected = timeout(PATIENCE, connect(handler, info, capabilities, options, transport)).await;
    connected
        .expect("it connects in time")
        .expect("the bridge speaks every revision")
}

fn form(message: &str) -> hub::ElicitRequestParams {
    let schema = r#"{"type": "object", "properties": {"name": {"type": "string"}}}"#;
    hub::ElicitRequestFormParams::new(message, mcp_wire::from_str(schema).expect("it is a form")).into()
}

fn router() -> Router {
    Router::new("server", "1.0")
        .instructions("Be kind.")
        .tool("echo", "Echoes", |(): (), call: Call| async move {
            call.progress(0.5, Some(1.0), Some("half".to_owned())).await?;
            call.log(hub::LoggingLevel::Info, json!("logged")).await?;
            Ok::<_, CallError>("echoed")
        })
        .tool("roots", "Asks for roots, twice", |(): (), call: Call| async move {
            let first = call.list_roots(None).await?;
            let second = call.list_roots(None).await?;
            Ok::<_, CallError>(format!("{} {}", first.roots[0].uri, second.roots.len()))
        })
        .tool("asks", "Asks the user", |(): (), call: Call| async move {
            let answer = call.peer().elicit(form("who")).await?;
            Ok::<_, CallError>(format!(
                "{} {}",
                answer.action,
                RawJson::from_serialize(&answer.content).expect("JSON")
            ))
        })
        .with(resource(hub::Resource::new("one", "note:///one"), |_: Call| async {
            "text".to_owned()
        }))
}

#[tokio::test]
async fn the_description_of_a_stateless_client_is_not_lost_for_a_server_with_a_handshake() {
    for server in Revision::ALL.into_iter().filter(|server| !server.is_stateless()) {
        let (options, losses) = options();
        let (transport, _serving) = bridged(&router(), server, options);
        let session = client(Revision::HUB, Client::default(), transport).await;
        session.call_tool("echo", ()).await.expect("it is called");
        let told = losses.lock().expect("nobody panics").clone();
        assert!(!told.iter().any(|loss| loss.contains("_meta")), "{server}: {told:?}");
    }
}

fn text(result: &hub::CallToolResult) -> String {
    match &result.content[..] {
        [hub::ContentBlock::Text(text)] => text.text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn clients_of_every_revision_use_servers_of_every_revision() {
    for server in Revision::ALL {
        for revision in Revision::ALL {
            let pair = format!("client {revision}, server {server}");
            let have = |method: &str| [revision, server].iter().all(|it| it.method(method).is_some());
            let handler = Client::default();
            let logged = Arc::clone(&handler.0);
            let (transport, serving) = bridged(&router(), server, options().0);
            let session = client(revision, handler, transport).await;
            let peer = session.peer();
            assert_eq!(peer.revision(), Some(revision), "{pair}");
            let info = peer.info().expect("it has introduced itself");
            assert_eq!(info.instructions.as_deref(), Some("Be kind."), "{pair}");
            assert_eq!(
                info.implementation.as_ref().map(|it| it.name.as_str()),
                Some("server"),
                "{pair}"
            );

            let tools: Vec<_> = peer
                .list::<hub::Tool>()
                .map(|tool| tool.expect(&pair).name)
                .collect()
                .await;
            assert_eq!(tools, ["asks", "echo", "roots"], "{pair}");
            let (sender, mut progress) = mpsc::channel(8);
            let with_progress = peer.clone().with_progress(sender);
            let echoed = timeout(
                PATIENCE,
                with_progress.call_tool(hub::CallToolRequestParams::new("echo")),
            );
            assert_eq!(text(&echoed.await.expect(&pair).expect(&pair)), "echoed", "{pair}");
            let told = progress.try_recv().expect(&pair);
            assert_eq!((told.progress, told.total), (0.5, Some(1.0)), "{pair}");
            tokio::time::sleep(Duration::from_millis(5)).await;
            let expected: &[_] = match have("notifications/message") {
                true => &["\"logged\""],
                false => &[],
            };
            assert_eq!(*logged.lock().expect("nobody panics"), expected, "{pair}");

            for (tool, method, expected) in [
                ("roots", "roots/list", "file:///home 1"),
                ("asks", "elicitation/create", r#"accept {"name":"who"}"#),
            ] {
                let called = timeout(PATIENCE, peer.call_tool(hub::CallToolRequestParams::new(tool))).await;
                let called = called.expect(&pair);
                match have(method) {
                    true => assert_eq!(text(&called.expect(&pair)), expected, "{pair}"),
                    false => assert!(
                        called.is_err() || called.is_ok_and(|it| it.is_error == Some(true)),
                        "{pair}"
                    ),
                }
            }
            session.close().await;
            timeout(PATIENCE, serving)
                .await
                .expect("the bridge ends")
                .expect("it ends well")
                .expect(&pair);
        }
    }
}

#[tokio::test]
async fn clients_of_every_revision_get_changes_from_servers_of_every_revision() {
    for server in Revision::ALL {
        for revision in Revision::ALL {
            let pair = format!("client {revision}, server {server}");
            let router = router();
            let (transport, _serving) = bridged(&router, server, options().0);
            let session = client(revision, Client::default(), transport).await;
            let wanted = ChangeFilter::lists().with_resource("note:///one");
            let mut changes = session.peer().changes(wanted).await.expect(&pair);
            assert!(changes.acknowledged().tool_list, "{pair}");
            assert_eq!(changes.acknowledged().resources, ["note:///one"], "{pair}");
            // The bridge's own subscription may take a moment.
            tokio::time::sleep(Duration::from_millis(20)).await;
            router.resource_updated("note:///one");
            let change = timeout(PATIENCE, changes.next()).await.expect(&pair);
            assert_eq!(
                change.transpose().expect(&pair),
                Some(Change::Resource("note:///one".into())),
                "{pair}"
            );
            router.remove_tool("echo");
            let change = timeout(PATIENCE, changes.next()).await.expect(&pair);
            assert_eq!(change.transpose().expect(&pair), Some(Change::ToolList), "{pair}");
            // A call isn't held up by the notifications before it.
            let tools = timeout(PATIENCE, session.list_tools()).await.expect(&pair);
            assert!(tools.is_ok(), "{pair}");
        }
    }
}
