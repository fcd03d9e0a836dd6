//! A store that is killed or stalls.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::instances::client::{Client, call, text};
use crate::instances::programs::two_instances;

/// The longest duration of a request while the store doesn't respond. The timeout of a command is a second.
const SOON: Duration = Duration::from_secs(4);

#[tokio::test]
#[ignore = "needs redis-server"]
async fn requests_fail_while_the_store_is_gone_and_succeed_after_its_restart() {
    let (mut redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client
        .stream(&first, &call(1, "count", json!({"to": 300, "pause": 10})))
        .await;
    events.soon().await;
    let requests = async {
        sleep(Duration::from_millis(500)).await;
        let started = Instant::now();
        let response = client.post(second.address, &call(2, "process", json!({}))).await;
        assert_eq!(response.status(), 503);
        let error: Value = serde_json::from_slice(&response.bytes().await.expect("a body")).expect("it is JSON");
        assert_eq!(error["error"]["message"], "The session store doesn't answer");
        assert!(started.elapsed() < SOON);
    };
    let ((), ()) = tokio::join!(redis.kill_and_restart(Duration::from_secs(3)), requests);
    // The request in flight continues. Its session isn't known anymore, because the store has lost it.
    let messages = events.rest().await;
    assert_eq!(text(messages.last().expect("a response")), "counted to 300");
    assert_eq!(messages.len(), 300);
    let response = client.post(second.address, &call(3, "process", json!({}))).await;
    assert_eq!(response.status(), 404);
    let renewed = Client::begin(&second).await;
    let mut events = renewed
        .stream(&second, &call(1, "count", json!({"to": 20, "pause": 10})))
        .await;
    assert_eq!(events.rest().await.len(), 21);
    assert_eq!(
        renewed
            .post(first.address, &call(2, "process", json!({})))
            .await
            .status(),
        200
    );
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn requests_fail_soon_while_the_store_stalls_and_no_event_is_lost() {
    let (redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client
        .stream(&first, &call(1, "count", json!({"to": 400, "pause": 10})))
        .await;
    events.soon().await;
    redis.signal("-STOP").await;
    for instance in [&first, &second] {
        let started = Instant::now();
        let response = client.post(instance.address, &call(2, "process", json!({}))).await;
        assert_eq!(response.status(), 503);
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    }
    redis.signal("-CONT").await;
    let messages = events.rest().await;
    assert_eq!(messages.len(), 400);
    sleep(Duration::from_secs(2)).await;
    for instance in [&first, &second] {
        let response = client.post(instance.address, &call(2, "process", json!({}))).await;
        assert_eq!(response.status(), 200);
    }
}
