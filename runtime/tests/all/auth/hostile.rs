//! Servers that try to get tokens for other servers, or to exhaust a client.

use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use axum::body::{Body, Bytes};
use axum::response::Response;
use mcp_runtime::auth::{Authorizer, Client, SigningKey};
use serde_json::{Value, json};
use url::Url;

use crate::auth::script::{Reply, Server, json as reply, redirect, status, with_headers};
use crate::auth::stores::pem;
use crate::auth::test_servers::{TestServers, auth_error, call};
use crate::auth::user::Browser;

/// Changes the redirect of the authorization server.
fn with_redirect(world: &TestServers, change: impl Fn(&mut Vec<(String, String)>) + Send + Sync + 'static) {
    let issuer = world.auth.url.clone();
    world.auth.on("GET /authorize", move |request| {
        let state = request.query("state").unwrap();
        let pairs = [("code", "a-code"), ("state", &state), ("iss", &issuer)];
        let mut pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        change(&mut pairs);
        let mut to = Url::parse(&request.query("redirect_uri").unwrap()).unwrap();
        to.query_pairs_mut().extend_pairs(pairs);
        with_headers(302, &[("location", to.into())])
    });
}

#[tokio::test]
async fn a_code_from_another_issuer_is_not_exchanged() {
    let world = TestServers::new().await;
    for issuer in ["https://honest.example".to_owned(), format!("{}/", world.auth.url)] {
        let named = issuer.clone();
        with_redirect(&world, move |pairs| pairs[2].1.clone_from(&named));
        assert!(world.error().await.contains(&issuer));
    }
    // An authorization server that declares the parameter `iss` must send it.
    with_redirect(&world, |pairs| pairs.truncate(2));
    assert!(world.error().await.contains("is \"\""));
    // Errors from another issuer aren't shown.
    with_redirect(&world, |pairs| {
        pairs[0] = ("error".to_owned(), "call_this_number".to_owned());
        pairs[2].1 = "https://other.example".to_owned();
    });
    assert!(!world.error().await.contains("call_this_number"));
    assert!(world.auth.seen("POST /token").is_empty());
}

#[tokio::test]
async fn a_redirect_with_a_wrong_or_missing_state_is_refused() {
    let world = TestServers::new().await;
    with_redirect(&world, |pairs| pairs[1].1 = "guessed".to_owned());
    assert!(world.error().await.contains("the redirect doesn't belong"));
    with_redirect(&world, |pairs| drop(pairs.remove(1)));
    assert!(world.error().await.contains("the redirect doesn't belong"));
    assert!(world.auth.seen("POST /token").is_empty());
}

#[tokio::test]
async fn metadata_of_another_issuer_are_refused() {
    let world = TestServers::new().await;
    for issuer in ["https://honest.example".to_owned(), format!("{}/other", world.auth.url)] {
        world.with_metadata("issuer", issuer.clone().into());
        let user = Browser::default();
        assert!(world.error_of(&user).await.contains(&issuer));
        assert_eq!(user.asked(), 0);
    }
    assert!(world.auth.seen("POST /register").is_empty());
}

#[tokio::test]
async fn metadata_of_another_resource_are_refused() {
    let world = TestServers::new().await;
    for resource in [
        "https://honest.example/mcp",
        "http://127.0.0.1:1/mcp",
        &format!("{}/mcp/more", world.mcp.url),
    ] {
        let mut metadata = world.resource();
        metadata["resource"] = json!(resource);
        world
            .mcp
            .document("/.well-known/oauth-protected-resource/mcp", metadata);
        assert!(world.error().await.contains(resource));
    }
    assert!(world.auth.seen("").is_empty());
}

#[tokio::test]
async fn an_authorization_server_without_pkce_is_refused() {
    let world = TestServers::new().await;
    for methods in [Value::Null, json!([]), json!(["plain"])] {
        world.with_metadata("code_challenge_methods_supported", methods);
        let user = Browser::default();
        assert!(world.error_of(&user).await.contains("no PKCE with S256"));
        assert_eq!(user.asked(), 0);
    }
}

