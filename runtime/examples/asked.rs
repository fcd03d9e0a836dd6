//! A server that uses elicitation and sampling, and its client: the user fills in a form, and the client's model writes
//! a text. Both run in this process, in the revision given as the argument, or in the latest.

use mcp_runtime::router::{Answer, Call};
use mcp_runtime::transport::channel;
use mcp_runtime::{CallError, Client, ErrorObject, Options, Revision, Router, accepted, hub};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// The destination.
    city: String,
    #[schemars(range(min = 1, max = 30))]
    days: u8,
    #[serde(default)]
    season: Season,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Season {
    #[default]
    Summer,
    Winter,
}

/// Asks the user where to go, and the model what to do there.
async fn plan(call: Call) -> Result<String, CallError> {
    match call.elicit("Where do you want to go?").await? {
        Answer::Accepted(Trip { city, days, season }) => {
            let prompt = format!("Plan {days} days in {city} in {season:?}.");
            call.sample(prompt, 200).await
        }
        Answer::Declined | Answer::Cancelled => Ok("Nothing is planned.".to_owned()),
    }
}

/// The user wants to see Bern.
async fn fill_in(form: hub::ElicitRequestFormParams) -> Result<hub::ElicitResult, ErrorObject> {
    println!("{}", form.message);
    for (name, field) in form.requested_schema.properties.iter() {
        println!("  {name}: {}", json!(field));
    }
    accepted(&json!({"city": "Bern", "days": 3, "season": "winter"}))
}

/// The model repeats what it reads.
async fn repeat(params: hub::CreateMessageRequestParams) -> Result<hub::CreateMessageResult, ErrorObject> {
    let prompt: Value = json!(params.messages[0].content);
    let answer = hub::TextContent::new(format!("You said: {}", prompt["text"].as_str().unwrap_or_default()));
    Ok(hub::CreateMessageResult::new("parrot", hub::Role::Assistant, answer))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let revision = std::env::args()
        .nth(1)
        .map_or(Ok(Revision::HUB), |revision| revision.parse())?;
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let (ours, theirs) = channel(16);
    let router = Router::new("trips", "1.0").tool("plan", "Plans a trip", plan);
    let server = router.serve(options.clone(), theirs);

    let client = Client::new("traveller", "1.0")
        .options(options)
        .elicit_form(fill_in)
        .create_message(repeat);
    let session = client.connect(ours).await?;
    let result = session.call_tool("plan", ()).await?;
    for block in &result.content {
        if let hub::ContentBlock::Text(text) = block {
            println!("{}", text.text);
        }
    }
    session.close().await;
    server.ended().await;
    Ok(())
}
