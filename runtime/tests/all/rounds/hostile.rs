//! Request states and input responses that a server refuses, and instances that share a key.

use std::time::Duration;

use mcp_runtime::mcp_wire::error_code;
use mcp_runtime::router::Call;
use mcp_runtime::{Args, Options, Router, Sealing};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::rounds::{Raw, call, every_revision, name_of, raw_client};

#[derive(Deserialize, JsonSchema)]
struct Path {
    path: String,
}

fn router() -> Router {
    let deletes = |Args(path): Args<Path>, call: Call| async move {
        let name = name_of(&call, &format!("Delete {}?", path.path)).await;
        name.map(|name| format!("{name} deletes {}", path.path))
    };
    Router::new("asks", "1.0")
        .tool("deletes", "Deletes a file", deletes)
        .tool("removes", "Removes a file", deletes)
        .tool("names", "Returns the path", |Args(path): Args<Path>| path.path)
}

fn sealed_by(sealing: Sealing) -> Options {
    Options {
        sealing,
        ..every_revision()
    }
}

/// The parameters of the repeated call, from the response to the first one.
fn repeated(path: &str, asked: &Value) -> Value {
    let state = asked["result"]["requestState"]
        .as_str()
        .unwrap_or_else(|| panic!("{asked}"));
    let answers = json!({"1": {"action": "accept", "content": {"name": "Ann"}}});
    json!({"arguments": {"path": path}, "requestState": state, "inputResponses": answers})
}

async fn begin(client: &mut Raw) -> Value {
    let first = call(1, "deletes", &json!({"arguments": {"path": "a"}}));
    repeated("a", &client.ask(&first).await)
}

fn is_refused(answer: &Value) {
    assert_eq!(
        answer["error"],
        json!({"code": error_code::INVALID_PARAMS, "message": "the request state is not valid"}),
        "{answer}"
    );
}

fn is_done(answer: &Value) {
    assert_eq!(answer["result"]["content"][0]["text"], "\"Ann\" deletes a", "{answer}");
}

#[tokio::test]
async fn a_request_state_is_valid_only_for_its_own_request() {
    let mut client = raw_client(&router(), every_revision());
    let again = begin(&mut client).await;
    is_done(&client.ask(&call(2, "deletes", &again)).await);

    is_refused(&client.ask(&call(3, "removes", &again)).await);
    let mut other = again.clone();
    other["arguments"]["path"] = json!("b");
    is_refused(&client.ask(&call(4, "deletes", &other)).await);
    let mut other = again.clone();
    other["arguments"]["force"] = json!(true);
    is_refused(&client.ask(&call(5, "deletes", &other)).await);

    // The metadata of the request may differ.
    let mut other = call(6, "deletes", &again);
    other["params"]["_meta"]["progressToken"] = json!("p");
    is_done(&client.ask(&other).await);
}

#[tokio::test]
async fn every_invalid_request_state_gets_the_same_error() {
    let mut client = raw_client(&router(), every_revision());
    let again = begin(&mut client).await;
    let state = again["requestState"].as_str().expect("a text").to_owned();
    let (start, end) = state.split_at(state.len() / 2);
    let many = "A".repeat(2 << 20);
    for wrong in [
        "",
        "x",
        start,
        end,
        &format!("{end}{start}"),
        &format!("{state}A"),
        &state.to_lowercase(),
        &many,
    ] {
        let mut params = again.clone();
        params["requestState"] = json!(wrong);
        is_refused(&client.ask(&call(2, "deletes", &params)).await);
    }
    // This state isn't even a string.
    let mut params = again.clone();
    params["requestState"] = json!({"state": 1});
    let refused = client.ask(&call(3, "deletes", &params)).await;
    assert_eq!(refused["error"]["code"], error_code::INVALID_PARAMS, "{refused}");
}

#[tokio::test]
async fn a_tool_that_cannot_request_input_is_not_called_with_an_invalid_request_state() {
    let mut client = raw_client(&router(), every_revision());
    let mut params = json!({"arguments": {"path": "a"}});
    let called = client.ask(&call(1, "names", &params)).await;
    assert_eq!(called["result"]["content"][0]["text"], "a", "{called}");
    params["requestState"] = json!("x");
    is_refused(&client.ask(&call(2, "names", &params)).await);
}

#[tokio::test]
async fn a_request_state_is_valid_only_for_its_own_principal() {
    let mut client = raw_client(&router(), every_revision());
    client.principal = Some("ann".to_owned());
    let again = begin(&mut client).await;
    for other in [None, Some("bob".to_owned())] {
        client.principal = other;
        is_refused(&client.ask(&call(2, "deletes", &again)).await);
    }
    client.principal = Some("ann".to_owned());
    is_done(&client.ask(&call(3, "deletes", &again)).await);
}

#[tokio::test]
async fn an_expired_or_already_used_request_state_is_refused() {
    let options = sealed_by(Sealing::default().time_to_live(Duration::ZERO));
    let mut client = raw_client(&router(), options);
    let again = begin(&mut client).await;
    is_refused(&client.ask(&call(2, "deletes", &again)).await);

    // Two connections share the list of used states.
    let options = sealed_by(Sealing::default().single_use(100));
    let (mut one, mut other) = (raw_client(&router(), options.clone()), raw_client(&router(), options));
    let again = begin(&mut one).await;
    is_done(&other.ask(&call(2, "deletes", &again)).await);
    is_refused(&one.ask(&call(3, "deletes", &again)).await);
    is_refused(&other.ask(&call(4, "deletes", &again)).await);
}

