//! Several streams of one session for the unsolicited messages of the server.

use std::sync::Arc;
use std::time::Duration;

use mcp_runtime::transport::http::server::HttpServer;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::http_server::client::*;

/// Makes the server send an unsolicited message with padding of this length.
async fn say(server: &TestServer, session: &str, length: i64) {
    let params = json!({"count": 1, "size": length, "own": true});
    let mut answer = server.post(session, request(length, "count", params)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.messages().await.len(), 1, "the POST gets only the response");
}

/// The event id of the next message, and the length of its padding.
async fn hear(stream: &mut Answer) -> (String, usize) {
    let (id, event) = stream.event().await.expect("the stream continues");
    (id, event["params"]["padding"].as_str().unwrap().len())
}

async fn is_silent(stream: &mut Answer) -> bool {
    timeout(Duration::from_millis(100), stream.event()).await.is_err()
}

#[tokio::test]
async fn each_message_is_sent_on_the_latest_stream_that_is_open() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    let mut first = server.listen(&session, None).await;
    say(&server, &session, 1).await;
    assert_eq!(hear(&mut first).await.1, 1);
    let mut second = server.listen(&session, None).await;
    for length in [2, 3] {
        say(&server, &session, length).await;
        assert_eq!(hear(&mut second).await.1, length as usize);
    }
    assert!(is_silent(&mut first).await && is_silent(&mut second).await);
    // Messages sent before the server notices the closed connection are lost on it.
    drop(second);
    for length in 4..100 {
        say(&server, &session, length).await;
        if let Ok((_, heard)) = timeout(Duration::from_millis(50), hear(&mut first)).await {
            say(&server, &session, length + 1).await;
            for next in heard + 1..=length as usize + 1 {
                assert_eq!(
                    hear(&mut first).await.1,
                    next,
                    "from then on this stream gets every message"
                );
            }
            return;
        }
    }
    panic!("the remaining stream is never used");
}

#[tokio::test]
async fn a_resumed_stream_replays_only_its_own_messages() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    let mut first = server.listen(&session, None).await;
    let first_id = first.opening().await;
    say(&server, &session, 1).await;
    let (one, _) = hear(&mut first).await;
    let mut second = server.listen(&session, None).await;
    let second_id = second.opening().await;
    say(&server, &session, 2).await;
    let (two, _) = hear(&mut second).await;

    let mut again = server.listen(&session, Some(&first_id)).await;
    assert_eq!(
        again.opening().await,
        first_id,
        "a stream can be resumed from its opening id"
    );
    assert_eq!(hear(&mut again).await, (one.clone(), 1));
    assert!(first.events().await.is_empty(), "one connection reads a stream");
    assert!(is_silent(&mut again).await && is_silent(&mut second).await);
    say(&server, &session, 3).await;
    let (three, heard) = hear(&mut again).await;
    assert_eq!(heard, 3, "the latest connection gets the message");

    let mut second = server.listen(&session, Some(&second_id)).await;
    assert_eq!(hear(&mut second).await, (two.clone(), 2));
    assert!(is_silent(&mut second).await);
    let mut again = server.listen(&session, Some(&one)).await;
    assert_eq!(hear(&mut again).await, (three.clone(), 3));
    let mut ids = vec![first_id, second_id, one, two, three];
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5, "{ids:?}");
}

#[tokio::test]
async fn messages_sent_without_a_stream_are_kept_for_the_first_stream() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    say(&server, &session, 1).await;
    say(&server, &session, 2).await;
    let mut first = server.listen(&session, None).await;
    let first_id = first.opening().await;
    assert_eq!((hear(&mut first).await.1, hear(&mut first).await.1), (1, 2));
    let mut second = server.listen(&session, None).await;
    let second_id = second.opening().await;
    assert!(is_silent(&mut second).await);
    let mut second = server.listen(&session, Some(&second_id)).await;
    assert!(is_silent(&mut second).await);
    let mut first = server.listen(&session, Some(&first_id)).await;
    assert_eq!((hear(&mut first).await.1, hear(&mut first).await.1), (1, 2));
}

#[tokio::test]
async fn the_oldest_of_too_many_streams_ends_and_resumes_only_if_messages_are_missing() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    let mut oldest = server.listen(&session, None).await;
    let oldest_id = oldest.opening().await;
    say(&server, &session, 1).await;
    let (last, _) = hear(&mut oldest).await;
    let mut others = Vec::new();
    for _ in 0..8 {
        others.push(server.listen(&session, None).await);
    }
    assert!(oldest.events().await.is_empty());
    for stream in &mut others {
        assert!(is_silent(stream).await);
    }
    assert_eq!(server.listen(&session, Some(&last)).await.status, 204);
    say(&server, &session, 2).await;
    assert_eq!(hear(others.last_mut().unwrap()).await.1, 2);
    // A client that lacks a message can resume the stream.
    let mut oldest = server.listen(&session, Some(&oldest_id)).await;
    assert_eq!(hear(&mut oldest).await, (last, 1));
    assert!(others[0].events().await.is_empty());
    assert!(is_silent(&mut others[1]).await);
}

#[tokio::test]
async fn a_stream_that_is_not_read_ends_and_its_messages_move_to_another() {
    let config = |server: HttpServer| {
        server
            .replay(16, 64 << 10)
            .capacity(4)
            .stall_timeout(Duration::from_secs(2))
    };
    let server = Arc::new(serve(config).await);
    let session = server.begin(hub()).await;
    let mut reading = server.listen(&session, None).await;
    let mut sleeping = server.listen(&session, None).await;
    let params = json!({"count": 2000, "size": 10_000, "own": true});
    let mut answer = server.post(&session, request(1, "count", params)).await;
    let mut heard = Vec::new();
    while numbers(&heard).last() != Some(&1999) {
        heard.push(reading.event().await.expect("the stream continues").1);
    }
    assert_eq!(answer.messages().await.len(), 1);
    let before: Vec<Value> = sleeping.events().await;
    assert!(!before.is_empty() && !heard.is_empty());
    let all: Vec<u64> = numbers(&before).into_iter().chain(numbers(&heard)).collect();
    assert_eq!(all, (0..2000).collect::<Vec<_>>(), "nothing is lost or doubled");
}