#[tokio::test]
async fn codes_and_secrets_are_not_sent_to_a_redirect() {
    let world = TestServers::new().await;
    let other = Server::start().await;
    other.on("POST /token", |_| {
        reply(json!({"access_token": "theirs", "token_type": "Bearer"}))
    });
    let to = format!("{}/token", other.url);
    world.auth.on("POST /token", move |_| redirect(&to));
    world.error().await;
    let client = Client::new(&world.auth.url, "client").secret("secret");
    world.connect(Authorizer::client_credentials(client)).await.unwrap_err();
    assert!(other.seen("").is_empty());
}

#[tokio::test]
async fn a_token_is_not_sent_to_a_redirect_to_another_origin() {
    let world = TestServers::new().await;
    let other = Server::start().await;
    let session = world
        .connect(Authorizer::interactive(Browser::default()))
        .await
        .unwrap();
    let to = format!("{}/mcp", other.url);
    world.on_mcp(move |_| redirect(&to));
    call(&session).await.unwrap_err();
    assert!(other.seen("").is_empty());
}

#[tokio::test]
async fn redirects_of_metadata_are_limited_in_number_and_to_the_same_origin() {
    let world = TestServers::new().await;
    let count = AtomicUsize::new(0);
    let url = world.auth.url.clone();
    let endless = move |_: &_| {
        redirect(&format!(
            "{url}/.well-known/oauth-authorization-server?{}",
            count.fetch_add(1, Ordering::SeqCst)
        ))
    };
    world.auth.on("GET /.well-known/oauth-authorization-server", endless);
    assert!(world.error().await.contains("redirects"));
    assert_eq!(world.auth.seen("").len(), 4);

    let world = TestServers::new().await;
    let other = Server::start().await;
    other.document("/metadata", world.metadata());
    let to = format!("{}/metadata", other.url);
    world
        .auth
        .on("GET /.well-known/oauth-authorization-server", move |_| redirect(&to));
    assert!(world.error().await.contains("redirects to another origin"));
    assert!(other.seen("").is_empty());
}

#[tokio::test]
async fn responses_that_are_too_long_are_refused() {
    let world = TestServers::new().await;
    let endless = || {
        let chunks = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 14])));
        Reply::Response(Response::new(Body::from_stream(chunks)))
    };
    world
        .mcp
        .on("GET /.well-known/oauth-protected-resource/mcp", move |_| endless());
    assert!(world.error().await.contains("too long"));
    world
        .mcp
        .document("/.well-known/oauth-protected-resource/mcp", world.resource());
    world
        .auth
        .on("GET /.well-known/oauth-authorization-server", move |_| endless());
    assert!(world.error().await.contains("too long"));
    world
        .auth
        .document("/.well-known/oauth-authorization-server", world.metadata());
    world.auth.on("POST /token", move |_| endless());
    assert!(world.error().await.contains("too long"));
}

#[tokio::test]
async fn addresses_in_private_networks_are_not_requested() {
    let world = TestServers::new().await;
    for issuer in [
        "https://169.254.169.254",
        "http://10.0.0.1",
        "https://[fd00::1]",
        "https://[::ffff:192.168.0.1]",
    ] {
        let mut metadata = world.resource();
        metadata["authorization_servers"] = json!([issuer]);
        world
            .mcp
            .document("/.well-known/oauth-protected-resource/mcp", metadata);
        assert!(world.error().await.contains("no public address"), "{issuer}");
    }
    world.on_mcp(|_| {
        let challenge = "Bearer resource_metadata=\"http://169.254.169.254/latest/meta-data\"";
        with_headers(401, &[("www-authenticate", challenge.to_owned())])
    });
    assert!(world.error().await.contains("no public address"));
}

#[tokio::test]
async fn link_local_addresses_are_not_requested_even_if_private_networks_are_allowed() {
    let world = TestServers::new().await;
    for issuer in [
        "http://169.254.169.254",
        "http://[fe80::1]",
        "http://[::ffff:169.254.169.254]",
    ] {
        let mut metadata = world.resource();
        metadata["authorization_servers"] = json!([issuer]);
        world
            .mcp
            .document("/.well-known/oauth-protected-resource/mcp", metadata);
        let authorizer = Authorizer::interactive(Browser::default()).allow_private_network(true);
        let error = auth_error(&world.connect(authorizer).await.expect_err("the client is authorized"));
        assert!(error.contains("no public address"), "{issuer}: {error}");
    }
}

