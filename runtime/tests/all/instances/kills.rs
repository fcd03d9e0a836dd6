//! Instances that are killed.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::instances::client::{Client, Events, call, text};
use crate::instances::programs::two_instances;

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_client_of_a_killed_instance_gets_all_events_and_an_error() {
    let (_redis, mut first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client
        .stream(&first, &call(7, "count", json!({"to": 100_000, "pause": 5})))
        .await;
    let mut numbers = Vec::new();
    for _ in 0..20 {
        numbers.push(events.soon().await["params"]["data"].clone());
    }
    first.kill().await;
    // The events that were in transit.
    numbers.extend(
        events
            .rest()
            .await
            .iter()
            .map(|message| message["params"]["data"].clone()),
    );
    let mut resumed = Events::of(client.resume(&second, &events.last).await);
    let mut messages = resumed.rest().await;
    let error = messages.pop().expect("a response");
    assert_eq!(error["id"], 7);
    assert!(
        error["error"]["message"]
            .as_str()
            .is_some_and(|why| why.contains("died")),
        "{error}"
    );
    numbers.extend(messages.iter().map(|message| message["params"]["data"].clone()));
    let expected: Vec<_> = (1..=numbers.len()).map(Value::from).collect();
    assert_eq!(numbers, expected, "nothing is lost and nothing doubled");
    // The log has the error response too, so later resumptions get it.
    assert_eq!(client.resume(&second, &resumed.last).await.status(), 204);
    let mut again = Events::of(client.resume(&second, &events.last).await);
    assert_eq!(again.rest().await.last(), Some(&error));
    // The session continues.
    let response = client.post(second.address, &call(8, "process", json!({}))).await;
    assert_eq!(response.status(), 200);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_client_that_has_resumed_before_the_kill_gets_the_error() {
    let (_redis, mut first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client.stream(&first, &call(7, "wait", json!({}))).await;
    events.soon().await;
    let last = events.last.clone();
    drop(events);
    let mut resumed = Events::of(client.resume(&second, &last).await);
    let kill = async {
        sleep(Duration::from_millis(500)).await;
        first.kill().await;
    };
    let (error, ()) = tokio::join!(resumed.soon(), kill);
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(7), &json!(-32603)));
    assert_eq!(resumed.next().await, None);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_response_that_was_logged_survives_the_kill() {
    let (_redis, mut first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client
        .stream(&first, &call(7, "count", json!({"to": 5, "pause": 20})))
        .await;
    events.soon().await;
    let last = events.last.clone();
    drop(events);
    sleep(Duration::from_secs(1)).await;
    first.kill().await;
    let messages = Events::of(client.resume(&second, &last).await).rest().await;
    assert_eq!(messages.len(), 5);
    assert_eq!(text(&messages[4]), "counted to 5");
}
