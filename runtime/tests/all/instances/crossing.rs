//! Messages that arrive at another instance than the one that waits for them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::instances::client::{Client, Events, answer, call, text};
use crate::instances::programs::{Instance, PATIENCE, two_instances};

/// Answers the input requests of a stream at an instance, and returns the response at its end.
async fn answer_all(client: &Client, events: &mut Events, at: &Instance) -> Value {
    loop {
        let message = events.soon().await;
        if message.get("method").is_none() {
            return message;
        }
        assert_eq!(client.post(at.address, &answer(&message)).await.status(), 202);
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn answers_sent_to_another_instance_reach_the_one_that_requested_input() {
    let (_redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client.stream(&first, &call(1, "ask", json!({"number": 3}))).await;
    let response = answer_all(&client, &mut events, &second).await;
    assert_eq!(text(&response), "accept model accept model accept model");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn input_requests_of_two_instances_have_different_ids() {
    let (_redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut at_first = client.stream(&first, &call(1, "ask", json!({"number": 1}))).await;
    let mut at_second = client.stream(&second, &call(2, "ask", json!({"number": 1}))).await;
    let (one, other) = (at_first.soon().await, at_second.soon().await);
    assert_ne!(one["id"], other["id"]);
    // Each answer goes to the other instance, and neither is mistaken for the other.
    assert_eq!(client.post(first.address, &answer(&other)).await.status(), 202);
    assert_eq!(client.post(second.address, &answer(&one)).await.status(), 202);
    let (one, other) = tokio::join!(
        answer_all(&client, &mut at_first, &second),
        answer_all(&client, &mut at_second, &first)
    );
    assert_eq!((&one["id"], &other["id"]), (&json!(1), &json!(2)));
    assert_eq!((text(&one), text(&other)), ("accept model", "accept model"));
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_cancellation_sent_to_another_instance_cancels_the_request() {
    let (_redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client.stream(&first, &call(1, "wait", json!({}))).await;
    assert_eq!(events.soon().await["params"]["data"], "waits");
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(client.post(second.address, &cancelled).await.status(), 202);
    assert_eq!(events.next().await, None, "a cancelled request has no response");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_session_deleted_at_one_instance_ends_at_the_other() {
    let (_redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let process = call(1, "process", json!({}));
    assert_eq!(client.post(second.address, &process).await.status(), 200);
    let other = Client::begin(&second).await;
    client.delete(&first).await;
    assert_eq!(client.post(second.address, &process).await.status(), 404);
    assert_eq!(other.post(first.address, &process).await.status(), 200);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_stream_that_is_cut_is_resumed_at_another_instance() {
    let (_redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client
        .stream(&first, &call(1, "count", json!({"to": 200, "pause": 10})))
        .await;
    let mut numbers = Vec::new();
    for _ in 0..5 {
        numbers.push(events.soon().await["params"]["data"].clone());
    }
    let last = events.last.clone();
    drop(events);
    sleep(Duration::from_millis(200)).await;
    let mut events = Events::of(client.resume(&second, &last).await);
    let mut messages = events.rest().await;
    assert_eq!(text(&messages.pop().expect("a response")), "counted to 200");
    numbers.extend(messages.iter().map(|message| message["params"]["data"].clone()));
    assert_eq!(numbers, (1..=200).map(Value::from).collect::<Vec<_>>());
    // Resumed again from the same event, the stream repeats its messages.
    let mut again = Events::of(client.resume(&second, &last).await);
    assert_eq!(again.rest().await.len(), 196);
    assert_eq!(
        client.resume(&second, &again.last).await.status(),
        204,
        "there are no more events"
    );
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_stream_with_more_events_than_are_kept_waits_for_its_client() {
    let (_redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = client
        .stream(&first, &call(1, "count", json!({"to": 3000, "pause": 0})))
        .await;
    events.soon().await;
    let last = events.last.clone();
    drop(events);
    let started = Instant::now();
    sleep(Duration::from_millis(500)).await;
    let mut events = Events::of(client.resume(&second, &last).await);
    let messages = events.rest().await;
    assert_eq!(messages.len(), 3000, "2,999 messages and the response");
    assert!(started.elapsed() < PATIENCE);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn streams_of_another_session_and_unknown_streams_cannot_be_resumed() {
    let (_redis, first, second) = two_instances().await;
    let (client, other) = (Client::begin(&first).await, Client::begin(&first).await);
    let mut events = client
        .stream(&first, &call(1, "count", json!({"to": 2, "pause": 10})))
        .await;
    events.rest().await;
    assert_eq!(other.resume(&second, &events.last).await.status(), 400);
    assert_eq!(client.resume(&second, "7-1-1-1").await.status(), 400);
    assert_eq!(client.resume(&second, &events.last).await.status(), 204);
}