#[tokio::test]
async fn endpoints_without_tls_or_with_unusable_urls_are_refused() {
    let world = TestServers::new().await;
    for url in [
        "http://as.example/token",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user@as.example/",
        "/token",
    ] {
        world.with_metadata("authorization_endpoint", json!(url));
        let user = Browser::default();
        assert!(
            world.error_of(&user).await.contains("can't be used for authorization"),
            "{url}"
        );
        assert_eq!(user.asked(), 0);
    }
    world.with_metadata("token_endpoint", json!("http://as.example/token"));
    assert!(world.error().await.contains("it has no TLS"));
}

#[tokio::test]
async fn a_server_that_keeps_requiring_scopes_is_given_up() {
    let world = TestServers::new().await;
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    // It requires a scope that the token has.
    let challenge = world.challenge();
    let insufficient = move |scope: String| {
        let challenge = format!("{challenge}, error=\"insufficient_scope\", scope=\"{scope}\"");
        with_headers(403, &[("www-authenticate", challenge)])
    };
    let refuse = insufficient.clone();
    world.on_mcp(move |_| refuse("basic".to_owned()));
    call(&session).await.unwrap_err();
    assert_eq!(user.asked(), 1);
    // It requires another scope each time.
    let count = std::sync::Arc::new(AtomicUsize::new(0));
    world.on_mcp(move |_| insufficient(format!("scope-{}", count.fetch_add(1, Ordering::SeqCst))));
    for _ in 0..20 {
        call(&session).await.unwrap_err();
    }
    assert!(user.asked() <= 11, "{}", user.asked());
}

#[tokio::test]
async fn a_server_that_accepts_no_token_is_given_up() {
    let world = TestServers::new().await;
    let challenge = world.challenge();
    world.on_mcp(move |_| with_headers(401, &[("www-authenticate", challenge.clone())]));
    let user = Browser::default();
    world.connect(Authorizer::interactive(user.clone())).await.unwrap_err();
    assert_eq!(user.asked(), 1);
    assert_eq!(world.mcp.seen("POST /mcp").len(), 2);

    // A server that stops accepting tokens.
    let world = TestServers::new().await;
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    let challenge = world.challenge();
    world.on_mcp(move |_| with_headers(401, &[("www-authenticate", challenge.clone())]));
    for _ in 0..10 {
        call(&session).await.unwrap_err();
    }
    assert!(user.asked() <= 4, "{}", user.asked());
}

#[tokio::test]
async fn malformed_tokens_and_unexpected_token_types_are_refused() {
    let world = TestServers::new().await;
    for (token, sort) in [
        ("a\r\nx-injected: b", "Bearer"),
        ("", "Bearer"),
        ("good", "mac"),
        ("good", "DPoP"),
    ] {
        world.auth.on("POST /token", move |_| {
            reply(json!({"access_token": token, "token_type": sort}))
        });
        assert!(world.error().await.contains("can't be used"));
    }
}

#[tokio::test]
async fn client_credentials_are_sent_only_to_their_issuer() {
    let world = TestServers::new().await;
    let client = Client::new("https://honest.example", "client").secret("secret");
    let error = world.connect(Authorizer::client_credentials(client)).await.unwrap_err();
    assert!(error.to_string().contains("https://honest.example"), "{error}");
    assert!(world.auth.seen("").is_empty());

    // Even if the server names another issuer later.
    let client = Client::new(&world.auth.url, "client").secret("secret");
    let session = world.connect(Authorizer::client_credentials(client)).await.unwrap();
    let other = Server::start().await;
    let mut metadata = world.resource();
    metadata["authorization_servers"] = json!([other.url]);
    world
        .mcp
        .document("/.well-known/oauth-protected-resource/mcp", metadata);
    world.issued.revoke();
    call(&session).await.unwrap_err();
    assert!(other.seen("").is_empty());
}

