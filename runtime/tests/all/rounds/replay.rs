//! How often a handler that requests input runs, and which of its code is repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use mcp_runtime::mcp_wire::error_code;
use mcp_runtime::router::Call;
use mcp_runtime::{CallClient, CallError, CallServer, Revision, Router, hub};
use serde_json::{Value, json};

use crate::rounds::{call, every_capability, every_revision, form, name_of, raw_client, served, stateless, text};

/// A shared counter.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn one(&self) -> usize {
        self.0.fetch_add(1, SeqCst)
    }

    fn take(&self) -> usize {
        self.0.swap(0, SeqCst)
    }
}

fn with_tool<F>(function: impl Fn(Call) -> F + Send + Sync + 'static) -> Router
where
    F: Future<Output = Result<String, CallError>> + Send + 'static,
{
    Router::new("asks", "1.0").tool("asks", "Asks", move |call: Call| function(call))
}

#[tokio::test]
async fn code_before_an_input_request_runs_once_per_round_and_code_after_the_last_once() {
    let (before, between, after) = (Count::default(), Count::default(), Count::default());
    let counts = (before.clone(), between.clone(), after.clone());
    let router = with_tool(move |call| {
        let (before, between, after) = counts.clone();
        async move {
            before.one();
            let first = name_of(&call, "first").await?;
            between.one();
            let second = name_of(&call, &format!("second after {}", first.trim_matches('"'))).await?;
            after.one();
            Ok(format!("{first} {second}"))
        }
    });
    for revision in Revision::ALL {
        if revision.method("elicitation/create").is_none() {
            continue;
        }
        let client = served(&router, revision, every_capability()).await;
        let called = client.peer().call_tool(hub::CallToolRequestParams::new("asks")).await;
        assert_eq!(text(&called.unwrap()), r#""first" "second after first""#, "{revision}");
        let expected = if !revision.facts().initializes {
            (3, 2, 1)
        } else {
            (1, 1, 1)
        };
        assert_eq!((before.take(), between.take(), after.take()), expected, "{revision}");
    }
}

#[tokio::test]
async fn concurrent_input_requests_take_one_round() {
    let runs = Count::default();
    let counted = runs.clone();
    let router = with_tool(move |call| {
        let runs = counted.clone();
        async move {
            runs.one();
            let (one, two, three) = tokio::join!(name_of(&call, "1"), name_of(&call, "2"), name_of(&call, "3"));
            Ok([one?, two?, three?].concat())
        }
    });
    let client = served(&router, stateless(), every_capability()).await;
    let called = client.peer().call_tool(hub::CallToolRequestParams::new("asks")).await;
    assert_eq!(text(&called.unwrap()), r#""1""2""3""#);
    assert_eq!(runs.take(), 2);
}

#[tokio::test]
async fn a_handler_whose_input_request_changes_between_runs_fails() {
    let runs = Count::default();
    let router = with_tool(move |call| {
        let runs = runs.clone();
        async move {
            let run = runs.one();
            name_of(&call, &format!("It is {run} o'clock")).await
        }
    });
    let client = served(&router, stateless(), every_capability()).await;
    let called = client.peer().call_tool(hub::CallToolRequestParams::new("asks")).await;
    let Err(CallError::Peer(error)) = called else {
        panic!("{called:?}")
    };
    assert_eq!(error.code, error_code::INTERNAL_ERROR);
    assert!(
        error
            .message
            .contains("the input request `1` differs from that of an earlier round"),
        "{error:?}"
    );
}

#[tokio::test]
async fn named_input_requests_can_come_in_any_order_and_duplicate_names_fail() {
    let runs = Count::default();
    let router = with_tool(move |call| {
        let runs = runs.clone();
        async move {
            let named = |name: &'static str| {
                let peer = call.peer().clone().named(name);
                async move {
                    peer.elicit(form(name))
                        .await
                        .map(|result| result.action.as_str().to_owned())
                }
            };
            match runs.one() {
                0 => tokio::try_join!(named("a"), named("b")).map(|(a, b)| a + &b),
                _ => tokio::try_join!(named("b"), named("a")).map(|(b, a)| a + &b),
            }
        }
    });
    let mut client = raw_client(&router, every_revision());
    let asked = client.ask(&call(1, "asks", &json!({}))).await;
    let questions = asked["result"]["inputRequests"]
        .as_object()
        .unwrap_or_else(|| panic!("{asked}"));
    assert_eq!(questions.keys().collect::<Vec<_>>(), ["a", "b"]);
    let answers = json!({"a": {"action": "accept"}, "b": {"action": "decline"}});
    let state = &asked["result"]["requestState"];
    let done = client
        .ask(&call(
            2,
            "asks",
            &json!({"inputResponses": answers, "requestState": state}),
        ))
        .await;
    assert_eq!(done["result"]["content"][0]["text"], "acceptdecline", "{done}");

    let router = with_tool(|call| async move {
        let peer = call.peer().clone().named("a");
        tokio::try_join!(peer.elicit(form("1")), peer.elicit(form("2"))).map(|_| String::new())
    });
    let mut client = raw_client(&router, every_revision());
    let refused = client.ask(&call(1, "asks", &json!({}))).await;
    assert_eq!(refused["error"]["code"], error_code::INTERNAL_ERROR, "{refused}");
}

#[tokio::test]
async fn a_task_spawned_by_a_handler_can_request_input_and_ends_with_the_run() {
    let ended = Count::default();
    let counted = ended.clone();
    let router = with_tool(move |call| {
        let ended = counted.clone();
        let asking = tokio::spawn(async move {
            let answer = name_of(&call, "Ann").await;
            if matches!(answer, Err(CallError::InputRequired)) {
                ended.one();
            }
            answer
        });
        async move { asking.await.expect("it doesn't panic") }
    });
    let client = served(&router, stateless(), every_capability()).await;
    let called = client.peer().call_tool(hub::CallToolRequestParams::new("asks")).await;
    assert_eq!(text(&called.unwrap()), "\"Ann\"");
    for _ in 0..1000 {
        if ended.0.load(SeqCst) == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the task of the first run waits forever");
}

#[tokio::test]
async fn missing_input_responses_are_requested_again_and_extra_ones_ignored() {
    let router = with_tool(|call| async move {
        let (one, two) = tokio::join!(name_of(&call, "1"), name_of(&call, "2"));
        Ok(one? + &two?)
    });
    let mut client = raw_client(&router, every_revision());
    let answer = |name: &str| json!({"action": "accept", "content": {"name": name}});

    // A response before any input was requested.
    let answers = json!({"1": answer("too early")});
    let asked = client.ask(&call(1, "asks", &json!({"inputResponses": answers}))).await;
    let names = |asked: &Value| -> Vec<String> {
        let questions = asked["result"]["inputRequests"].as_object();
        questions.unwrap_or_else(|| panic!("{asked}")).keys().cloned().collect()
    };
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_eq!(names(&asked), ["1", "2"]);

    let state = &asked["result"]["requestState"];
    let answers = json!({"1": answer("one"), "9": answer("nine")});
    let asked = client
        .ask(&call(
            2,
            "asks",
            &json!({"inputResponses": answers, "requestState": state}),
        ))
        .await;
    assert_eq!(names(&asked), ["2"]);

    // The state holds the first response. Another one to the same input request is ignored.
    let state = &asked["result"]["requestState"];
    let answers = json!({"1": answer("other"), "2": answer("two")});
    let done = client
        .ask(&call(
            3,
            "asks",
            &json!({"inputResponses": answers, "requestState": state}),
        ))
        .await;
    assert_eq!(done["result"]["content"][0]["text"], r#""one""two""#, "{done}");
    assert_eq!(done["result"]["requestState"], Value::Null);
}

#[tokio::test]
async fn input_is_requested_even_if_the_handler_discards_or_maps_the_error() {
    let discards = with_tool(|call| async move {
        let _ = name_of(&call, "Ann").await;
        Ok(name_of(&call, "Bea").await.unwrap_or_else(|_| "nobody".to_owned()))
    });
    let maps = with_tool(|call| async move {
        let first = name_of(&call, "Ann").await.map_err(|_| "nobody");
        let second = name_of(&call, "Bea")
            .await
            .or_else(|_| Ok::<_, CallError>("nobody".to_owned()))?;
        assert_eq!(first.as_deref(), Ok(r#""Ann""#));
        Ok(second)
    });
    let waits_briefly = with_tool(|call| async move {
        let asked = tokio::time::timeout(Duration::from_secs(5), name_of(&call, "Bea")).await;
        Ok(asked.map_or_else(
            |_| "nobody".to_owned(),
            |name| name.unwrap_or_else(|_| "nobody".to_owned()),
        ))
    });
    for router in [discards, maps, waits_briefly] {
        for revision in Revision::ALL {
            if revision.method("elicitation/create").is_none() {
                continue;
            }
            let client = served(&router, revision, every_capability()).await;
            let called = client.peer().call_tool(hub::CallToolRequestParams::new("asks")).await;
            assert_eq!(text(&called.unwrap()), r#""Bea""#, "{revision}");
            // If the client doesn't support the input request, that error isn't discarded either.
            let client = served(&router, revision, json!({})).await;
            let called = client.peer().call_tool(hub::CallToolRequestParams::new("asks")).await;
            let has_failed = match &called {
                Ok(result) => revision.facts().initializes && result.is_error == Some(true),
                Err(error) => !revision.facts().initializes && matches!(error, CallError::Peer(_)),
            };
            assert!(has_failed, "{revision}: {called:?}");
        }
    }
}
