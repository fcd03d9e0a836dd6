//! Tokens that are bound to a key of the client by DPoP.

use axum::Router as App;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use mcp_runtime::auth::{Authorizer, Dpop, JwtValidator, ProtectedResource};
use mcp_runtime::transport::http::client::reqwest::{self, Method, Response};
use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::{Era, Options, Router};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::auth::issuer::issue;
use crate::auth::proof::{header, proof_claims, sign, thumbprint};
use crate::auth::protected::{Protected, challenged, message};
use crate::auth::signer::{Signer, claims, now, with};
use crate::auth::test_servers::{call, connect_to};
use crate::auth::user::Browser;

impl Protected {
    /// A token that is bound to a key.
    fn bound_token(&self, key: &Signer) -> String {
        let confirmation = json!({"jkt": thumbprint(&key.public())});
        self.signer.sign(&with(self.claims("basic"), "cnf", confirmation))
    }

    /// The claims of a valid proof for a POST.
    fn proof_claims(&self, token: &str) -> Value {
        proof_claims("POST", &self.url, token)
    }
}

/// Sends a request with these headers.
async fn send(method: Method, url: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = reqwest::Client::new().request(method, url);
    request = request.header("content-type", "application/json");
    request = request.header("accept", "application/json, text/event-stream");
    request = request.header("mcp-session-id", "none");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(message("ping", json!({}))).send().await.unwrap()
}

/// The status and the challenge of the response to a ping. An authorized ping gets a 404, because its session doesn't
/// exist.
async fn ping(url: &str, scheme: &str, token: &str, proofs: &[&str]) -> (u16, String) {
    let authorization = format!("{scheme} {token}");
    let mut headers = vec![("authorization", &*authorization)];
    headers.extend(proofs.iter().map(|proof| ("dpop", *proof)));
    challenged(&send(Method::POST, url, &headers).await)
}

#[tokio::test]
async fn a_proof_is_accepted_once_and_only_for_its_endpoint() {
    let server = Protected::with(|resource| resource.dpop(Dpop::new())).await;
    let key = Signer::new("");
    let token = server.bound_token(&key);
    let proof = sign(&key, &server.proof_claims(&token));
    assert_eq!(ping(&server.url, "DPoP", &token, &[&proof]).await.0, 404);
    let (status, challenge) = ping(&server.url, "DPoP", &token, &[&proof]).await;
    assert_eq!(status, 401);
    assert!(
        challenge.starts_with("DPoP algs=\"ES256 ES384 EdDSA PS256 RS256 RS512\", resource_metadata="),
        "{challenge}"
    );
    assert!(challenge.contains("error=\"invalid_dpop_proof\", error_description=\"the proof has been used\""));
    // The scheme is case-insensitive, and the URL of a proof is normalized and compared without query and fragment.
    let url = server.url.replace("http://", "HTTP://") + "?query#fragment";
    let proof = sign(&key, &with(server.proof_claims(&token), "htu", json!(url)));
    assert_eq!(ping(&server.url, "dpop", &token, &[&proof]).await.0, 404);
    // Other endpoints require proofs for their own URLs.
    for (method, path, status) in [(Method::GET, "/sse", 200), (Method::DELETE, "/mcp", 404)] {
        let url = server.url.replace("/mcp", path);
        let proof = sign(&key, &proof_claims(method.as_str(), &url, &token));
        let headers = [("authorization", &*format!("DPoP {token}")), ("dpop", &proof)];
        assert_eq!(send(method, &url, &headers).await.status(), status, "{path}");
    }
}

