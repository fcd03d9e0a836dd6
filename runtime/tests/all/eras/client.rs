//! Our client, and hand-written servers that answer its discovery in every way.

use std::time::Duration;

use mcp_runtime::{CallError, CallServer, ClientSession, ConnectError, Era, Limits, Options, Revision, hub};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::common::connect_to;
use crate::eras::{Lined, PATIENCE, handshake, pipe, stateless};

type Connecting = JoinHandle<Result<ClientSession, ConnectError>>;

fn connect_with(options: Options) -> (Connecting, Lined) {
    let (transport, server) = pipe();
    (tokio::spawn(connect_to(transport, options)), server)
}

fn options() -> Options {
    Options {
        supported: Revision::ALL.into_iter().filter(|it| *it <= stateless()).collect(),
        limits: Limits {
            probe_timeout: PATIENCE,
            ..Limits::default()
        },
        ..Options::default()
    }
}

async fn session(connecting: Connecting) -> Result<ClientSession, ConnectError> {
    timeout(PATIENCE, connecting)
        .await
        .expect("it doesn't hang")
        .expect("no panic")
}

fn discovered(id: &Value, versions: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "supportedVersions": versions,
        "capabilities": {"tools": {}, "resources": {}}, "instructions": "Be kind.",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "server", "version": "1"}},
    }})
}

/// Does the server's part of a handshake.
async fn shake_hands(server: &mut Lined) {
    let asked = server.receive().await;
    assert_eq!(asked["method"], "initialize", "{asked}");
    assert_eq!(asked["params"]["protocolVersion"], handshake().as_str());
    let result = json!({
        "protocolVersion": handshake().as_str(), "capabilities": {"tools": {}},
        "serverInfo": {"name": "server", "version": "1"},
    });
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    server.send(answer).await;
    assert_eq!(server.receive().await["method"], "notifications/initialized");
}

#[tokio::test]
async fn a_server_that_answers_discovery_gets_stateless_requests_without_a_handshake() {
    let (connecting, mut server) = connect_with(options());
    let probe = server.receive().await;
    assert_eq!(probe["method"], "server/discover", "{probe}");
    let meta = &probe["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], stateless().as_str());
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "client");
    stateless()
        .validate_call(probe.to_string().as_bytes())
        .expect("it conforms to the schema");
    server
        .send(discovered(&probe["id"], json!([stateless().as_str()])))
        .await;
    let session = session(connecting).await.expect("there is a session");
    let peer = session.peer().clone();
    assert_eq!((peer.era(), peer.revision()), (Some(Era::Stateless), Some(stateless())));
    let info = peer.info().expect("the server is known");
    assert_eq!(info.instructions.as_deref(), Some("Be kind."));
    assert_eq!(info.implementation.as_ref().map(|it| it.name.as_str()), Some("server"));

    let calling = tokio::spawn(async move { peer.list_tools(hub::PaginatedRequestParams::default()).await });
    let call = server.receive().await;
    assert_eq!(call["method"], "tools/list", "{call}");
    let meta = &call["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], stateless().as_str());
    let tool = json!({"name": "weather", "inputSchema": {"type": "object"}});
    let result = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [tool]});
    server
        .send(json!({"jsonrpc": "2.0", "id": call["id"], "result": result}))
        .await;
    let tools = calling.await.expect("no panic").expect("there is a result");
    assert_eq!(tools.tools[0].name, "weather");
}

#[tokio::test]
async fn errors_that_are_not_of_the_stateless_era_lead_to_a_handshake() {
    for (code, data) in [
        (-32601, json!(null)),
        (-32602, json!(null)),
        (-32600, json!("not begun")),
        (-32000, json!({"supported": [stateless().as_str()]})),
        (-32022, json!(null)),
        (0, json!(null)),
    ] {
        let (connecting, mut server) = connect_with(options());
        let probe = server.receive().await;
        let error = json!({"code": code, "message": "no", "data": data});
        server
            .send(json!({"jsonrpc": "2.0", "id": probe["id"], "error": error}))
            .await;
        shake_hands(&mut server).await;
        let session = session(connecting).await.expect("there is a session");
        assert_eq!(session.peer().era(), Some(Era::Handshake), "{code}");
    }
}

