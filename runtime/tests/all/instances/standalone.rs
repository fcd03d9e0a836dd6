//! The standalone stream of messages without a related request, which the client reads at one instance.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::instances::client::{Client, Events, call};
use crate::instances::programs::{Instance, two_instances};

/// Makes an instance send a message to the client.
async fn announce(client: &Client, at: &Instance, text: &str) {
    let response = client
        .post(at.address, &call(1, "announce", json!({"text": text})))
        .await;
    assert_eq!(response.status(), 200);
    let _ = response.bytes().await;
}

async fn text(events: &mut Events) -> Value {
    events.soon().await["params"]["text"].clone()
}

async fn is_quiet(events: &mut Events) {
    let next = timeout(Duration::from_millis(500), events.next()).await;
    assert!(next.is_err(), "nothing is doubled: {next:?}");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn messages_of_every_instance_reach_the_one_where_the_client_reads() {
    let (_redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    announce(&client, &second, "before anybody reads").await;
    let mut events = Events::of(client.listen(&first, None).await);
    assert_eq!(text(&mut events).await, "before anybody reads");
    for number in 0..3 {
        announce(&client, [&second, &first][number % 2], "while somebody reads").await;
        assert_eq!(text(&mut events).await, "while somebody reads");
    }
    // The client moves to the other instance.
    drop(events);
    let mut events = Events::of(client.listen(&second, None).await);
    announce(&client, &first, "from the first").await;
    announce(&client, &second, "from the second").await;
    let mut texts = [text(&mut events).await, text(&mut events).await].map(|text| text.to_string());
    texts.sort();
    assert_eq!(texts, ["\"from the first\"", "\"from the second\""]);
    is_quiet(&mut events).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_client_that_moves_to_another_instance_misses_nothing() {
    let (_redis, first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = Events::of(client.listen(&first, None).await);
    announce(&client, &first, "1").await;
    assert_eq!(text(&mut events).await, "1");
    let last = events.last.clone();
    drop(events);
    announce(&client, &first, "2").await;
    announce(&client, &first, "3").await;
    let mut events = Events::of(client.listen(&second, Some(&last)).await);
    assert_eq!(
        (text(&mut events).await, text(&mut events).await),
        (json!("2"), json!("3"))
    );
    announce(&client, &first, "4").await;
    assert_eq!(text(&mut events).await, "4");
    is_quiet(&mut events).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn the_messages_of_a_killed_instance_are_read_at_another() {
    let (_redis, mut first, second) = two_instances().await;
    let client = Client::begin(&first).await;
    let mut events = Events::of(client.listen(&first, None).await);
    announce(&client, &first, "1").await;
    assert_eq!(text(&mut events).await, "1");
    let last = events.last.clone();
    drop(events);
    announce(&client, &first, "2").await;
    announce(&client, &first, "3").await;
    sleep(Duration::from_millis(200)).await;
    first.kill().await;
    let mut events = Events::of(client.listen(&second, Some(&last)).await);
    assert_eq!(
        (text(&mut events).await, text(&mut events).await),
        (json!("2"), json!("3"))
    );
    announce(&client, &second, "4").await;
    assert_eq!(text(&mut events).await, "4");
    is_quiet(&mut events).await;
}
