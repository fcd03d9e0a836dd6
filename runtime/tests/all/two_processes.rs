//! A stateless client of two server processes, which get its connections in turns.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use mcp_runtime::router::Call;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions, reqwest};
use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::{
    CallClient, CallError, CallServer, ClientHandler, ClientSession, ClientSide, Context, Era, ErrorObject, Options,
    Revision, Router, Sealing, connect, hub, mcp_wire,
};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::processes;

const PATIENCE: Duration = Duration::from_secs(60);

/// A client that accepts every elicitation.
struct Client;

impl ClientHandler<Context<ClientSide>> for Client {
    async fn elicit(
        &self,
        _: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        Ok(hub::ElicitResult::new(hub::ElicitResultAction::Accept))
    }
}

fn form(message: &str) -> hub::ElicitRequestParams {
    let form = mcp_wire::from_str(r#"{"type": "object", "properties": {}}"#).expect("it is a form");
    hub::ElicitRequestFormParams::new(message, form).into()
}

fn options() -> Options {
    Options {
        supported: Revision::ALL.to_vec(),
        ..Options::default()
    }
}

/// A process that serves until its standard input ends. It does nothing unless another test has started it.
#[tokio::test]
async fn a_process_that_serves() {
    if !processes::is_one() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let app = HttpServer::from_fn(|transport, _| {
        let router = Router::new("one of two", "1.0").tool("process", "Says which process answers", || async {
            std::process::id().to_string()
        });
        let router = router.tool(
            "asks",
            "Asks twice, and says which process ends it",
            |call: Call| async move {
                let mut answers = Vec::new();
                for question in ["first", "second"] {
                    answers.push(call.peer().elicit(form(question)).await?.action.as_str().to_owned());
                }
                Ok::<_, CallError>(format!("{} {}", std::process::id(), answers.join(" ")))
            },
        );
        let options = Options {
            sealing: Sealing::with_key(&[7; 32]),
            ..options()
        };
        router.serve(options, transport);
    })
    .revisions(Revision::ALL);
    processes::announce(address);
    serve(listener, app).await;
}

/// Starts another process of this test.
async fn start() -> (Child, SocketAddr) {
    processes::start("two_processes::a_process_that_serves", &[]).await
}

/// Gives each connection to the next server.
async fn balance(listener: TcpListener, servers: [SocketAddr; 2]) {
    for server in servers.into_iter().cycle() {
        let Ok((mut client, _)) = listener.accept().await else {
            return;
        };
        tokio::spawn(async move {
            if let Ok(mut server) = TcpStream::connect(server).await {
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        });
    }
}

/// A stateless client of two processes, with a separate connection for each request.
struct Balanced {
    session: ClientSession,
    balancing: JoinHandle<()>,
    _processes: [Child; 2],
}

async fn balanced() -> Balanced {
    let ((first, one), (second, other)) = tokio::join!(start(), start());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    let balancing = tokio::spawn(balance(listener, [one, other]));
    let without_pool = reqwest::Client::builder().pool_max_idle_per_host(0).build();
    let transport = HttpOptions::default().client(without_pool.expect("a client"));
    let transport = HttpClient::new(&url, transport).expect("the address is one");
    let info = hub::Implementation::new("client", "1.0");
    let capabilities = mcp_wire::from_str(r#"{"elicitation": {}}"#).expect("they are capabilities");
    let connecting = connect(Client, info, capabilities, options(), transport);
    let session = timeout(PATIENCE, connecting)
        .await
        .expect("it doesn't hang")
        .expect("a session");
    assert_eq!(session.peer().era(), Some(Era::Stateless));
    Balanced {
        session,
        balancing,
        _processes: [first, second],
    }
}

impl Balanced {
    /// The text that a tool returns.
    async fn call(&self, tool: &str) -> String {
        let result = self
            .session
            .peer()
            .call_tool(hub::CallToolRequestParams::new(tool))
            .await;
        match result.expect("a result").content.as_slice() {
            [hub::ContentBlock::Text(content)] => content.text.clone(),
            other => panic!("{other:?}"),
        }
    }

    async fn end(self) {
        self.session.close().await;
        self.balancing.abort();
    }
}

#[tokio::test]
async fn any_process_handles_any_request_of_a_stateless_client() {
    let balanced = balanced().await;
    let mut processes = HashSet::new();
    for _ in 0..8 {
        let peer = balanced.session.peer();
        let tools = peer
            .list_tools(hub::PaginatedRequestParams::default())
            .await
            .expect("a list");
        assert_eq!(tools.tools.len(), 2);
        for _ in 0..2 {
            processes.insert(balanced.call("process").await);
        }
    }
    assert_eq!(processes.len(), 2, "both processes answer: {processes:?}");
    balanced.end().await;
}

#[tokio::test]
async fn processes_that_share_a_key_continue_the_rounds_of_each_other() {
    let balanced = balanced().await;
    let mut processes = HashSet::new();
    for _ in 0..8 {
        // The processes get requests in turns: the one that gets this request also gets the second of the three rounds.
        let process = balanced.call("process").await;
        let ended = balanced.call("asks").await;
        let (by, answers) = ended.split_once(' ').expect("a process and the answers");
        assert_eq!(answers, "accept accept");
        assert_ne!(by, process, "the other process gets the first and the last round");
        processes.insert(by.to_owned());
        // The next iteration then starts with the other process.
        balanced.call("process").await;
    }
    assert_eq!(processes.len(), 2, "{processes:?}");
    balanced.end().await;
}