#[tokio::test]
async fn a_result_that_is_not_a_discovery_leads_to_a_handshake() {
    for result in [json!({}), json!({"supportedVersions": "all"})] {
        let (connecting, mut server) = connect_with(options());
        let probe = server.receive().await;
        server
            .send(json!({"jsonrpc": "2.0", "id": probe["id"], "result": result}))
            .await;
        shake_hands(&mut server).await;
        session(connecting).await.expect("there is a session");
    }
}

#[tokio::test]
async fn discovery_is_repeated_in_a_stateless_revision_that_the_server_lists() {
    let (connecting, mut server) = connect_with(options());
    let probe = server.receive().await;
    let data = json!({"supported": ["2999-01-01", stateless().as_str()], "requested": "2026"});
    let error = json!({"code": -32022, "message": "no", "data": data});
    server
        .send(json!({"jsonrpc": "2.0", "id": probe["id"], "error": error}))
        .await;
    let probe = server.receive().await;
    assert_eq!(probe["method"], "server/discover");
    server
        .send(discovered(&probe["id"], json!([stateless().as_str()])))
        .await;
    let session = session(connecting).await.expect("there is a session");
    assert_eq!(session.peer().era(), Some(Era::Stateless));
}

#[tokio::test]
async fn a_server_that_lists_only_revisions_with_a_handshake_gets_a_handshake() {
    for is_error in [true, false] {
        let (connecting, mut server) = connect_with(options());
        let probe = server.receive().await;
        let versions = json!([handshake().as_str()]);
        let data = json!({"supported": versions, "requested": stateless().as_str()});
        let error = json!({"code": -32022, "message": "no", "data": data});
        let answer = match is_error {
            true => json!({"jsonrpc": "2.0", "id": probe["id"], "error": error}),
            false => discovered(&probe["id"], versions),
        };
        server.send(answer).await;
        shake_hands(&mut server).await;
        session(connecting).await.expect("there is a session");
    }
}

#[tokio::test]
async fn a_stateless_server_without_a_common_revision_gets_no_handshake() {
    let (connecting, mut server) = connect_with(options());
    let probe = server.receive().await;
    server.send(discovered(&probe["id"], json!(["2999-01-01"]))).await;
    let error = session(connecting).await.expect_err("nothing is in common");
    assert!(matches!(error, ConnectError::Mismatch(_)), "{error}");
}

#[tokio::test]
async fn discovery_is_repeated_if_a_refused_handshake_lists_a_stateless_revision() {
    let (connecting, mut server) = connect_with(options());
    let refusal = |id: &Value, code: i64, data: Value| {
        let error = json!({"code": code, "message": "no", "data": data});
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    };
    let probe = server.receive().await;
    server.send(refusal(&probe["id"], -32603, json!(null))).await;
    let asked = server.receive().await;
    assert_eq!(asked["method"], "initialize", "{asked}");
    let data = json!({"supported": [stateless().as_str()], "requested": handshake().as_str()});
    server.send(refusal(&asked["id"], -32022, data)).await;
    let probe = server.receive().await;
    assert_eq!(probe["method"], "server/discover", "{probe}");
    server
        .send(discovered(&probe["id"], json!([stateless().as_str()])))
        .await;
    let session = session(connecting).await.expect("there is a session");
    assert_eq!(session.peer().era(), Some(Era::Stateless));
}

#[tokio::test]
async fn discovery_is_not_repeated_after_other_refusals_of_the_handshake() {
    for (code, versions) in [(-32022, json!(["2999-01-01"])), (-32602, json!([stateless().as_str()]))] {
        let (connecting, mut server) = connect_with(options());
        for method in ["server/discover", "initialize"] {
            let asked = server.receive().await;
            assert_eq!(asked["method"], method, "{asked}");
            let code = if method == "initialize" { code } else { -32603 };
            let error = json!({"code": code, "message": "no", "data": {"supported": versions, "requested": "x"}});
            server
                .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
                .await;
        }
        let error = session(connecting).await.expect_err("there is nothing more to try");
        assert!(error.to_string().contains(&code.to_string()), "{error}");
    }
}