#[tokio::test]
async fn proofs_with_wrong_or_missing_claims_are_refused() {
    let server = Protected::with(|resource| resource.dpop(Dpop::new())).await;
    let key = Signer::new("");
    let token = server.bound_token(&key);
    let bad = [
        ("htm", json!("GET"), "for another method"),
        ("htm", json!("post"), "for another method"),
        ("htm", Value::Null, "lacks a claim"),
        ("htu", json!(server.url.replace("http:", "https:")), "for another URL"),
        ("htu", json!(server.url.replace("/mcp", "/messages")), "for another URL"),
        (
            "htu",
            json!(server.url.replace("127.0.0.1", "user@127.0.0.1")),
            "for another URL",
        ),
        ("htu", json!("https://other.example/mcp"), "for another URL"),
        ("htu", json!("/mcp"), "for another URL"),
        ("htu", Value::Null, "lacks a claim"),
        ("iat", json!(now() - 100), "made at another time"),
        ("iat", json!(now() + 100), "made at another time"),
        ("iat", json!(-1), "made at another time"),
        ("iat", json!(1e300), "made at another time"),
        ("iat", json!(now().to_string()), "lacks a claim"),
        ("iat", Value::Null, "lacks a claim"),
        (
            "ath",
            json!(URL_SAFE_NO_PAD.encode(Sha256::digest("other"))),
            "for another token",
        ),
        ("ath", Value::Null, "for another token"),
        ("jti", Value::Null, "lacks a claim"),
    ];
    for (name, value, why) in bad {
        let proof = sign(&key, &with(server.proof_claims(&token), name, value.clone()));
        let (status, challenge) = ping(&server.url, "DPoP", &token, &[&proof]).await;
        assert_eq!(status, 401, "{name} {value}");
        assert!(challenge.contains(why), "{name} {value}: {challenge}");
        assert!(!challenge.contains(&token) && !challenge.contains(&proof));
    }
    let twice = serde_json::to_string(&server.proof_claims(&token)).unwrap();
    let twice = twice.replacen('{', "{\"htm\":\"POST\",", 1);
    let twice: Box<serde_json::value::RawValue> = serde_json::from_str(&twice).unwrap();
    let twice = jsonwebtoken::encode(&header(&key), &twice, &key.key).unwrap();
    assert_eq!(ping(&server.url, "DPoP", &token, &[&twice]).await.0, 401);
}

#[tokio::test]
async fn proofs_with_wrong_keys_signatures_or_types_are_refused() {
    let server = Protected::with(|resource| resource.dpop(Dpop::new())).await;
    let key = Signer::new("");
    let token = server.bound_token(&key);
    let encode = |header: &Header, signer: &EncodingKey| {
        jsonwebtoken::encode(header, &server.proof_claims(&token), signer).unwrap()
    };
    let other = Signer::new("");
    let mut shared = header(&key);
    shared.alg = Algorithm::HS256;
    let secret = EncodingKey::from_secret(serde_json::to_string(&key.public()).unwrap().as_bytes());
    let mut untyped = header(&key);
    untyped.typ = Some("JWT".to_owned());
    let mut keyless = header(&key);
    keyless.jwk = None;
    let mut critical = header(&key);
    critical.crit = Some(vec!["b64".to_owned()]);
    let good = encode(&header(&key), &key.key);
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (_, payload) = signed.split_once('.').unwrap();
    let none = json!({"typ": "dpop+jwt", "alg": "none", "jwk": key.public()});
    let none = format!("{}.{payload}.", URL_SAFE_NO_PAD.encode(none.to_string()));
    // A header that shows the private key is refused, even if the signature is right.
    let mut shown = serde_json::to_value(header(&key)).unwrap();
    shown["jwk"]["d"] = json!("AAAA");
    let shown = format!("{}.{payload}", URL_SAFE_NO_PAD.encode(shown.to_string()));
    let shown_signature = jsonwebtoken::crypto::sign(shown.as_bytes(), &key.key, Algorithm::ES256).unwrap();
    let bad = [
        (encode(&header(&other), &other.key), "bound to another key"),
        (encode(&header(&key), &other.key), "its signature is wrong"),
        (encode(&shared, &secret), "the algorithm of the proof isn't accepted"),
        (encode(&untyped, &key.key), "of another type"),
        (encode(&keyless, &key.key), "the key of the proof can't be used"),
        (encode(&critical, &key.key), "of another type"),
        (none, "malformed"),
        (
            format!("{shown}.{shown_signature}"),
            "the key of the proof can't be used",
        ),
        (
            format!("{signed}.{}", signature.replace(|it: char| it != 'A', "A")),
            "its signature is wrong",
        ),
        (signed.to_owned(), "malformed"),
        (String::new(), "malformed"),
        ("a.b.c".to_owned(), "malformed"),
        ("x".repeat(10_000), "malformed"),
        (token.clone(), "of another type"),
    ];
    for (proof, why) in bad {
        let (status, challenge) = ping(&server.url, "DPoP", &token, &[&proof]).await;
        assert_eq!(status, 401, "{why}");
        assert!(
            challenge.contains("invalid_dpop_proof") && challenge.contains(why),
            "{why}: {challenge}"
        );
    }
    let proofs = [
        sign(&key, &server.proof_claims(&token)),
        sign(&key, &server.proof_claims(&token)),
    ];
    assert_eq!(
        ping(&server.url, "DPoP", &token, &[&proofs[0], &proofs[1]]).await.0,
        400
    );
    let (status, challenge) = ping(&server.url, "DPoP", &token, &[]).await;
    assert!(status == 401 && challenge.contains("needs a proof"), "{challenge}");
    // None of these attempts has used up the valid proof.
    assert_eq!(ping(&server.url, "DPoP", &token, &[&good]).await.0, 404);
}

