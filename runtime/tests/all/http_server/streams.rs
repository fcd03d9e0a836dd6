//! Event streams that are read, cut and resumed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_runtime::transport::http::server::HttpServer;
use serde_json::json;

use crate::http_server::client::*;

#[tokio::test]
async fn a_cut_stream_is_resumed_with_nothing_lost_or_doubled() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    let params = json!({"count": 200, "pause": 2});
    let mut stream = server.post(&session, request(1, "count", params)).await;
    let (mut seen, mut last) = (Vec::new(), String::new());
    // Each connection is cut after a few events, while more are on their way.
    for round in 0..10 {
        for _ in 0..=round {
            let (id, event) = stream.event().await.expect("it continues");
            seen.push(event);
            last = id;
        }
        drop(stream);
        stream = server.listen(&session, Some(&last)).await;
        assert_eq!(stream.status, 200);
    }
    seen.extend(stream.events().await);
    assert_eq!(numbers(&seen), (0..200).collect::<Vec<_>>());
    assert_eq!(seen.last().unwrap()["id"], 1, "the answer is the last");
    // Even a finished stream can be resumed by a client that lacks some of its events.
    let mut again = server.listen(&session, Some(&last)).await;
    let (mut rest, mut end) = (Vec::new(), last);
    while let Some((id, event)) = again.event().await {
        rest.push(event);
        end = id;
    }
    assert_eq!(rest.last().unwrap()["id"], 1);
    let mut nothing = server.listen(&session, Some(&end)).await;
    assert_eq!((nothing.status, nothing.whole().await.as_str()), (204, ""));
}

#[tokio::test]
async fn a_stream_is_resumed_from_its_opening_id_but_not_from_an_invalid_id() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    let mut stream = server.post(&session, request(1, "wait", json!({"ms": 300}))).await;
    let id = stream.opening().await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let events = server.listen(&session, Some(&id)).await.events().await;
    assert_eq!(events.len(), 1);
    for id in [
        "nonsense",
        "1-2",
        "99999999-1-1-1",
        &id.replacen("-2-", "-77-", 1),
        &format!("{}-9-9-1", id.split('-').next().unwrap()),
        &format!("{}-2-0-2", id.split('-').next().unwrap()),
        &format!("{}-2-0-0", id.split('-').next().unwrap()),
        &format!("{}-2-2-1", id.split('-').next().unwrap()),
    ] {
        assert_eq!(server.listen(&session, Some(id)).await.status, 400, "{id}");
    }
}

#[tokio::test]
async fn unsolicited_messages_are_kept_and_sent_on_the_stream_of_the_session() {
    let server = serve(|server| server).await;
    let session = server.begin(hub()).await;
    // Messages are kept until a client listens.
    let alone = server
        .post(&session, request(1, "count", json!({"count": 3, "own": true})))
        .await
        .messages()
        .await;
    assert_eq!(alone.len(), 1, "the POST gets only the response");
    let mut stream = server.listen(&session, None).await;
    let mut seen = Vec::new();
    let mut last = String::new();
    for _ in 0..2 {
        let (id, event) = stream.event().await.unwrap();
        seen.push(event);
        last = id;
    }
    drop(stream);
    server
        .post(&session, request(2, "count", json!({"count": 2, "own": true})))
        .await
        .messages()
        .await;
    let mut stream = server.listen(&session, Some(&last)).await;
    for _ in 0..3 {
        seen.push(stream.event().await.unwrap().1);
    }
    assert_eq!(numbers(&seen), [0, 1, 2, 0, 1]);
}

#[tokio::test]
async fn clients_of_revisions_before_the_hub_get_no_event_without_data() {
    let server = serve(|server| server).await;
    let session = server.begin(batching()).await;
    let mut stream = server.post(&session, request(1, "count", json!({"count": 1}))).await;
    let body = stream.whole().await;
    assert!(body.starts_with("retry: 1000\nevent: message\nid: "), "{body}");
}

