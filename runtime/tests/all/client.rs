//! Clients made of functions: their capabilities, handlers and calls.

use std::sync::Arc;
use std::time::Duration;

use mcp_runtime::router::{Answer, Args, Call, resource};
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallClient, CallError, Client, ClientSession, Options, Peer, Revision, Router, ServerSide, UnknownMethod, accepted,
    declined, dismissed, hub,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::common::{handshake, stateless};

#[derive(Deserialize, JsonSchema)]
struct Trip {
    city: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    city: String,
}

/// A server whose tools send requests to the client, and report the client's capabilities.
fn server() -> Router {
    Router::new("trips", "1.0")
        .tool(
            "plan",
            "Plans a trip",
            async |call: Call| -> Result<String, CallError> {
                Ok(match call.elicit("Where to?").await? {
                    Answer::Accepted(Trip { city }) => format!("to {city}"),
                    Answer::Declined => "not asked again".to_owned(),
                    Answer::Cancelled => "asked later".to_owned(),
                })
            },
        )
        .tool(
            "roots",
            "Names the client's roots",
            async |call: Call| -> Result<String, CallError> {
                let roots = call.peer().list_roots(None).await?.roots;
                Ok(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(" "))
            },
        )
        .tool("greet", "Greets a place", |Args(place): Args<Place>| {
            format!("Hello, {}", place.city)
        })
        .tool(
            "capabilities",
            "Gives the client's capabilities",
            |peer: Peer<ServerSide>| {
                peer.info()
                    .map(|info| info.capabilities.to_string())
                    .unwrap_or_default()
            },
        )
        .prompt("greeting", "Greets a place", |Args(place): Args<Place>| {
            format!("Greet {}", place.city)
        })
        .with(resource(hub::Resource::new("today", "notes://today"), || "Buy bread"))
        .custom_method(
            "x/stats",
            |Args(place): Args<Place>| json!({"city": place.city, "visits": 3}),
        )
}

async fn connected(client: Client, revision: Revision) -> ClientSession {
    let (ours, theirs) = channel(16);
    server().serve(Options::default(), ours);
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    client.options(options).connect(theirs).await.unwrap()
}

fn text(result: &hub::CallToolResult) -> String {
    let content = json!(result.content);
    content[0]["text"].as_str().unwrap_or_default().to_owned()
}

/// A revision of each era; both have forms.
fn revisions() -> [Revision; 2] {
    [handshake(), stateless()]
}

#[tokio::test]
async fn the_capabilities_of_a_client_follow_from_its_functions() {
    for revision in revisions() {
        let none = connected(Client::new("test", "1.0"), revision).await;
        let declared: Value = serde_json::from_str(&text(&none.call_tool("capabilities", ()).await.unwrap())).unwrap();
        assert_eq!(declared, json!({}), "{revision}");
        let client = Client::new("test", "1.0")
            .elicit_url(async |_| Ok(declined()))
            .roots(Vec::new)
            .capabilities(|own| own.experimental = Some([("x/y".to_owned(), json!({}).into())].into_iter().collect()));
        let some = connected(client, revision).await;
        let declared: Value = serde_json::from_str(&text(&some.call_tool("capabilities", ()).await.unwrap())).unwrap();
        let expected = json!({"elicitation": {"url": {}}, "experimental": {"x/y": {}}, "roots": {}});
        assert_eq!(declared, expected, "{revision}");
    }
}

#[tokio::test]
async fn forms_are_filled_in_declined_or_dismissed_in_both_eras() {
    let filled = |_| async { accepted(&json!({"city": "Bern"})) };
    for revision in revisions() {
        let session = connected(Client::new("test", "1.0").elicit_form(filled), revision).await;
        assert_eq!(
            text(&session.call_tool("plan", ()).await.unwrap()),
            "to Bern",
            "{revision}"
        );
        let session = connected(
            Client::new("test", "1.0").elicit_form(async |_| Ok(declined())),
            revision,
        )
        .await;
        assert_eq!(text(&session.call_tool("plan", ()).await.unwrap()), "not asked again");
        let session = connected(
            Client::new("test", "1.0").elicit_form(async |_| Ok(dismissed())),
            revision,
        )
        .await;
        assert_eq!(text(&session.call_tool("plan", ()).await.unwrap()), "asked later");
        // A client without a function for forms gets none.
        let session = connected(Client::new("test", "1.0"), revision).await;
        let refused = session.call_tool("plan", ()).await;
        assert!(
            refused.is_err() || refused.is_ok_and(|result| result.is_error == Some(true)),
            "{revision}"
        );
    }
}

#[tokio::test]
async fn the_function_for_roots_is_called_for_each_request() {
    let directories = Arc::new(std::sync::Mutex::new(vec!["file:///a"]));
    let shared = Arc::clone(&directories);
    let client = Client::new("test", "1.0").roots(move || {
        let directories = shared.lock().unwrap();
        directories.iter().map(|uri| hub::Root::new(*uri)).collect()
    });
    let session = connected(client, revisions()[0]).await;
    assert_eq!(text(&session.call_tool("roots", ()).await.unwrap()), "file:///a");
    directories.lock().unwrap().push("file:///b");
    assert_eq!(
        text(&session.call_tool("roots", ()).await.unwrap()),
        "file:///a file:///b"
    );
}

