//! The keys of an issuer.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::{advance, pause, resume, timeout};

use crate::auth::protected::Protected;
use crate::auth::script::{Reply, status};
use crate::auth::signer::Signer;

/// Shorter than the server's timeout of a fetch of keys.
const SOON: Duration = Duration::from_secs(2);
/// Longer than that timeout.
const LATER: Duration = Duration::from_secs(6);
/// The status of an authorized request, because its session doesn't exist.
const LET_IN: u16 = 404;

/// Advances the clock for all tasks.
async fn pass(time: Duration) {
    pause();
    advance(time).await;
    resume();
}

/// Waits until the issuer's keys are requested.
async fn request_for_keys(requested: &Semaphore) {
    let requested = timeout(SOON, requested.acquire()).await;
    requested.expect("the keys aren't requested").unwrap().forget();
}

impl Protected {
    /// The status of the response to a request with a valid token.
    async fn good(&self) -> u16 {
        self.refusal(Some(&self.token("basic"))).await.0
    }

    /// The status of the response to a request with a token that is signed with this key.
    async fn by(&self, signer: &Signer) -> u16 {
        self.refusal(Some(&signer.sign(&self.claims("basic")))).await.0
    }

    fn fetched(&self) -> usize {
        self.issuer.seen("GET /jwks").len()
    }

    /// Leaves requests for the issuer's keys without a response. Each of them adds a permit.
    fn withhold_keys(&self) -> Arc<Semaphore> {
        let requested = Arc::new(Semaphore::new(0));
        let adds = requested.clone();
        self.issuer.on("GET /jwks", move |_| {
            adds.add_permits(1);
            Reply::Never
        });
        requested
    }
}

#[tokio::test]
async fn keys_are_fetched_once_despite_unknown_keys_and_failures() {
    let server = Protected::start().await;
    let unknown = Signer::new("key-2");
    for _ in 0..5 {
        assert_eq!(server.refusal(Some(&server.token("basic"))).await.0, 404);
        assert_eq!(
            server.refusal(Some(&unknown.sign(&server.claims("basic")))).await.0,
            401
        );
    }
    assert_eq!(server.issuer.seen("GET /jwks").len(), 1);

    // Without keys, no token can be checked, and every request is refused.
    let server = Protected::start().await;
    server.issuer.on("GET /jwks", |_| status(500));
    for _ in 0..3 {
        assert_eq!(server.refusal(Some(&server.token("basic"))).await, (503, String::new()));
    }
    assert_eq!(server.issuer.seen("GET /jwks").len(), 1);
    let server = Protected::start().await;
    let huge = json!({"keys": [], "padding": "x".repeat(1 << 20)});
    server.issuer.document("/jwks", huge);
    assert_eq!(server.refusal(Some(&server.token("basic"))).await.0, 503);
}

#[tokio::test]
async fn a_token_with_an_unknown_key_does_not_delay_tokens_with_known_keys() {
    let server = Protected::start().await;
    assert_eq!(server.good().await, LET_IN);
    let requested = server.withhold_keys();
    pass(Duration::from_secs(31)).await;

    let unknown = [Signer::new("key-2"), Signer::new("key-3")];
    let (server, unknown) = (Arc::new(server), Arc::new(unknown));
    let waiting = [0, 1].map(|index| {
        let (server, unknown) = (server.clone(), unknown.clone());
        tokio::spawn(async move { server.by(&unknown[index]).await })
    });
    request_for_keys(&requested).await;
    for _ in 0..5 {
        let status = timeout(SOON, server.good()).await;
        assert_eq!(status.expect("a good token waits for the keys"), LET_IN);
    }
    // Both wait for the same fetch, which times out soon.
    pass(LATER).await;
    for status in waiting {
        let status = timeout(SOON, status).await.expect("the fetch times out");
        assert_eq!(status.unwrap(), 401);
    }
    assert_eq!(server.fetched(), 2);
}

#[tokio::test]
async fn the_pause_between_fetches_of_keys_starts_when_a_fetch_ends() {
    let server = Arc::new(Protected::start().await);
    assert_eq!(server.good().await, LET_IN);
    let requested = server.withhold_keys();
    pass(Duration::from_secs(31)).await;
    let ask = |id: &'static str| {
        let server = server.clone();
        tokio::spawn(async move { server.by(&Signer::new(id)).await })
    };
    let first = ask("key-2");
    request_for_keys(&requested).await;
    pass(LATER).await;
    assert_eq!(first.await.unwrap(), 401);
    // 32 seconds after the start of the fetch, and 26 after its end.
    pass(Duration::from_secs(26)).await;
    let status = timeout(SOON, ask("key-2"))
        .await
        .expect("the keys aren't requested again");
    assert_eq!(status.unwrap(), 401);
    assert_eq!(server.fetched(), 2);
    pass(Duration::from_secs(5)).await;
    let third = ask("key-2");
    request_for_keys(&requested).await;
    third.abort();
    assert_eq!(server.fetched(), 3);
}

#[tokio::test]
async fn keys_are_refreshed_while_requests_use_the_old_ones() {
    let server = Protected::start().await;
    assert_eq!(server.good().await, LET_IN);
    let requested = server.withhold_keys();
    for _ in 0..3 {
        pass(Duration::from_secs(6 * 60)).await;
        let status = timeout(SOON, server.good()).await;
        assert_eq!(status.expect("a good token waits for the keys"), LET_IN);
        request_for_keys(&requested).await;
        pass(LATER).await;
        // A token with an unknown key waits for the end of the fetch.
        assert_eq!(server.by(&Signer::new("key-2")).await, 401);
    }
    assert_eq!(server.fetched(), 4);
}

#[tokio::test]
async fn a_key_that_the_issuer_has_removed_is_not_accepted_after_a_long_pause() {
    let server = Protected::start().await;
    assert_eq!(server.good().await, LET_IN);
    server.issuer.document("/jwks", Signer::new("key-2").jwks());
    pass(Duration::from_secs(11 * 60)).await;
    assert_eq!(server.good().await, 401);
}

#[tokio::test]
async fn a_token_without_a_key_id_is_checked_with_the_only_key_of_its_type() {
    let server = Protected::start().await;
    let mut own = json!(server.signer.public());
    for member in ["alg", "kid", "use"] {
        own.as_object_mut().unwrap().remove(member);
    }
    let others = [
        json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"}),
        json!({"kty": "EC", "crv": "P-384", "x": "AQAB", "y": "AQAB"}),
        json!({"kty": "OKP", "crv": "Ed25519", "x": "AQAB"}),
    ];
    let keys: Vec<_> = others.iter().chain([&own]).collect();
    server.issuer.document("/jwks", json!({"keys": keys}));
    let mut header = server.signer.header();
    header.kid = None;
    let token = jsonwebtoken::encode(&header, &server.claims("basic"), &server.signer.key).unwrap();
    assert_eq!(server.refusal(Some(&token)).await, (LET_IN, String::new()));
    // Two keys of its type are ambiguous.
    let server = Protected::start().await;
    let two = [own.clone(), json!(Signer::new("key-2").public())];
    server.issuer.document("/jwks", json!({"keys": two}));
    let token = jsonwebtoken::encode(&header, &server.claims("basic"), &server.signer.key).unwrap();
    assert_eq!(server.refusal(Some(&token)).await.0, 401);
}
