//! States of requests, each of which is accepted once by one of the instances.

use std::time::Duration;

use mcp_runtime::StateStore;
use mcp_runtime::transport::http::server::{RedisOptions, RedisStates, RedisStore};

use crate::instances::programs::Redis;

/// The maximum number of states of one principal.
const MAX_STATES: usize = 16_384;
const LONG: Duration = Duration::from_secs(60);

async fn states(redis: &Redis) -> RedisStates {
    let store = RedisStore::connect(&redis.url(), RedisOptions::default()).await;
    store.expect("the store answers").states()
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_state_accepted_by_one_instance_is_refused_by_all_afterwards() {
    let redis = Redis::start().await;
    let (one, other) = (states(&redis).await, states(&redis).await);
    assert!(one.add("ann", "1", LONG).await.expect("it answers"));
    for instance in [&one, &other] {
        assert!(!instance.add("ann", "1", LONG).await.expect("it answers"));
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn the_limit_on_states_applies_to_each_principal_separately() {
    let redis = Redis::start().await;
    let states = states(&redis).await;
    for id in 0..MAX_STATES {
        let added = states.add("greedy", &id.to_string(), LONG).await;
        assert!(added.expect("the limit isn't reached"));
    }
    let full = states.add("greedy", "another", LONG).await;
    assert!(
        full.expect_err("the limit is reached")
            .to_string()
            .contains("too many states")
    );
    assert!(states.add("modest", "0", LONG).await.expect("it answers"));
}
