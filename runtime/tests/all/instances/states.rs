//! States of requests that are used once: at one instance, and then at none.

use std::time::Duration;

use mcp_runtime::StateStore;
use mcp_runtime::transport::http::server::{RedisOptions, RedisStates, RedisStore};

use crate::instances::programs::Redis;

/// The states that one principal may have at a time.
const MAX_STATES: usize = 16_384;
const LONG: Duration = Duration::from_secs(60);

async fn states(redis: &Redis) -> RedisStates {
    let store = RedisStore::connect(&redis.url(), RedisOptions::default()).await;
    store.expect("the store answers").states()
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_state_that_one_instance_has_taken_is_refused_by_every_other() {
    let redis = Redis::start().await;
    let (one, other) = (states(&redis).await, states(&redis).await);
    assert!(one.add("ann", "1", LONG).await.expect("it answers"));
    for instance in [&one, &other] {
        assert!(!instance.add("ann", "1", LONG).await.expect("it answers"));
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_principal_that_uses_many_states_leaves_room_for_those_of_others() {
    let redis = Redis::start().await;
    let states = states(&redis).await;
    for id in 0..MAX_STATES {
        let added = states.add("greedy", &id.to_string(), LONG).await;
        assert!(added.expect("there is room"));
    }
    let full = states.add("greedy", "another", LONG).await;
    assert!(
        full.expect_err("there is no room")
            .to_string()
            .contains("too many states")
    );
    assert!(states.add("modest", "0", LONG).await.expect("it answers"));
}