#[tokio::test]
async fn calls_take_a_name_and_any_value_that_serializes_to_an_object() {
    for revision in revisions() {
        let session = connected(Client::new("test", "1.0"), revision).await;
        assert_eq!(session.list_tools().await.unwrap().len(), 4);
        let prompts = session.list_prompts().await.unwrap();
        assert_eq!(
            (prompts[0].name.as_str(), prompts[0].description.as_deref()),
            ("greeting", Some("Greets a place"))
        );
        assert_eq!(session.list_resources().await.unwrap()[0].uri, "notes://today");
        assert_eq!(session.list_resource_templates().await.unwrap().len(), 0);
        let bern = || Place {
            city: "Bern".to_owned(),
        };
        assert_eq!(text(&session.call_tool("greet", bern()).await.unwrap()), "Hello, Bern");
        let prompt = session.get_prompt("greeting", json!({"city": "Bern"})).await.unwrap();
        assert_eq!(json!(prompt.messages[0].content)["text"], "Greet Bern");
        let read = session.read_resource("notes://today").await.unwrap();
        assert_eq!(json!(read.contents)[0]["text"], "Buy bread");
        let stats: Value = session.peer().call_method("x/stats", bern()).await.unwrap();
        assert_eq!((&stats["city"], &stats["visits"]), (&json!("Bern"), &json!(3)));
    }
}

#[tokio::test]
async fn arguments_that_are_not_an_object_are_refused_before_anything_is_sent() {
    let session = connected(Client::new("test", "1.0"), revisions()[1]).await;
    for arguments in [json!("Bern"), json!(["Bern"]), json!(1)] {
        let refused = session.call_tool("greet", &arguments).await.unwrap_err();
        assert!(matches!(refused, CallError::InvalidParams(_)), "{arguments}: {refused}");
    }
    let refused = session.get_prompt("greeting", json!({"city": 1})).await.unwrap_err();
    assert!(matches!(refused, CallError::InvalidParams(_)), "{refused}");
    let declared: Result<Value, _> = session.peer().call_method("tools/list", ()).await;
    assert!(declared.is_err(), "a method that the protocol declares");
    for params in [json!("Bern"), json!(["Bern"]), json!(1)] {
        let by_hand = || UnknownMethod::new("x/stats").with_params(params.clone());
        let peer = session.peer();
        let refusals = [
            peer.call_method::<Value>("x/stats", &params).await.map(drop),
            peer.call_unknown(by_hand()).await.map(drop),
            peer.notify_method("x/stats", &params).await,
            peer.notify_unknown(by_hand()).await,
        ];
        for refused in refusals {
            assert!(
                matches!(refused, Err(CallError::InvalidParams(_))),
                "{params}: {refused:?}"
            );
        }
    }
    let other: Result<Vec<u8>, _> = session.peer().call_method("x/stats", json!({"city": "Bern"})).await;
    assert!(matches!(other, Err(CallError::InvalidResult(_))), "{other:?}");
}

#[derive(Deserialize)]
struct Milestone {
    visits: u64,
}

/// A server with a tool that sends notifications: of a vendor, one of them with invalid params, and of the protocol.
fn notifying() -> Router {
    let notify = async |peer: Peer<ServerSide>| -> Result<(), CallError> {
        for params in [json!({"visits": "many"}), json!({"visits": 100})] {
            peer.notify_method("notifications/x/milestone", params).await?;
        }
        peer.notify_method("notifications/x/other", ()).await?;
        let log = hub::LoggingMessageNotificationParams::new(hub::LoggingLevel::Error, json!("full"));
        peer.notify_logging_message(log).await
    };
    Router::new("site", "1.0").tool("visit", "Visits the site", notify)
}

#[tokio::test]
async fn functions_for_notifications_get_those_of_a_vendor_and_of_the_protocol() {
    for revision in revisions() {
        let (ours, theirs) = channel(16);
        notifying().serve(Options::default(), ours);
        let (sender, mut heard) = mpsc::unbounded_channel();
        let [milestones, others, logs] = [sender.clone(), sender.clone(), sender];
        let options = Options {
            supported: vec![revision],
            log_level: Some(hub::LoggingLevel::Info),
            ..Options::default()
        };
        let client = Client::new("test", "1.0")
            .options(options)
            .elicit_form(async |_| Ok(declined()))
            .on_notification("notifications/x/milestone", move |reached: Milestone| {
                let _ = milestones.send(json!(reached.visits));
            })
            .on_notification("notifications/x/other", move |params: Value| {
                let _ = others.send(params);
            })
            .on_notification(
                "notifications/message",
                move |log: hub::LoggingMessageNotificationParams| {
                    let logs = logs.clone();
                    async move { logs.send(json!([log.level, log.data])).unwrap_or_default() }
                },
            );
        let session = client.connect(theirs).await.unwrap();
        session.call_tool("visit", ()).await.unwrap();
        // The milestone that isn't a number is ignored.
        for expected in [json!(100), json!({}), json!(["error", "full"])] {
            let next = tokio::time::timeout(Duration::from_secs(30), heard.recv()).await;
            assert_eq!(next.expect("it is heard"), Some(expected), "{revision}");
        }
    }
}