#[tokio::test]
async fn error_codes_of_stateless_servers_are_converted_to_the_hub() {
    let (connecting, mut server) = connect_with(options());
    let probe = server.receive().await;
    server
        .send(discovered(&probe["id"], json!([stateless().as_str()])))
        .await;
    let session = session(connecting).await.expect("there is a session");
    let peer = session.peer().clone();
    let reading = tokio::spawn(async move {
        peer.read_resource(hub::ReadResourceRequestParams::new("test://a"))
            .await
    });
    let asked = server.receive().await;
    let error = json!({"code": -32602, "message": "no", "data": {"uri": "test://a"}});
    server
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
        .await;
    match reading.await.expect("no panic") {
        Err(CallError::Peer(error)) => assert_eq!(error.code, hub::error_code::RESOURCE_NOT_FOUND),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_silent_server_gets_a_handshake_after_the_probe_timeout() {
    let mut options = options();
    options.limits.probe_timeout = Duration::from_millis(20);
    let (connecting, mut server) = connect_with(options);
    let probe = server.receive().await;
    shake_hands(&mut server).await;
    // A response that comes too late has no effect.
    server
        .send(discovered(&probe["id"], json!([stateless().as_str()])))
        .await;
    let session = session(connecting).await.expect("there is a session");
    assert_eq!(session.peer().era(), Some(Era::Handshake));
}

#[tokio::test]
async fn a_handshake_that_results_in_a_stateless_revision_fails() {
    let (connecting, mut server) = connect_with(options());
    let probe = server.receive().await;
    let error = json!({"code": -32601, "message": "no"});
    server
        .send(json!({"jsonrpc": "2.0", "id": probe["id"], "error": error}))
        .await;
    let asked = server.receive().await;
    assert_eq!(asked["method"], "initialize", "{asked}");
    assert_ne!(asked["id"], probe["id"]);
    let info = json!({"name": "server", "version": "1"});
    let result = json!({"protocolVersion": stateless().as_str(), "capabilities": {}, "serverInfo": info});
    server
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
        .await;
    session(connecting).await.expect_err("the revision has no handshake");
}

#[tokio::test]
async fn a_configured_era_needs_no_discovery() {
    let options = Options {
        era: Some(Era::Handshake),
        ..options()
    };
    let (connecting, mut server) = connect_with(options);
    shake_hands(&mut server).await;
    session(connecting).await.expect("there is a session");
}

#[tokio::test(start_paused = true)]
async fn a_stateless_only_client_waits_for_discovery_until_the_answer_timeout() {
    let options = Options {
        supported: vec![stateless()],
        ..Options::default()
    };
    let late = options.limits.call_timeout - Duration::from_secs(1);
    assert!(late > 2 * options.limits.probe_timeout);
    let (connecting, mut server) = connect_with(options.clone());
    let probe = server.receive().await;
    sleep(late).await;
    server
        .send(discovered(&probe["id"], json!([stateless().as_str()])))
        .await;
    let session = session(connecting).await.expect("there is a session");
    assert_eq!(session.peer().era(), Some(Era::Stateless));

    let (connecting, _server) = connect_with(options.clone());
    let error = connecting.await.expect("no panic").expect_err("it is silent");
    let patience = options.limits.call_timeout;
    assert!(
        matches!(error, ConnectError::Call(CallError::TimedOut(time)) if time == patience),
        "{error}"
    );
}

#[tokio::test]
async fn a_stateless_only_client_reports_why_the_server_is_not_stateless() {
    let options = Options {
        supported: vec![stateless()],
        ..options()
    };
    let not_stateless = "the server speaks no stateless revision, and the options support no other: ";
    let refused = format!("{not_stateless}the peer answered with error -32601: What?");
    let undecided = format!("{not_stateless}the answer isn't a result of the method");
    for (answer, expected) in [
        (json!({"error": {"code": -32601, "message": "What?"}}), &*refused),
        (json!({"result": {}}), &*undecided),
        (
            discovered(&json!(0), json!([handshake().as_str()])),
            handshake().as_str(),
        ),
    ] {
        let (connecting, mut server) = connect_with(options.clone());
        let probe = server.receive().await;
        let mut answer = answer;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = probe["id"].clone();
        server.send(answer).await;
        let error = session(connecting)
            .await
            .expect_err("there is no handshake")
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    let (connecting, server) = connect_with(options);
    drop(server);
    let error = session(connecting)
        .await
        .expect_err("the server has closed the connection");
    assert!(matches!(error, ConnectError::Call(CallError::Closed)), "{error}");
}

#[tokio::test]
async fn a_client_configured_as_stateless_never_starts_a_handshake() {
    let options = Options {
        era: Some(Era::Stateless),
        ..options()
    };
    let (connecting, mut server) = connect_with(options);
    let probe = server.receive().await;
    let error = json!({"code": -32601, "message": "no"});
    server
        .send(json!({"jsonrpc": "2.0", "id": probe["id"], "error": error}))
        .await;
    session(connecting).await.expect_err("there is no handshake");
    assert!(server.lines.next_line().await.expect("it can be read").is_none());
}

#[tokio::test]
async fn a_result_with_an_unexpected_result_type_is_an_error() {
    let (connecting, mut server) = connect_with(options());
    let probe = server.receive().await;
    server
        .send(discovered(&probe["id"], json!([stateless().as_str()])))
        .await;
    let session = session(connecting).await.expect("there is a session");
    let peer = session.peer().clone();
    let calling = tokio::spawn(async move { peer.call_tool(hub::CallToolRequestParams::new("weather")).await });
    let call = server.receive().await;
    let result = json!({"resultType": "task", "content": []});
    server
        .send(json!({"jsonrpc": "2.0", "id": call["id"], "result": result}))
        .await;
    match calling.await.expect("no panic") {
        Err(CallError::InvalidResult(reason)) => assert!(reason.contains("task"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_by_a_notification() {
    let (connecting, mut server) = connect_with(options());
    let probe = server.receive().await;
    server
        .send(discovered(&probe["id"], json!([stateless().as_str()])))
        .await;
    let session = session(connecting).await.expect("there is a session");
    let peer = session.peer().clone();
    let calling = tokio::spawn(async move { peer.list_tools(hub::PaginatedRequestParams::default()).await });
    let call = server.receive().await;
    calling.abort();
    let cancelled = server.receive().await;
    assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
    assert_eq!(cancelled["params"]["requestId"], call["id"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_child_that_exits_because_of_the_probe_is_started_again() {
    use mcp_runtime::transport::stdio;

    let result = json!({
        "protocolVersion": handshake().as_str(), "capabilities": {}, "serverInfo": {"name": "shell", "version": "1"},
    });
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let script = format!("read line; case $line in *initialize*) echo '{answer}'; cat > /dev/null;; *) exit 1;; esac");
    let mut command = tokio::process::Command::new("/bin/sh");
    command.args(["-c", &script]);
    let transport = stdio::spawn(command, stdio::SpawnOptions::default()).expect("the shell starts");
    let connecting = connect_to(transport, options());
    let session = timeout(PATIENCE, connecting).await.expect("it doesn't hang");
    let session = session.expect("the second process answers");
    assert_eq!(session.peer().era(), Some(Era::Handshake));
    session.close().await;
}

#[tokio::test]
async fn the_log_level_is_set_after_the_handshake_if_the_server_declares_logging() {
    for (capabilities, refuses) in [
        (json!({"logging": {}}), false),
        (json!({"logging": {}}), true),
        (json!({}), false),
    ] {
        let options = Options {
            supported: vec![handshake()],
            log_level: Some(hub::LoggingLevel::Warning),
            ..Options::default()
        };
        let (connecting, mut server) = connect_with(options);
        let asked = server.receive().await;
        let info = json!({"name": "server", "version": "1"});
        let result = json!({"protocolVersion": handshake().as_str(), "capabilities": capabilities, "serverInfo": info});
        server
            .send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
            .await;
        assert_eq!(server.receive().await["method"], "notifications/initialized");
        if !capabilities["logging"].is_null() {
            let asked = server.receive().await;
            assert_eq!(asked["method"], "logging/setLevel", "{asked}");
            assert_eq!(asked["params"], json!({"level": "warning"}));
            let answer = match refuses {
                true => json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": "no"}}),
                false => json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}}),
            };
            server.send(answer).await;
        }
        let session = session(connecting).await.expect("there is a session");
        assert_eq!(session.peer().era(), Some(Era::Handshake));
    }
}
