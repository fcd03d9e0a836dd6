//! DPoP proofs, each of which is accepted once by one of the instances.

use std::time::Duration;

use mcp_runtime::auth::{Dpop, JwtValidator, ProofStore, ProtectedResource};
use mcp_runtime::transport::http::client::reqwest::Client;
use mcp_runtime::transport::http::server::{RedisOptions, RedisProofs, RedisStore};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::auth::proof::{proof_claims, sign, thumbprint};
use crate::auth::signer::{Signer, claims, with};
use crate::instances::client::request;
use crate::instances::programs::{Instance, Redis};
use crate::instances::server::KEYS;

const RESOURCE: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://login.example";
/// The maximum number of proofs of one key.
const MAX_PROOFS: usize = 16_384;

/// The protected resource that each instance serves.
pub fn protected(keys: &str, proofs: RedisProofs) -> ProtectedResource {
    let validator = JwtValidator::new(ISSUER, RESOURCE).jwks(keys);
    let validator = validator.expect("the keys can be read");
    ProtectedResource::new(RESOURCE, ISSUER, validator).dpop(Dpop::new().store(proofs))
}

/// A client with a token that is bound to its key.
struct Bound {
    key: Signer,
    token: String,
}

impl Bound {
    fn new(issuer: &Signer) -> Self {
        let key = Signer::new("");
        let confirmation = json!({"jkt": thumbprint(&key.public())});
        let claims = with(claims(ISSUER, RESOURCE, "alice", ""), "cnf", confirmation);
        let token = issuer.sign(&claims);
        Self { key, token }
    }

    fn proof(&self) -> String {
        sign(&self.key, &proof_claims("POST", RESOURCE, &self.token))
    }

    /// The status and the challenge of the response to a ping. An authorized ping gets a 404, because its session
    /// doesn't exist.
    async fn ping(&self, at: &Instance, proof: &str) -> (u16, String) {
        let post = Client::new().post(format!("http://{}/mcp", at.address));
        let post = post.header("content-type", "application/json");
        let post = post.header("accept", "application/json, text/event-stream");
        let post = post.header("mcp-session-id", "none").header("dpop", proof);
        let post = post.header("authorization", format!("DPoP {}", self.token));
        let response = post.body(request(1, "ping", json!({})).to_string()).send().await;
        let response = response.expect("it answers");
        let challenge = response.headers().get("www-authenticate").cloned();
        let challenge = challenge.map(|challenge| challenge.to_str().expect("it is text").to_owned());
        (response.status().as_u16(), challenge.unwrap_or_default())
    }
}

async fn two_protected() -> (Redis, Instance, Instance, Bound) {
    let issuer = Signer::new("key-1");
    let keys = issuer.jwks().to_string();
    let redis = Redis::start().await;
    let variables = [(KEYS, &*keys)];
    let instances = tokio::join!(
        Instance::start_with(&redis, &variables),
        Instance::start_with(&redis, &variables)
    );
    (redis, instances.0, instances.1, Bound::new(&issuer))
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_proof_accepted_by_one_instance_is_refused_by_all_afterwards() {
    let (_redis, first, second, client) = two_protected().await;
    for (one, other) in [(&first, &second), (&second, &first)] {
        let proof = client.proof();
        assert_eq!(client.ping(one, &proof).await.0, 404);
        for instance in [other, one] {
            let (status, challenge) = client.ping(instance, &proof).await;
            assert_eq!(status, 401);
            assert!(challenge.contains("the proof has been used"), "{challenge}");
        }
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_proof_is_refused_while_the_store_is_gone_and_accepted_after_its_restart() {
    let (mut redis, first, second, client) = two_protected().await;
    assert_eq!(client.ping(&first, &client.proof()).await.0, 404);
    let proof = client.proof();
    let requests = async {
        sleep(Duration::from_millis(500)).await;
        for instance in [&first, &second] {
            let started = Instant::now();
            assert_eq!(client.ping(instance, &proof).await.0, 503);
            assert!(started.elapsed() < Duration::from_millis(1500));
        }
    };
    tokio::join!(redis.kill_and_restart(Duration::from_secs(3)), requests);
    assert_eq!(client.ping(&second, &proof).await.0, 404);
    assert_eq!(client.ping(&first, &proof).await.0, 401);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn proofs_expire_in_the_store_and_are_limited_for_each_key() {
    let redis = Redis::start().await;
    let store = RedisStore::connect(&redis.url(), RedisOptions::default()).await;
    let proofs = store.expect("the store answers").proofs();
    let (brief, long) = (Duration::from_millis(200), Duration::from_secs(60));
    assert!(proofs.add("a", "1", brief).await.expect("it answers"));
    assert!(proofs.add("b", "1", long).await.expect("it answers"));
    assert!(proofs.add("a", "2", long).await.expect("it answers"));
    assert!(!proofs.add("a", "1", long).await.expect("it answers"));
    sleep(2 * brief).await;
    assert!(proofs.add("a", "1", brief).await.expect("it answers"));
    for (key, id) in [("a", "2"), ("b", "1")] {
        assert!(!proofs.add(key, id, long).await.expect("it answers"), "{key} {id}");
    }

    for id in 0..MAX_PROOFS {
        assert!(
            proofs
                .add("greedy", &id.to_string(), long)
                .await
                .expect("the limit isn't reached")
        );
    }
    let full = proofs.add("greedy", "another", long).await;
    assert!(
        full.expect_err("the limit is reached")
            .to_string()
            .contains("too many proofs")
    );
    assert!(!proofs.add("greedy", "0", long).await.expect("it answers"));
    assert!(proofs.add("modest", "0", long).await.expect("it answers"));
}
