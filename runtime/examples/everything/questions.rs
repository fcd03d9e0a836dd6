//! Tools that request input from the client.

use mcp_runtime::hub::{ContentBlock, ElicitRequestFormParams};
use mcp_runtime::mcp_wire;
use mcp_runtime::router::Call;
use mcp_runtime::{Args, CallClient, CallError, Router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::content::text;

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    /// The prompt for the model.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Question {
    /// The message for the user.
    message: String,
}

/// A form with two text fields.
const USER: &str = r#"{
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"}
    },
    "required": ["username", "email"]
}"#;

/// A form with every kind of field, each with a default value.
const WITH_DEFAULTS: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true}
    }
}"#;

/// A form with every way to choose among values.
const CHOICES: &str = r#"{
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
                {"const": "value3", "title": "Third Option"}
            ]
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                    {"const": "value3", "title": "Third Choice"}
                ]
            }
        }
    }
}"#;

pub fn add_to(router: Router) -> Router {
    router
        .tool("test_sampling", "Asks the client's model", sample)
        .tool(
            "test_elicitation",
            "Asks the user for two texts",
            |Args(question): Args<Question>, call: Call| async move {
                let answer = ask(question.message, USER, &call).await?;
                Ok::<ContentBlock, CallError>(text(format!("User response: {answer}")).into())
            },
        )
        .tool(
            "test_elicitation_sep1034_defaults",
            "Asks the user to check default values",
            |call: Call| async move { completed(ask("Please look over".to_owned(), WITH_DEFAULTS, &call).await?) },
        )
        .tool(
            "test_elicitation_sep1330_enums",
            "Asks the user to choose",
            |call: Call| async move { completed(ask("Please choose".to_owned(), CHOICES, &call).await?) },
        )
        .tool("test_roots", "Asks the client for its roots", |call: Call| async move {
            let roots = call.list_roots(None).await?.roots;
            let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
            Ok::<String, CallError>(json!(uris).to_string())
        })
}

async fn sample(Args(Prompt { prompt }): Args<Prompt>, call: Call) -> Result<String, CallError> {
    let answer = call.sample(prompt, 100).await?;
    Ok(format!("LLM response: {answer}"))
}

/// Shows the user a form, and returns the response as text.
async fn ask(message: String, form: &str, call: &Call) -> Result<String, CallError> {
    let form = mcp_wire::from_str(form).expect("the form is one");
    let params = ElicitRequestFormParams::new(message, form);
    let result = call.peer().elicit(params.into()).await?;
    let content = serde_json::to_string(&result.content).expect("content is JSON");
    Ok(format!("action={}, content={content}", result.action.as_str()))
}

fn completed(answer: String) -> Result<String, CallError> {
    Ok(format!("Elicitation completed: {answer}"))
}
