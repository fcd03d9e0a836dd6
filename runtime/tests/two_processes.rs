//! A stateless client of two server processes, of which each connection gets the other one.
#![cfg(all(
    feature = "http-client",
    feature = "http-server",
    feature = "router",
    feature = "stdio"
))]

use std::collections::HashSet;
use std::io::Write;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use mcp_runtime::transport::http::client::{HttpClient, HttpOptions, reqwest};
use mcp_runtime::transport::http::server::{HttpServer, router, serve};
use mcp_runtime::{CallServer, ClientHandler, ClientSide, Context, Era, Options, Revision, Router, connect, hub};
use tokio::io::{AsyncBufReadExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Set for a process that serves.
const SERVES: &str = "MCP_TEST_SERVES";
const PATIENCE: Duration = Duration::from_secs(60);

struct Client;

impl ClientHandler<Context<ClientSide>> for Client {}

fn options() -> Options {
    Options {
        supported: Revision::ALL.to_vec(),
        ..Options::default()
    }
}

/// A process that serves until its standard input ends. It does nothing unless the other test has started it.
#[tokio::test]
async fn a_process_that_serves() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let app = router(HttpServer::new().revisions(Revision::ALL), |transport, _| {
        let router = Router::new("one of two", "1.0").tool("process", "Says which process answers", |_: (), _| async {
            std::process::id().to_string()
        });
        router.serve(options(), transport);
    });
    let mut out = std::io::stdout();
    writeln!(out, "\nserves at {address}")
        .and_then(|()| out.flush())
        .expect("it can be written");
    std::thread::spawn(|| {
        // It ends with the test that has started it.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    serve(listener, app).await;
}

/// Starts another process of this test.
async fn start() -> (Child, SocketAddr) {
    let test = std::env::current_exe().expect("this is a program");
    let mut command = Command::new(test);
    command
        .args(["--exact", "a_process_that_serves", "--nocapture"])
        .env(SERVES, "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let address = async {
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(address) = line.strip_prefix("serves at ") {
                return address.parse().expect("an address");
            }
        }
        panic!("the process has no address");
    };
    let address = timeout(PATIENCE, address).await.expect("it serves");
    (child, address)
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

#[tokio::test]
async fn any_process_takes_any_request_of_a_stateless_client() {
    let ((first, one), (second, other)) = tokio::join!(start(), start());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    let balancing = tokio::spawn(balance(listener, [one, other]));

    let without_pool = reqwest::Client::builder().pool_max_idle_per_host(0).build();
    let transport = HttpOptions::default().client(without_pool.expect("a client"));
    let transport = HttpClient::new(&url, transport).expect("the address is one");
    let info = hub::Implementation::new("client", "1.0");
    let connecting = connect(Client, info, hub::ClientCapabilities::default(), options(), transport);
    let session = timeout(PATIENCE, connecting)
        .await
        .expect("it doesn't hang")
        .expect("a session");
    assert_eq!(session.peer().era(), Some(Era::Stateless));
    let mut processes = HashSet::new();
    for _ in 0..8 {
        let tools = session
            .peer()
            .list_tools(hub::PaginatedRequestParams::default())
            .await
            .expect("a list");
        assert_eq!(tools.tools.len(), 1);
        for _ in 0..2 {
            let result = session.peer().call_tool(hub::CallToolRequestParams::new("process"));
            let result = result.await.expect("a result");
            processes.insert(serde_json::to_string(&result.content).expect("JSON"));
        }
    }
    assert_eq!(processes.len(), 2, "both processes answer: {processes:?}");
    session.close().await;
    balancing.abort();
    drop((first, second));
}