#[tokio::test]
async fn bound_tokens_require_a_proof_and_unbound_tokens_the_bearer_scheme() {
    let key = Signer::new("");
    let lenient = Protected::with(|resource| resource.dpop(Dpop::new())).await;
    let strict = Protected::with(|resource| resource.dpop(Dpop::new().required(true))).await;
    let without = Protected::start().await;
    for (server, free, bound) in [
        (&lenient, (404, 401), (404, "is bound to a key, and needs a proof")),
        (&strict, (401, 401), (404, "is bound to a key, and needs a proof")),
        (
            &without,
            (404, 401),
            (401, "tokens that are bound to a key aren't accepted"),
        ),
    ] {
        // An unbound token isn't accepted with a proof.
        let token = server.signer.sign(&server.claims("basic"));
        assert_eq!(ping(&server.url, "Bearer", &token, &[]).await.0, free.0);
        let proof = sign(&key, &server.proof_claims(&token));
        assert_eq!(ping(&server.url, "DPoP", &token, &[&proof]).await.0, free.1);
        // A bound token is accepted only with a proof and the DPoP scheme.
        let token = server.bound_token(&key);
        let proof = sign(&key, &server.proof_claims(&token));
        assert_eq!(ping(&server.url, "DPoP", &token, &[&proof]).await.0, bound.0);
        let proof = sign(&key, &server.proof_claims(&token));
        let (status, challenge) = ping(&server.url, "Bearer", &token, &[&proof]).await;
        assert!(status == 401 && challenge.contains(bound.1), "{challenge}");
    }
    for confirmation in [
        json!({}),
        json!({"x5t#S256": "x"}),
        json!({"jkt": "x", "kid": "y"}),
        json!("x"),
    ] {
        let token = lenient.signer.sign(&with(lenient.claims("basic"), "cnf", confirmation));
        let proof = sign(&key, &lenient.proof_claims(&token));
        let (status, challenge) = ping(&lenient.url, "DPoP", &token, &[&proof]).await;
        assert!(
            status == 401 && challenge.contains("bound in another way"),
            "{challenge}"
        );
    }
}

#[tokio::test]
async fn challenges_and_metadata_declare_the_accepted_schemes() {
    for (required, schemes) in [
        (false, vec!["Bearer resource_metadata", "DPoP algs=\"ES256\""]),
        (true, vec!["DPoP algs=\"ES256\""]),
    ] {
        let dpop = Dpop::new().algorithms(&["ES256"]).unwrap().required(required);
        let server = Protected::with(|resource| resource.dpop(dpop)).await;
        let response = send(Method::POST, &server.url, &[]).await;
        let challenges: Vec<_> = response.headers().get_all("www-authenticate").iter().collect();
        assert_eq!(challenges.len(), schemes.len());
        for (challenge, scheme) in challenges.iter().zip(schemes) {
            assert!(challenge.to_str().unwrap().starts_with(scheme), "{challenge:?}");
        }
        let place = server.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
        let metadata = reqwest::get(place).await.unwrap().text().await.unwrap();
        let metadata: Value = serde_json::from_str(&metadata).unwrap();
        assert_eq!(metadata["dpop_signing_alg_values_supported"], json!(["ES256"]));
        assert_eq!(metadata["dpop_bound_access_tokens_required"], required);
    }
    assert!(Dpop::new().algorithms(&["HS256"]).is_err());
}

