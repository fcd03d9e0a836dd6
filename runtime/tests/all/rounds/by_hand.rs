//! Handlers that return input requests in their results themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_runtime::mcp_wire::error_code;
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallError, CallServer, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, Options, Revision,
    ServerHandler, ServerSide, connect, hub, serve,
};
use serde_json::{Value, json};

use crate::rounds::{Raw, call, client_of, every_capability, every_revision, form, info, text};

/// A server that counts rounds in its request state, up to the number that is the tool's name.
struct Counts;

impl ServerHandler<Context<ServerSide>> for Counts {
    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        let count = params
            .request_state
            .map_or(0, |state| state.parse().expect("only this server writes it"));
        let answers = params.input_responses.map_or(0, |answers| answers.len());
        assert_eq!(answers, usize::from(count > 0), "each round brings its responses");
        if params.name == count.to_string() {
            let done = hub::TextContent::new(format!("counted to {count}"));
            return Ok(hub::CallToolResult::new(vec![done.into()]).into());
        }
        let question = hub::ElicitRequest::new(form(&format!("After {count}?")));
        let questions = hub::InputRequests::from([("next", hub::InputRequest::from(question))]);
        let asked = hub::InputRequiredResult::default().with_input_requests(questions);
        Ok(asked.with_request_state((count + 1).to_string()).into())
    }
}

fn server() -> mcp_runtime::transport::ChannelTransport {
    let (server, client) = channel(16);
    let capabilities = serde_json::from_value(json!({"tools": {}})).expect("they are capabilities");
    drop(serve(Counts, info(), capabilities, None, every_revision(), server));
    client
}

async fn count(client: &ClientSession, to: usize) -> Result<String, CallError> {
    let called = client
        .peer()
        .call_tool(hub::CallToolRequestParams::new(to.to_string()))
        .await;
    called.map(|result| text(&result))
}

#[tokio::test]
async fn clients_of_every_revision_with_elicitation_answer_up_to_ten_rounds() {
    for revision in Revision::ALL {
        if revision.method("elicitation/create").is_none() {
            continue;
        }
        let client = client_of(revision, every_capability(), server()).await;
        for to in [0, 1, 3, 10] {
            assert_eq!(
                count(&client, to).await.unwrap(),
                format!("counted to {to}"),
                "{revision}"
            );
        }
        match count(&client, 11).await {
            Err(CallError::TooManyRounds(10)) if !revision.facts().initializes => {}
            Err(CallError::Peer(error)) if revision.facts().initializes => {
                assert_eq!(error.code, error_code::INTERNAL_ERROR, "{revision}: {error:?}");
            }
            other => panic!("{revision}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_user_is_not_asked_in_the_round_that_exceeds_the_limit() {
    struct Counted(Arc<AtomicUsize>);

    impl ClientHandler<Context<ClientSide>> for Counted {
        async fn elicit(
            &self,
            _: hub::ElicitRequestParams,
            _: &Context<ClientSide>,
        ) -> Result<hub::ElicitResult, ErrorObject> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(hub::ElicitResult::new(hub::ElicitResultAction::Accept))
        }
    }

    for revision in Revision::ALL {
        if revision.method("elicitation/create").is_none() {
            continue;
        }
        let asked = Arc::new(AtomicUsize::new(0));
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        let capabilities = serde_json::from_value(every_capability()).expect("they are capabilities");
        let client = connect(Counted(Arc::clone(&asked)), info(), capabilities, options, server());
        let client = client.await.expect("the server speaks every revision");
        count(&client, 11).await.unwrap_err();
        assert_eq!(asked.load(Ordering::SeqCst), 10, "{revision}");
    }
}

#[tokio::test]
async fn a_client_without_elicitation_gets_an_error_or_a_failed_tool_result() {
    for revision in Revision::ALL {
        let client = client_of(revision, json!({}), server()).await;
        match count(&client, 1).await {
            Err(CallError::Peer(error)) if !revision.facts().initializes => {
                let expected = hub::error_code::MISSING_REQUIRED_CLIENT_CAPABILITY;
                assert_eq!(error.code, expected, "{revision}: {error:?}");
            }
            Ok(why) if revision.facts().initializes => assert!(why.contains("`elicitation`"), "{revision}: {why}"),
            other => panic!("{revision}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_request_state_of_a_handler_is_sealed() {
    let mut client = Raw::new(server());
    let asked = client.ask(&call(1, "1", &json!({}))).await;
    assert_ne!(asked["result"]["requestState"], "1", "{asked}");
    let answers = json!({"next": {"action": "accept"}});
    let again = |state: &Value| json!({"requestState": state, "inputResponses": answers});
    let done = client
        .ask(&call(2, "1", &again(&asked["result"]["requestState"])))
        .await;
    assert_eq!(done["result"]["content"][0]["text"], "counted to 1", "{done}");
    let refused = client.ask(&call(3, "1", &again(&json!("1")))).await;
    assert_eq!(refused["error"]["code"], error_code::INVALID_PARAMS, "{refused}");
}
