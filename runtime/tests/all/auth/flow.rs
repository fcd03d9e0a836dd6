//! Authorization of a client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use mcp_runtime::auth::{Authorizer, Client, Loopback, Scopes};
use mcp_runtime::transport::http::client::reqwest;
use mcp_runtime::{Limits, Options};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::auth::script::{Reply, json as reply, status, with_headers};
use crate::auth::test_servers::{TestServers, call, connect_to};
use crate::auth::user::Browser;

#[tokio::test]
async fn a_client_registers_and_asks_the_user_once() {
    let world = TestServers::new().await;
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    call(&session).await.unwrap();
    assert_eq!(user.asked(), 1);

    let registered = world.auth.seen("POST /register")[0].json();
    assert_eq!(registered["application_type"], "native");
    assert_eq!(
        registered["grant_types"],
        json!(["authorization_code", "refresh_token"])
    );
    let asked = &world.auth.seen("GET /authorize")[0];
    let expected = [
        ("client_id", "a client"),
        ("response_type", "code"),
        ("code_challenge_method", "S256"),
        ("resource", &world.endpoint()),
        ("scope", "basic"),
    ];
    for (name, value) in expected {
        assert_eq!(asked.query(name).as_deref(), Some(value), "{name}");
    }
    let got = &world.auth.seen("POST /token")[0];
    assert_eq!(got.form("resource"), Some(world.endpoint()));
    assert_eq!(got.form("redirect_uri"), asked.query("redirect_uri"));
    assert_eq!(got.form("client_id").as_deref(), Some("a client"));
    let (first, others) = world
        .mcp
        .seen("POST /mcp")
        .split_first()
        .map(|(first, others)| (first.clone(), others.to_vec()))
        .unwrap();
    assert_eq!(first.header("authorization"), None);
    assert!(!others.is_empty());
    for request in others {
        assert_eq!(request.header("authorization"), Some("Bearer token-0"));
        assert_eq!(request.url.query(), None);
    }
}

#[tokio::test]
async fn concurrent_requests_ask_the_user_once() {
    let world = TestServers::new().await;
    let user = Browser::slow(Duration::from_millis(200));
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    // Without a valid refresh token, the user is asked again.
    world.issued.revoke();
    let issued = world.issued.clone();
    world.auth.on("POST /token", move |request| {
        match request.form("grant_type").as_deref() {
            Some("authorization_code") => {
                let token = ("another".to_owned(), "basic".to_owned());
                issued.tokens.lock().unwrap().push(token);
                reply(json!({"access_token": "another", "token_type": "Bearer"}))
            }
            _ => status(400),
        }
    });
    let calls = (0..8).map(|_| call(&session));
    for called in futures_util::future::join_all(calls).await {
        called.unwrap();
    }
    assert_eq!(user.asked(), 2);

    // If the user denies it, all of them fail.
    world.issued.revoke();
    world.auth.on("GET /authorize", |_| status(403));
    let calls = (0..8).map(|_| call(&session));
    for called in futures_util::future::join_all(calls).await {
        called.unwrap_err();
    }
    assert_eq!(user.asked(), 3);
}

#[tokio::test]
async fn a_token_that_is_no_longer_accepted_is_refreshed() {
    let world = TestServers::new().await;
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    call(&session).await.unwrap();
    for _ in 0..2 {
        world.issued.revoke();
        call(&session).await.unwrap();
    }
    assert_eq!(user.asked(), 1);
    let refreshed = world.auth.seen("POST /token");
    assert_eq!(refreshed[1].form("grant_type").as_deref(), Some("refresh_token"));
    assert_eq!(refreshed[1].form("resource"), Some(world.endpoint()));
    assert_eq!(refreshed[1].form("client_id").as_deref(), Some("a client"));

    // If the refreshed token isn't accepted either, the user is asked.
    let calls = Arc::new(Mutex::new(0));
    world.auth.on("POST /token", move |request| {
        let mut calls = calls.lock().unwrap();
        *calls += 1;
        match request.form("grant_type").as_deref() {
            Some("refresh_token") => reply(json!({"access_token": "stale", "token_type": "Bearer"})),
            _ => Reply::Next,
        }
    });
    world.issued.revoke();
    call(&session).await.unwrap_err();
    call(&session).await.unwrap_err();
    assert_eq!(user.asked(), 2);
}