#[tokio::test]
async fn error_texts_of_servers_are_shown_without_control_characters() {
    let world = TestServers::new().await;
    let client = Client::new(&world.auth.url, "client");
    with_redirect(&world, |pairs| {
        pairs[0] = ("error".to_owned(), "denied\u{1b}[2J".to_owned())
    });
    let error = world.error().await;
    assert!(error.contains("denied") && !error.contains('\u{1b}'), "{error}");
    let source = |_| std::future::ready(Ok("an assertion".into()));
    let error = world
        .connect(Authorizer::jwt_bearer(client, source))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("invalid_grant") && !error.contains('\u{1b}'), "{error}");
}

/// Authorizers with each kind of credential of this issuer's client: a secret, a key and an assertion.
fn confidential(issuer: &str) -> [Authorizer; 3] {
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
    let key = SigningKey::from_pem("ES256", &pem(key.as_ref())).unwrap();
    let client = || Client::new(issuer, "client");
    [
        Authorizer::client_credentials(client().secret("secret")),
        Authorizer::client_credentials(client().key(key)),
        Authorizer::jwt_bearer(client(), |_| std::future::ready(Ok("an-assertion".into()))),
    ]
}

#[tokio::test]
async fn secrets_keys_and_assertions_are_used_only_with_their_issuer() {
    // The server names no authorization server, itself, or one that isn't the client's.
    let world = TestServers::new().await;
    let place = "GET /.well-known/oauth-protected-resource/mcp";
    world.mcp.on(place, |_| status(404));
    world.on_mcp(|_| status(401));
    let take = |_: &_| reply(json!({"access_token": "theirs", "token_type": "Bearer"}));
    world.mcp.on("POST /token", take);
    let refuses = async |case: &str| {
        for authorizer in confidential("https://honest.example") {
            let authorizer = authorizer.metadata_document("https://client.example/client.json");
            let error = auth_error(&world.connect(authorizer).await.expect_err(case));
            assert!(
                error.contains("and not \"https://honest.example\" as expected"),
                "{case}: {error}"
            );
        }
        assert!(world.mcp.seen("POST /token").is_empty(), "{case}");
        assert!(world.auth.seen("POST /token").is_empty(), "{case}");
    };
    refuses("no metadata").await;
    let mut metadata = world.metadata();
    metadata["issuer"] = json!(world.mcp.url);
    metadata["token_endpoint"] = json!(format!("{}/token", world.mcp.url));
    metadata["client_id_metadata_document_supported"] = json!(true);
    world.mcp.document("/.well-known/oauth-authorization-server", metadata);
    refuses("metadata of its own").await;
    world
        .mcp
        .document("/.well-known/oauth-protected-resource/mcp", world.resource());
    refuses("another authorization server").await;

    // A server without metadata gets them if it is the client's issuer.
    world.mcp.on(place, |_| status(404));
    world
        .mcp
        .on("GET /.well-known/oauth-authorization-server", |_| status(404));
    for (authorizer, count) in confidential(&world.mcp.url).into_iter().zip(1..) {
        world.connect(authorizer).await.unwrap_err();
        assert_eq!(world.mcp.seen("POST /token").len(), count);
    }
}

#[tokio::test]
async fn a_server_that_alternates_401_and_403_is_given_up() {
    let world = TestServers::new().await;
    let user = Browser::default();
    let session = world.connect(Authorizer::interactive(user.clone())).await.unwrap();
    let (count, challenge) = (std::sync::Arc::new(AtomicUsize::new(0)), world.challenge());
    world.on_mcp(move |_| match count.fetch_add(1, Ordering::SeqCst) % 2 {
        0 => with_headers(401, &[("www-authenticate", challenge.clone())]),
        _ => {
            let challenge = format!("{challenge}, error=\"insufficient_scope\", scope=\"basic\"");
            with_headers(403, &[("www-authenticate", challenge)])
        }
    });
    for _ in 0..20 {
        call(&session).await.unwrap_err();
    }
    let requests = world.auth.seen("POST /token").len();
    assert!(requests <= 5, "{requests} requests for tokens");
}