#[tokio::test]
async fn a_slow_reader_blocks_the_engine_and_gets_everything_later() {
    let server = serve(|server| server.replay(16, 64 << 10).capacity(4)).await;
    let session = server.begin(hub()).await;
    let params = json!({"count": 4000, "size": 10_000});
    let mut stream = server.post(&session, request(1, "count", params)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let early = server.seen.sent.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let sent = server.seen.sent.load(Ordering::SeqCst);
    assert!(
        sent < 2000,
        "{sent} of 4000 messages were taken, and nobody has read one"
    );
    assert!(sent - early < 200, "the engine isn't blocked: {early}, {sent}");
    // Once it reads, it gets everything.
    assert_eq!(numbers(&stream.events().await), (0..4000).collect::<Vec<_>>());
}

#[tokio::test]
async fn messages_for_a_lost_reader_are_buffered_to_a_limit_and_its_response_kept() {
    let config = |server: HttpServer| server.replay(16, 64 << 10).stall_timeout(Duration::from_millis(200));
    let server = serve(config).await;
    let session = server.begin(hub()).await;
    let mut stream = server
        .post(&session, request(1, "count", json!({"count": 500, "pause": 1})))
        .await;
    let (last, _) = stream.event().await.unwrap();
    drop(stream);
    until("the engine isn't blocked", || {
        server.seen.sent.load(Ordering::SeqCst) == 500
    })
    .await;
    let ping = server
        .post(&session, request(2, "ping", json!({})))
        .await
        .messages()
        .await;
    assert_eq!(ping.len(), 1, "others go on");
    let rest = server.listen(&session, Some(&last)).await.events().await;
    assert!(rest.len() <= 17, "{}", rest.len());
    assert_eq!(rest.last().unwrap()["id"], 1);
}

/// A server that waits for a response much longer than the tests before it opens a stream.
async fn patient() -> TestServer {
    serve(|server| server.stream_after(Duration::from_secs(60))).await
}

#[tokio::test]
async fn a_response_without_messages_before_it_is_plain_json() {
    let server = patient().await;
    let mut first = server.post_with(&[], &initialize(hub())).await;
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert_eq!(first.json().await["id"], 0);
    let session = first.session();
    for call in [request(1, "ping", json!({})), request(2, "wait", json!({"ms": 300}))] {
        let mut answer = server.post(&session, call.clone()).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.json().await["id"], call["id"]);
    }
    let session = server.begin(batching()).await;
    let batch = json!([request(1, "echo", json!(1)), request(2, "echo", json!(2))]);
    let answers = server.post(&session, batch).await.json().await;
    assert_eq!((&answers[0]["result"], &answers[1]["result"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn messages_before_the_response_open_an_event_stream() {
    let server = patient().await;
    let session = server.begin(hub()).await;
    let mut stream = server.post(&session, request(1, "count", json!({"count": 3}))).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let opening = stream.opening().await;
    let events = stream.events().await;
    assert_eq!(numbers(&events), [0, 1, 2]);
    assert_eq!((events.len(), &events[3]["id"]), (4, &json!(1)));
    // The stream can be resumed from its opening id.
    assert_eq!(server.listen(&session, Some(&opening)).await.events().await, events);
}

#[tokio::test]
async fn a_slow_response_opens_an_event_stream() {
    let server = serve(|server| server.stream_after(Duration::from_millis(10))).await;
    let session = server.begin(hub()).await;
    let mut never = server.post(&session, request(1, "never", json!({}))).await;
    assert_eq!(never.header("content-type"), Some("text/event-stream"));
    never.opening().await;
}

#[tokio::test]
async fn a_client_that_accepts_one_media_type_is_answered_in_it() {
    let server = patient().await;
    let session = server.begin(hub()).await;
    let mut listening = server.listen(&session, None).await;
    let body = request(1, "count", json!({"count": 1})).to_string();
    for (accept, media_type) in [
        ("application/json", "application/json"),
        ("application/*, text/event-stream;q=0", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("text/*", "text/event-stream"),
    ] {
        let headers = [
            ("accept", accept),
            ("content-type", "application/json"),
            ("mcp-session-id", &session),
        ];
        let mut answer = server.send("POST", "/mcp", &headers, body.as_bytes()).await;
        assert_eq!(answer.header("content-type"), Some(media_type), "{accept}");
        let mut messages = answer.messages().await;
        assert_eq!(messages.pop().unwrap()["id"], 1, "{accept}");
        if media_type == "application/json" {
            messages.push(listening.event().await.unwrap().1);
        }
        assert_eq!(numbers(&messages), [0], "{accept}");
    }
}

#[tokio::test]
async fn a_stream_that_nobody_reads_delays_no_other_request() {
    for own in [false, true] {
        // A full stream waits for its reader longer than this test waits for responses.
        let config = |server: HttpServer| server.replay(4, 64 << 10).stall_timeout(Duration::from_secs(600));
        let server = serve(config).await;
        let session = server.begin(hub()).await;
        let _listening = server.listen(&session, None).await;
        let params = json!({"count": 4000, "size": 50_000, "own": own});
        let _stuck = server.post(&session, request(1, "count", params)).await;
        let mut before = 0;
        until("the stream is full", || {
            let sent = server.seen.sent.load(Ordering::SeqCst);
            sent > 0 && std::mem::replace(&mut before, sent) == sent
        })
        .await;
        for id in 2..100 {
            let mut ping = server.post(&session, request(id, "ping", json!({}))).await;
            assert_eq!(ping.messages().await[0]["id"], id);
        }
        assert!(
            server.seen.sent.load(Ordering::SeqCst) < 4000,
            "it was stuck all the time"
        );
    }
}