#[tokio::test]
async fn a_client_that_the_authorization_server_has_forgotten_registers_again() {
    let world = TestServers::new().await;
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    call(&session).await.unwrap();

    // As after a restart of an authorization server that keeps its registrations in memory.
    world.issued.revoke();
    world
        .auth
        .on("POST /register", |_| reply(json!({"client_id": "another client"})));
    let issued = world.issued.clone();
    world.auth.on("POST /token", move |request| {
        if request.form("client_id").as_deref() != Some("another client") {
            let error = axum::Json(json!({"error": "invalid_client"}));
            return Reply::Response((StatusCode::UNAUTHORIZED, error).into_response());
        }
        let token = ("another".to_owned(), "basic".to_owned());
        issued.tokens.lock().unwrap().push(token);
        reply(json!({"access_token": "another", "token_type": "Bearer"}))
    });
    call(&session).await.unwrap();
    assert_eq!(user.asked(), 2);
    let asked = world.auth.seen("GET /authorize");
    assert_eq!(asked[1].query("client_id").as_deref(), Some("another client"));
}

#[tokio::test]
async fn the_user_can_take_longer_than_the_timeouts_of_the_server() {
    let world = TestServers::new().await;
    let limits = Limits {
        probe_timeout: Duration::from_millis(300),
        call_timeout: Duration::from_millis(300),
        call_timeout_max: Duration::from_millis(300),
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    let user = Browser::slow(Duration::from_secs(1));
    let session = connect_to(&world.endpoint(), Authorizer::interactive(user), options)
        .await
        .unwrap();
    // The delay wasn't taken as a sign of a server with a handshake.
    let requests = world.mcp.seen("POST /mcp");
    assert!(
        requests
            .iter()
            .all(|request| request.json()["method"] == "server/discover")
    );
    call(&session).await.unwrap();
}

#[tokio::test]
async fn additional_scopes_are_requested_together_with_earlier_ones() {
    let world = TestServers::new().await;
    let (issued, challenge) = (world.issued.clone(), world.challenge());
    world.on_mcp(move |request| {
        let wanted = if request.body.contains("tools/call") {
            "write"
        } else {
            "basic"
        };
        match issued.scopes(request) {
            None => with_headers(401, &[("www-authenticate", format!("{challenge}, scope=\"{wanted}\""))]),
            Some(scopes) if Scopes::from(scopes.as_str()).includes(&Scopes::from([wanted])) => Reply::Next,
            Some(_) => {
                let challenge = format!("{challenge}, error=\"insufficient_scope\", scope=\"{wanted}\"");
                with_headers(403, &[("www-authenticate", challenge)])
            }
        }
    });
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    call(&session).await.unwrap();
    call(&session).await.unwrap();
    let asked = world.auth.seen("GET /authorize");
    let scopes: Vec<_> = asked.iter().map(|request| request.query("scope").unwrap()).collect();
    assert_eq!(scopes, ["basic", "basic write"]);
    assert_eq!(world.auth.seen("POST /register").len(), 1);
}

#[tokio::test]
async fn scopes_that_were_not_granted_are_requested_again_by_the_next_call() {
    let world = TestServers::new().await;
    let (issued, challenge) = (world.issued.clone(), world.challenge());
    world.on_mcp(move |request| match issued.scopes(request).as_deref() {
        None => with_headers(401, &[("www-authenticate", format!("{challenge}, scope=\"basic\""))]),
        Some("basic") if request.body.contains("tools/call") => {
            let challenge = format!("{challenge}, error=\"insufficient_scope\", scope=\"basic write\"");
            with_headers(403, &[("www-authenticate", challenge)])
        }
        Some(_) => Reply::Next,
    });
    let (issued, granted) = (world.issued.clone(), Arc::new(Mutex::new("basic")));
    let grants = granted.clone();
    world.auth.on("POST /token", move |_| {
        let (mut tokens, scope) = (issued.tokens.lock().unwrap(), *grants.lock().unwrap());
        let token = format!("another-{}", tokens.len());
        tokens.push((token.clone(), scope.to_owned()));
        reply(json!({"access_token": token, "token_type": "Bearer", "scope": scope}))
    });
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    // Each call asks the user only once.
    call(&session).await.unwrap_err();
    assert_eq!(user.asked(), 2);
    *granted.lock().unwrap() = "basic write";
    call(&session).await.unwrap();
    call(&session).await.unwrap();
    let asked = world.auth.seen("GET /authorize");
    let scopes: Vec<_> = asked.iter().map(|request| request.query("scope").unwrap()).collect();
    assert_eq!(scopes, ["basic", "basic write", "basic write"]);
}

#[tokio::test]
async fn a_refresh_that_fails_temporarily_is_an_error_without_another_login() {
    let world = TestServers::new().await;
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    call(&session).await.unwrap();
    for (code, body) in [
        (429, json!(null)),
        (503, json!({"error": "temporarily_unavailable"})),
        (400, json!({"error": "temporarily_unavailable"})),
    ] {
        let code = StatusCode::from_u16(code).unwrap();
        world.auth.on("POST /token", move |_| {
            Reply::Response((code, axum::Json(body.clone())).into_response())
        });
        world.issued.revoke();
        let error = call(&session).await.unwrap_err().to_string();
        assert!(error.contains("temporarily unavailable"), "{error}");
    }
    assert_eq!(user.asked(), 1);
    assert_eq!(world.auth.seen("POST /register").len(), 1);
}

#[tokio::test]
async fn null_members_of_metadata_count_as_absent_and_other_types_are_reported() {
    let world = TestServers::new().await;
    let place = "/.well-known/oauth-protected-resource/mcp";
    let challenge = world.challenge();
    for challenge in [challenge.as_str(), "Bearer"] {
        let (issued, challenge) = (world.issued.clone(), challenge.to_owned());
        world.on_mcp(move |request| match issued.scopes(request) {
            Some(_) => Reply::Next,
            None => with_headers(401, &[("www-authenticate", challenge.clone())]),
        });
        let mut metadata = world.resource();
        for member in ["bearer_methods_supported", "resource_name", "scopes_supported"] {
            metadata[member] = json!(null);
        }
        world.mcp.document(place, metadata.clone());
        let session = world
            .connect(Authorizer::interactive(Browser::default()))
            .await
            .unwrap();
        call(&session).await.unwrap();
        metadata["scopes_supported"] = json!("basic");
        world.mcp.document(place, metadata);
        let error = world.error().await;
        assert!(error.contains(place) && error.contains("can't be used"), "{error}");
    }
}

#[tokio::test]
async fn a_login_does_not_wait_for_idle_connections_to_the_local_port() {
    let world = TestServers::new().await;
    let user = Loopback::bind(|url| {
        let url = url.clone();
        tokio::spawn(async move {
            let mut pairs = url.query_pairs();
            let redirect = pairs.find(|(name, _)| name == "redirect_uri").unwrap().1;
            let port = reqwest::Url::parse(&redirect).unwrap().port().unwrap();
            let _idle = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            reqwest::get(url.clone()).await.unwrap();
        });
    });
    let login = world.connect(Authorizer::interactive(user.await.unwrap()));
    let session = timeout(Duration::from_secs(4), login).await.unwrap().unwrap();
    call(&session).await.unwrap();
}

#[tokio::test]
async fn a_local_port_receives_the_redirect_and_refuses_other_requests() {
    let world = TestServers::new().await;
    let user = Loopback::bind(|url| {
        let url = url.clone();
        tokio::spawn(async move {
            let redirect_uri = url
                .query_pairs()
                .find(|(name, _)| name == "redirect_uri")
                .unwrap()
                .1
                .into_owned();
            // Other programs can reach the port too.
            let stray = reqwest::get(format!("{redirect_uri}?code=stolen&state=guessed"))
                .await
                .unwrap();
            assert_eq!(stray.status(), 404);
            // The browser follows the redirect.
            assert_eq!(reqwest::get(url).await.unwrap().status(), 200);
        });
    });
    let session = world
        .connect(Authorizer::interactive(user.await.unwrap()))
        .await
        .unwrap();
    call(&session).await.unwrap();
}

#[tokio::test]
async fn a_local_port_can_be_that_of_a_registered_redirect_uri() {
    let world = TestServers::new().await;
    let port = free_port().await;
    let uri = format!("http://localhost:{port}/login/done");
    let user = Loopback::bind_to(&uri, |url| {
        tokio::spawn(reqwest::get(url.clone()));
    });
    let client = Client::new(&world.auth.url, "registered");
    let authorizer = Authorizer::interactive(user.await.unwrap()).client(client);
    let session = world.connect(authorizer).await.unwrap();
    call(&session).await.unwrap();
    let asked = &world.auth.seen("GET /authorize")[0];
    assert_eq!(asked.query("redirect_uri"), Some(uri));

    for other in [
        "https://localhost/login",
        "http://notes.example/login",
        "http://localhost/#login",
        "login",
    ] {
        let error = Loopback::bind_to(other, |_| {}).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{other}");
    }
}

async fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn a_user_who_does_not_answer_in_time_is_an_error() {
    let world = TestServers::new().await;
    let user = Loopback::bind(|_| {}).await.unwrap().timeout(Duration::from_millis(50));
    let error = world.connect(Authorizer::interactive(user)).await.unwrap_err();
    assert!(error.to_string().contains("the user didn't answer in time"), "{error}");
}

#[tokio::test]
async fn a_client_authenticates_with_its_id_and_secret() {
    let world = TestServers::new().await;
    world.with_metadata("token_endpoint_auth_methods_supported", json!(["client_secret_basic"]));
    let client = Client::new(&world.auth.url, "a client").secret("100% :secret");
    let session = world.connect(Authorizer::client_credentials(client)).await.unwrap();
    call(&session).await.unwrap();
    let got = &world.auth.seen("POST /token")[0];
    // `a+client:100%25+%3Asecret`
    assert_eq!(
        got.header("authorization"),
        Some("Basic YStjbGllbnQ6MTAwJTI1KyUzQXNlY3JldA==")
    );
    assert_eq!(got.form("scope").as_deref(), Some("basic"));
    assert_eq!(got.form("client_secret"), None);
}

#[tokio::test]
async fn an_issuer_can_be_named_with_a_slash_that_its_metadata_lack() {
    let world = TestServers::new().await;
    let mut metadata = world.resource();
    metadata["authorization_servers"] = json!([format!("{}/", world.auth.url)]);
    world
        .mcp
        .document("/.well-known/oauth-protected-resource/mcp", metadata);
    let authorizer = || Authorizer::interactive(Browser::default());
    let named = |issuer: String| authorizer().client(Client::new(issuer, "registered"));
    for authorizer in [
        authorizer(),
        named(world.auth.url.clone()),
        named(format!("{}/", world.auth.url)),
    ] {
        let session = world.connect(authorizer).await.unwrap();
        call(&session).await.unwrap();
    }
    // The redirect has to name the issuer as the metadata do.
    world
        .mcp
        .document("/.well-known/oauth-protected-resource/mcp", world.resource());
    world.with_metadata("issuer", json!(format!("{}/", world.auth.url)));
    let error = world.error().await;
    assert!(
        error.contains(&format!("and not \"{}/\" as expected", world.auth.url)),
        "{error}"
    );
}

#[tokio::test]
async fn a_failed_authorization_does_not_lead_to_a_handshake() {
    let world = TestServers::new().await;
    world.on_mcp(|_| status(401));
    world
        .mcp
        .on("GET /.well-known/oauth-protected-resource/mcp", |_| status(500));
    world.error().await;
    assert_eq!(world.mcp.seen("POST /mcp").len(), 1);
}