#[tokio::test]
async fn a_request_state_is_single_use_even_if_each_connection_has_its_own_options() {
    for sealing in [Sealing::default, || Sealing::with_key(&[9; 32])] {
        let connection = || raw_client(&router(), sealed_by(sealing().single_use(800)));
        let again = begin(&mut connection()).await;
        is_done(&connection().ask(&call(2, "deletes", &again)).await);
        for id in 3..53 {
            is_refused(&connection().ask(&call(id, "deletes", &again)).await);
        }
    }
}

#[tokio::test]
async fn a_principal_that_uses_many_states_does_not_exhaust_the_limit_for_others() {
    let sealing = || Sealing::with_key(&[10; 32]).single_use(16);
    let mut client = raw_client(&router(), sealed_by(sealing()));
    client.principal = Some("greedy".to_owned());
    for _ in 0..2 {
        let again = begin(&mut client).await;
        is_done(&client.ask(&call(2, "deletes", &again)).await);
    }
    for _ in 0..16 {
        let again = begin(&mut client).await;
        is_refused(&client.ask(&call(2, "deletes", &again)).await);
    }
    client.principal = Some("modest".to_owned());
    let again = begin(&mut client).await;
    is_done(&client.ask(&call(2, "deletes", &again)).await);
}

#[tokio::test]
async fn instances_that_share_a_key_accept_each_others_request_states() {
    let shared = [7; 32];
    let mut instances = [(); 2].map(|()| raw_client(&router(), sealed_by(Sealing::with_key(&shared))));
    let mut stranger = raw_client(&router(), sealed_by(Sealing::with_key(&[8; 32])));
    for turn in 0..4 {
        let [one, other] = &mut instances;
        let (one, other) = if turn % 2 == 0 { (one, other) } else { (other, one) };
        let again = begin(one).await;
        is_refused(&stranger.ask(&call(2, "deletes", &again)).await);
        is_done(&other.ask(&call(3, "deletes", &again)).await);
    }
}

#[tokio::test]
async fn an_input_response_of_the_wrong_type_is_refused() {
    let mut client = raw_client(&router(), every_revision());
    let again = begin(&mut client).await;
    for wrong in [
        json!({"roots": []}),
        json!("yes"),
        json!(null),
        json!({"action": 1}),
        json!([]),
    ] {
        let mut params = again.clone();
        params["inputResponses"]["1"] = wrong.clone();
        let refused = client.ask(&call(2, "deletes", &params)).await;
        assert_eq!(
            refused["error"]["code"],
            error_code::INVALID_PARAMS,
            "{wrong}: {refused}"
        );
    }
}

#[tokio::test]
async fn an_input_response_that_could_be_of_any_type_is_not_reported_as_one_of_them() {
    let mut client = raw_client(&router(), every_revision());
    let again = begin(&mut client).await;
    for wrong in [json!({}), json!({"content": {"name": "Ann"}}), json!({"error": {}})] {
        let mut params = again.clone();
        params["inputResponses"]["1"] = wrong.clone();
        let refused = client.ask(&call(2, "deletes", &params)).await;
        assert_eq!(
            refused["error"]["message"],
            "`params.inputResponses.1`: expected an object with `action`, or with `content`, `model`, `role`, or with \
             `roots`, found another object",
            "{wrong}"
        );
    }
    for (wrong, member) in [
        (json!({"action": 1}), "action"),
        (json!({"content": [], "role": "user"}), "model"),
    ] {
        let mut params = again.clone();
        params["inputResponses"]["1"] = wrong.clone();
        let refused = client.ask(&call(2, "deletes", &params)).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with(&format!("`params.inputResponses.1.{member}`")),
            "{wrong}: {message}"
        );
    }
}

#[tokio::test]
async fn a_request_state_over_the_size_limit_is_an_internal_error() {
    let mut options = every_revision();
    options.limits.state_bytes = 100;
    let mut client = raw_client(&router(), options);
    let refused = client
        .ask(&call(1, "deletes", &json!({"arguments": {"path": "a"}})))
        .await;
    assert_eq!(refused["error"]["code"], error_code::INTERNAL_ERROR, "{refused}");
}

#[tokio::test]
async fn input_responses_without_a_state_match_by_name_unless_states_are_single_use() {
    let asks = |name: Option<&'static str>| {
        move |call: Call| async move {
            let call = name.map_or_else(|| call.clone(), |name| call.named(name));
            name_of(&call, "Who are you?")
                .await
                .map(|name| format!("{name} is here"))
        }
    };
    let router = Router::new("asks", "1.0")
        .tool("named", "Asks by a name", asks(Some("user")))
        .tool("numbered", "Asks by a number", asks(None));
    let accepted = json!({"action": "accept", "content": {"name": "Ann"}});
    let early = json!({"inputResponses": {"user": accepted, "1": accepted, "other": accepted}});
    let mut client = raw_client(&router, every_revision());
    let answer = client.ask(&call(1, "named", &early)).await;
    assert_eq!(answer["result"]["content"][0]["text"], "\"Ann\" is here", "{answer}");
    let answer = client.ask(&call(2, "numbered", &early)).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");

    let once = Sealing::default().single_use(8);
    let mut client = raw_client(&router, sealed_by(once));
    let answer = client.ask(&call(3, "named", &early)).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}
