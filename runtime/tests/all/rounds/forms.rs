//! Elicitation forms derived from types, and short sampling requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_runtime::router::{Answer, Call, Form, RouteError, tool};
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallError, CallServer, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, Options, Revision, Router,
    connect, hub,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::rounds::{every_capability, every_revision, info, served, text};

/// How a guest stays.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Stay {
    /// Who comes.
    #[schemars(length(min = 1, max = 40), title = "Name", regex(pattern = "^[A-Z]"))]
    name: String,
    #[schemars(range(min = 1, max = 14))]
    nights: u8,
    #[serde(default)]
    breakfast: bool,
    room: Option<Room>,
    price: Option<f64>,
    #[schemars(email)]
    mail: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Room {
    /// One bed
    Single,
    /// Two beds
    Double,
    Suite,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Meal {
    Lunch,
    Dinner,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Meals {
    #[schemars(length(max = 2))]
    meals: Vec<Meal>,
}

/// A client that records the forms that it gets, and answers each with the same result.
#[derive(Clone)]
struct Guest {
    shown: Arc<Mutex<Vec<Value>>>,
    answer: Value,
}

impl ClientHandler<Context<ClientSide>> for Guest {
    async fn elicit(
        &self,
        params: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        let params = serde_json::to_value(&params).expect("it is JSON");
        self.shown.lock().unwrap().push(params["requestedSchema"].clone());
        Ok(serde_json::from_value(self.answer.clone()).expect("it is a result"))
    }
}

impl Guest {
    fn answering(answer: Value) -> Self {
        let shown = Arc::default();
        Self { shown, answer }
    }

    /// A session of this client.
    async fn of(&self, router: &Router, revision: Revision) -> ClientSession {
        let (server, client) = channel(16);
        drop(router.clone().serve(every_revision(), server));
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        let capabilities = serde_json::from_value(json!({"elicitation": {}})).unwrap();
        connect(self.clone(), info(), capabilities, options, client)
            .await
            .unwrap()
    }

    /// Calls a tool that elicits a `T` from this client, and returns its result.
    async fn asked<T>(&self, revision: Revision) -> hub::CallToolResult
    where
        T: DeserializeOwned + JsonSchema + std::fmt::Debug + Send + 'static,
    {
        let ask = |form: Form<T>| async move { form.ask("Please fill in").await.map(|answer| format!("{answer:?}")) };
        let router = Router::new("inn", "1.0").tool("ask", "Asks", ask);
        let client = self.of(&router, revision).await;
        client
            .peer()
            .call_tool(hub::CallToolRequestParams::new("ask"))
            .await
            .unwrap()
    }
}

/// The revisions that have forms: the first one, whose forms can show less, and the later ones.
fn with_forms() -> (Revision, Vec<Revision>) {
    let has_forms = |revision: &Revision| revision.method("elicitation/create").is_some();
    let mut all: Vec<_> = Revision::ALL.into_iter().filter(has_forms).collect();
    (all.remove(0), all)
}

#[tokio::test]
async fn a_form_derived_from_a_type_is_adapted_to_each_revision() {
    let answer = json!({"name": "Ada", "nights": 2, "room": "double"});
    let response =
        r#"Accepted(Stay { name: "Ada", nights: 2, breakfast: false, room: Some(Double), price: None, mail: None })"#;
    let (first, later) = with_forms();
    let rooms = json!([
        {"const": "suite", "title": "suite"},
        {"const": "single", "title": "One bed"},
        {"const": "double", "title": "Two beds"},
    ]);
    let properties = json!({
        "name": {"type": "string", "title": "Name", "description": "Who comes.", "minLength": 1, "maxLength": 40},
        "nights": {"type": "integer", "minimum": 1, "maximum": 14},
        "breakfast": {"type": "boolean", "default": false},
        "room": {"type": "string", "oneOf": rooms},
        "price": {"type": "number"},
        "mail": {"type": "string", "format": "email"},
    });
    for revision in later {
        let guest = Guest::answering(json!({"action": "accept", "content": answer}));
        assert_eq!(text(&guest.asked::<Stay>(revision).await), response, "{revision}");
        let shown = guest.shown.lock().unwrap().remove(0);
        assert_eq!(shown["properties"], properties, "{revision}");
        assert_eq!(shown["required"], json!(["name", "nights"]), "{revision}");
    }
    // The first revision has only the legacy form of enums.
    let guest = Guest::answering(json!({"action": "accept", "content": answer}));
    assert_eq!(text(&guest.asked::<Stay>(first).await), response);
    let shown = guest.shown.lock().unwrap().remove(0);
    assert_eq!(
        shown["properties"]["room"],
        json!({"type": "string", "enum": ["suite", "single", "double"], "enumNames": ["suite", "One bed", "Two beds"]})
    );
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Consent {}

#[tokio::test]
async fn a_struct_without_members_is_a_form_without_fields() {
    let (first, later) = with_forms();
    for revision in [vec![first], later].concat() {
        let guest = Guest::answering(json!({"action": "accept", "content": {}}));
        assert_eq!(
            text(&guest.asked::<Consent>(revision).await),
            "Accepted(Consent)",
            "{revision}"
        );
        let shown = guest.shown.lock().unwrap().remove(0);
        assert_eq!(shown, json!({"type": "object", "properties": {}}), "{revision}");
    }
}

#[tokio::test]
async fn multiple_choice_works_only_in_revisions_that_can_show_it() {
    let (first, later) = with_forms();
    let guest = Guest::answering(json!({"action": "accept", "content": {"meals": ["lunch", "dinner"]}}));
    for revision in later {
        let result = guest.asked::<Meals>(revision).await;
        assert_eq!(
            text(&result),
            "Accepted(Meals { meals: [Lunch, Dinner] })",
            "{revision}"
        );
        let shown = guest.shown.lock().unwrap().remove(0);
        let items = json!({"type": "string", "enum": ["lunch", "dinner"]});
        assert_eq!(
            shown["properties"]["meals"],
            json!({"type": "array", "items": items, "maxItems": 2})
        );
    }
    let result = guest.asked::<Meals>(first).await;
    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).contains("can't represent the message"), "{result:?}");
    assert!(guest.shown.lock().unwrap().is_empty());
}

#[tokio::test]
async fn declined_and_cancelled_forms_are_returned_and_invalid_answers_fail_the_tool() {
    let (_, later) = with_forms();
    for revision in later {
        for (answer, said, is_error) in [
            (json!({"action": "decline"}), "Declined", None),
            (json!({"action": "cancel"}), "Cancelled", None),
            (
                json!({"action": "accept", "content": {"name": "ada", "nights": 2}}),
                "`name`",
                Some(true),
            ),
            (json!({"action": "accept"}), "expected a member \"name\"", Some(true)),
        ] {
            let result = Guest::answering(answer).asked::<Stay>(revision).await;
            assert!(text(&result).contains(said), "{revision}: {result:?}");
            assert_eq!(result.is_error, is_error, "{revision}");
        }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Nested {
    stay: Stay,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Names {
    names: Vec<String>,
}

#[tokio::test]
async fn types_that_no_form_can_show_are_refused_at_registration_or_by_the_call() {
    fn refusal<T: DeserializeOwned + JsonSchema + 'static>() -> String {
        let route = tool("ask", "Asks", |_: Form<T>| "");
        let error = Router::new("inn", "1.0").insert(route).unwrap_err();
        assert!(matches!(error, RouteError::NoForm { .. }), "{error:?}");
        error.to_string()
    }
    for (refusal, what) in [
        (
            refusal::<Nested>(),
            "no form can show the member `stay` of `all::rounds::forms::Nested`",
        ),
        (refusal::<Names>(), "no form can show the member `names`"),
        (refusal::<String>(), "`alloc::string::String` isn't a struct"),
        (refusal::<BTreeMap<String, String>>(), "isn't a struct"),
        (refusal::<BTreeMap<String, Value>>(), "isn't a struct"),
    ] {
        assert!(
            refusal.starts_with("the tool `ask` can't ask the user: ") && refusal.contains(what),
            "{refusal}"
        );
    }
    let ask = |call: Call| async move { call.elicit::<Nested>("Please fill in").await.map(|_| "") };
    let router = Router::new("inn", "1.0").tool("ask", "Asks", ask);
    let client = Guest::answering(json!({})).of(&router, Revision::HUB).await;
    let result = client
        .peer()
        .call_tool(hub::CallToolRequestParams::new("ask"))
        .await
        .unwrap();
    assert!(
        text(&result).contains("no form can show the member `stay`"),
        "{result:?}"
    );
}

/// A client whose model answers with this content.
struct Answers(Value);

impl ClientHandler<Context<ClientSide>> for Answers {
    async fn create_message(
        &self,
        _: hub::CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        let message = json!({"role": "assistant", "model": "m", "content": self.0});
        Ok(serde_json::from_value(message).expect("it is a message"))
    }
}

#[tokio::test]
async fn sample_accepts_a_single_text_as_an_array() {
    let ask = |call: Call| async move { call.sample("Hello", 10).await };
    let router = Router::new("inn", "1.0").tool("ask", "Asks", ask);
    let block = json!({"type": "text", "text": "Hi"});
    for (content, expected) in [
        (json!([block]), Some("Hi")),
        (json!([block, block]), None),
        (json!([]), None),
    ] {
        let (server, client) = channel(16);
        drop(router.clone().serve(every_revision(), server));
        let capabilities = serde_json::from_value(every_capability()).expect("they are capabilities");
        let client = connect(Answers(content), info(), capabilities, every_revision(), client).await;
        let params = hub::CallToolRequestParams::new("ask");
        let result = client.expect("it connects").peer().call_tool(params).await.unwrap();
        match expected {
            Some(expected) => assert_eq!(text(&result), expected),
            None => assert_eq!(result.is_error, Some(true)),
        }
    }
}

#[tokio::test]
async fn named_elicitations_and_sampling_work_in_both_eras() {
    #[derive(Deserialize, JsonSchema)]
    struct Name {
        name: String,
    }
    let ask = |call: Call| async move {
        let (second, first) = (call.named("second"), call.named("first"));
        let (second, first, sampled) = tokio::try_join!(
            second.elicit::<Name>("Bob"),
            first.elicit::<Name>("Ann"),
            call.sample("Hello", 10)
        )?;
        let name = |answer: Answer<Name>| answer.accepted().map(|answer| answer.name).unwrap_or_default();
        Ok::<_, CallError>(format!("{} {} {sampled}", name(first), name(second)))
    };
    let router = Router::new("inn", "1.0").tool("ask", "Asks", ask);
    let (first, later) = with_forms();
    let can_sample = |revision: &Revision| revision.method("sampling/createMessage").is_some();
    for revision in [first].into_iter().chain(later).filter(can_sample) {
        let client = served(&router, revision, every_capability()).await;
        let result = client
            .peer()
            .call_tool(hub::CallToolRequestParams::new("ask"))
            .await
            .unwrap();
        assert_eq!(text(&result), "Ann Bob 1 bytes", "{revision}");
    }
}
