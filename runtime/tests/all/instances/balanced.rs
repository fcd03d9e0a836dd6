//! Clients of this library behind a load balancer without stickiness.

use mcp_runtime::transport::http::client::{HttpClient, HttpOptions, reqwest};
use mcp_runtime::{
    CallServer, ClientHandler, ClientSession, ClientSide, Context, Era, ErrorObject, Options, connect, hub, mcp_wire,
};
use tokio::time::timeout;

use crate::instances::programs::{Balancer, PATIENCE, two_instances};

/// A client that accepts every elicitation and sampling request.
struct Client;

impl ClientHandler<Context<ClientSide>> for Client {
    async fn elicit(
        &self,
        _: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        Ok(hub::ElicitResult::new(hub::ElicitResultAction::Accept))
    }

    async fn create_message(
        &self,
        _: hub::CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        let content = hub::TextContent::new("something");
        Ok(hub::CreateMessageResult::new("model", hub::Role::Assistant, content))
    }
}

async fn client(balancer: &Balancer) -> ClientSession {
    let without_pool = reqwest::Client::builder().pool_max_idle_per_host(0).build();
    let transport = HttpOptions::default().client(without_pool.expect("a client"));
    let transport = HttpClient::new(&format!("http://{}/mcp", balancer.address), transport).expect("a URL");
    let info = hub::Implementation::new("client", "1.0");
    let capabilities = mcp_wire::from_str(r#"{"elicitation": {}, "sampling": {}}"#).expect("they are capabilities");
    let options = Options {
        era: Some(Era::Handshake),
        ..Options::default()
    };
    let connecting = connect(Client, info, capabilities, options, transport);
    let connected = timeout(PATIENCE, connecting).await.expect("it doesn't hang");
    connected.expect("a session")
}

/// Calls a tool, and returns the text of its result or the error.
async fn call(session: &ClientSession, tool: &str, arguments: &str) -> Result<String, String> {
    let mut params = hub::CallToolRequestParams::new(tool);
    params.arguments = Some(mcp_wire::from_str(arguments).expect("they are arguments"));
    let result = timeout(PATIENCE, session.peer().call_tool(params)).await;
    let result = result.expect("it doesn't hang").map_err(|error| error.to_string())?;
    match result.content.as_slice() {
        [hub::ContentBlock::Text(content)] => Ok(content.text.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
#[ignore = "needs redis-server and haproxy"]
async fn any_instance_handles_any_message_of_a_session() {
    let (_redis, first, second) = two_instances().await;
    let balancer = Balancer::start([&first, &second]).await;
    let session = client(&balancer).await;
    let mut processes = std::collections::HashSet::new();
    for _ in 0..10 {
        for _ in 0..2 {
            processes.insert(call(&session, "process", "{}").await.expect("a process"));
        }
        let asked = call(&session, "ask", r#"{"number": 2}"#).await;
        assert_eq!(asked.as_deref(), Ok("accept model accept model"));
    }
    assert_eq!(processes.len(), 2, "both instances answer");
    session.close().await;
}

#[tokio::test]
#[ignore = "needs redis-server and haproxy"]
async fn a_session_continues_when_an_instance_is_killed() {
    let (_redis, mut first, second) = two_instances().await;
    let balancer = Balancer::start([&first, &second]).await;
    let session = client(&balancer).await;
    let counting = |_| call(&session, "count", r#"{"to": 300, "pause": 10}"#);
    let kill = async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        first.kill().await;
    };
    let (one, two, three, four, ()) = tokio::join!(counting(1), counting(2), counting(3), counting(4), kill);
    let (done, died): (Vec<_>, Vec<_>) = [one, two, three, four].into_iter().partition(Result::is_ok);
    assert_eq!(
        done.len(),
        2,
        "the other instance finishes its calls: {done:?} {died:?}"
    );
    for error in died.into_iter().filter_map(Result::err) {
        assert!(error.contains("has died"), "{error}");
    }
    for _ in 0..4 {
        let again = call(&session, "count", r#"{"to": 20, "pause": 10}"#).await;
        assert_eq!(again.as_deref(), Ok("counted to 20"));
    }
    session.close().await;
}