#[tokio::test]
async fn proofs_must_repeat_the_nonce_that_the_server_sends() {
    let server = Protected::with(|resource| resource.dpop(Dpop::new().nonce_key(&[7; 32]))).await;
    let key = Signer::new("");
    let token = server.bound_token(&key);
    let authorization = format!("DPoP {token}");
    let send = async |nonce: Value| {
        let proof = sign(&key, &with(server.proof_claims(&token), "nonce", nonce));
        send(
            Method::POST,
            &server.url,
            &[("authorization", &*authorization), ("dpop", &proof)],
        )
        .await
    };
    for nonce in [Value::Null, json!("guessed"), json!("")] {
        let response = send(nonce).await;
        let (status, challenge) = challenged(&response);
        assert!(
            status == 401 && challenge.contains("error=\"use_dpop_nonce\""),
            "{challenge}"
        );
        let nonce = response.headers()["dpop-nonce"].to_str().unwrap();
        // A nonce is valid for several requests, whose responses carry no other nonce.
        for _ in 0..2 {
            let response = send(json!(nonce)).await;
            assert_eq!(response.status(), 404);
            assert!(!response.headers().contains_key("dpop-nonce"));
        }
    }
}

#[tokio::test]
async fn a_client_with_too_many_proofs_gets_503_while_another_is_still_accepted() {
    let server = Protected::with(|resource| resource.dpop(Dpop::new().max_proofs(16))).await;
    let (greedy, other) = (Signer::new(""), Signer::new(""));
    for (key, expected) in [(&greedy, vec![404, 404, 503, 503]), (&other, vec![404, 404, 503])] {
        let token = server.bound_token(key);
        for status in expected {
            let proof = sign(key, &server.proof_claims(&token));
            assert_eq!(ping(&server.url, "DPoP", &token, &[&proof]).await.0, status);
        }
    }
}

#[tokio::test]
async fn a_proof_for_a_nested_router_must_name_its_full_url_or_the_resource() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let (key, signer) = (Signer::new(""), Signer::new("key-1"));
    let validator = JwtValidator::new("https://login.example", &origin);
    let validator = validator.jwks(&signer.jwks().to_string()).unwrap();
    // Tokens name the server only by its origin.
    let resource = ProtectedResource::new(&origin, "https://login.example", validator).dpop(Dpop::new());
    let app = HttpServer::from_fn(|transport, _| {
        Router::new("nested", "1.0").serve(Options::default(), transport);
    })
    .protect(resource);
    tokio::spawn(serve(listener, App::new().nest("/api", app.app())).into_future());
    let token = with(
        claims("https://login.example", &origin, "alice", ""),
        "cnf",
        json!({"jkt": thumbprint(&key.public())}),
    );
    let (token, url) = (signer.sign(&token), format!("{origin}/api/mcp"));
    for (named, status) in [(&url, 404), (&origin, 404), (&format!("{origin}/mcp"), 401)] {
        let proof = sign(&key, &proof_claims("POST", named, &token));
        assert_eq!(ping(&url, "DPoP", &token, &[&proof]).await.0, status, "{named}");
    }
}

#[tokio::test]
async fn our_client_binds_tokens_to_a_key_if_it_chooses_to_or_our_server_requires_it() {
    for (dpop, chosen, bound) in [
        (Dpop::new(), false, false),
        (Dpop::new(), true, true),
        (Dpop::new().nonce_key(&[7; 32]), true, true),
        // A server that requires DPoP declares that.
        (Dpop::new().required(true).nonce_key(&[7; 32]), false, true),
    ] {
        for era in [Era::Stateless, Era::Handshake] {
            let server = Protected::with(|resource| resource.dpop(dpop.clone())).await;
            issue(&server);
            let user = Browser::default();
            let options = Options {
                era: Some(era),
                ..Options::default()
            };
            let authorizer = Authorizer::interactive(user.clone()).dpop(chosen);
            let session = connect_to(&server.url, authorizer, options).await.unwrap();
            // The tool needs another scope. Each call needs its own proof.
            for _ in 0..3 {
                call(&session).await.unwrap();
            }
            assert_eq!(user.asked(), 2);
            let requests = server.issuer.seen("POST /token");
            assert!(requests.iter().all(|request| request.header("dpop").is_some() == bound));
            session.close().await;
        }
    }
}
