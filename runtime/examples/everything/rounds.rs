//! Fixtures of the conformance suite for input requests. For stateless clients, these are sent in results.

use mcp_runtime::hub::{
    self, CreateMessageRequestParams, ElicitRequestFormParams, ElicitResult, LoggingLevel, Prompt, PromptMessage, Role,
    SamplingMessage,
};
use mcp_runtime::mcp_wire;
use mcp_runtime::router::{Call, RouteError, prompt, tool};
use mcp_runtime::{CallClient, CallError, Router};
use serde_json::json;

use crate::content::text;

pub fn add_to(router: Router) -> Router {
    let with_context =
        Prompt::new("test_input_required_result_prompt").with_description("Asks the user for its context");
    trigger(router)
        .tool(
            "test_input_required_result_elicitation",
            "Asks the user for a name",
            |call: Call| async move {
                let name = ask("user_name", "What is your name?", "name", &call).await?;
                Ok::<_, CallError>(format!("Hello, {name}!"))
            },
        )
        .tool(
            "test_input_required_result_sampling",
            "Asks the client's model",
            |call: Call| async move { sample("capital_question", "What is the capital of France?", &call).await },
        )
        .tool(
            "test_input_required_result_list_roots",
            "Asks the client for its roots",
            |call: Call| async move { roots("client_roots", &call).await },
        )
        .tool(
            "test_input_required_result_request_state",
            "Asks the user to confirm, and reports that the state was valid",
            |call: Call| async move {
                confirm(&call).await?;
                Ok::<_, CallError>("state-ok")
            },
        )
        .tool(
            "test_input_required_result_tampered_state",
            "Asks the user to confirm, with a state that the client can't change",
            |call: Call| async move {
                confirm(&call).await?;
                Ok::<_, CallError>("Confirmed.")
            },
        )
        .tool(
            "test_input_required_result_multiple_inputs",
            "Asks three questions at once",
            |call: Call| async move {
                let (name, greeting, roots) = tokio::try_join!(
                    ask("user_name", "What is your name?", "name", &call),
                    sample("greeting", "Generate a greeting", &call),
                    roots("client_roots", &call),
                )?;
                Ok::<_, CallError>(format!("{greeting} {name} {roots}"))
            },
        )
        .tool(
            "test_input_required_result_multi_round",
            "Asks two questions, one after the other",
            |call: Call| async move {
                let name = ask("step1", "Step 1: What is your name?", "name", &call).await?;
                let color = ask("step2", "Step 2: What is your favorite color?", "color", &call).await?;
                Ok::<_, CallError>(format!("{name} likes {color}"))
            },
        )
        .tool(
            "test_input_required_result_capabilities",
            "Asks the client's model or, without one, the user",
            |call: Call| async move { asks_what_it_may(&call).await },
        )
        .tool(
            "test_missing_capability",
            "Needs the client's model",
            |call: Call| async move { sample("needed", "Are you there?", &call).await },
        )
        .tool(
            "test_streaming_elicitation",
            "Logs, and asks the user to confirm",
            |call: Call| async move {
                call.log(LoggingLevel::Info, json!("about to ask")).await?;
                confirm(&call).await?;
                Ok::<_, CallError>("Confirmed.")
            },
        )
        .with(prompt(with_context, |call: Call| async move {
            let context = ask("user_context", "What context should the prompt use?", "context", &call).await?;
            let message = PromptMessage::new(Role::User, text(format!("Use this context: {context}")));
            Ok::<_, CallError>(message)
        }))
}

/// Adds tools that change lists and log, with the names of the suite.
fn trigger(router: Router) -> Router {
    router
        .tool("test_logging_tool", "Logs a message", |call: Call| async move {
            call.log(LoggingLevel::Info, json!("logged")).await?;
            Ok::<_, CallError>("Logged, if the client wants it.")
        })
        .tool(
            "test_trigger_tool_change",
            "Adds a tool, or takes it away",
            |call: Call| async move {
                let router = call.router();
                if !router.remove_tool("test_triggered") {
                    router.insert(tool("test_triggered", "Comes and goes", || "Here."))?;
                }
                Ok::<_, RouteError>("Changed.")
            },
        )
        .tool(
            "test_trigger_prompt_change",
            "Adds a prompt, or takes it away",
            |call: Call| async move {
                let router = call.router();
                if !router.remove_prompt("test_triggered") {
                    let added = Prompt::new("test_triggered").with_description("Comes and goes");
                    router.insert(prompt(added, || "Here."))?;
                }
                Ok::<_, RouteError>("Changed.")
            },
        )
}

/// Asks the user for one text.
pub async fn ask(name: &str, message: &str, field: &str, call: &Call) -> Result<String, CallError> {
    let field_of_text = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    let answer = fill_in(name, message, field_of_text, call).await?;
    let content = serde_json::to_value(&answer.content).unwrap_or_default();
    Ok(content[field].as_str().unwrap_or("nobody").to_owned())
}

async fn confirm(call: &Call) -> Result<ElicitResult, CallError> {
    let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    fill_in("confirm", "Please confirm", form, call).await
}

async fn fill_in(name: &str, message: &str, form: serde_json::Value, call: &Call) -> Result<ElicitResult, CallError> {
    let form = mcp_wire::from_str(&form.to_string()).expect("it is a form");
    let params = ElicitRequestFormParams::new(message, form);
    call.named(name).peer().elicit(params.into()).await
}

async fn sample(name: &str, prompt: &str, call: &Call) -> Result<String, CallError> {
    call.named(name).sample(prompt, 100).await
}

async fn roots(name: &str, call: &Call) -> Result<String, CallError> {
    let roots = call.peer().clone().named(name).list_roots(None).await?.roots;
    let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
    Ok(uris.join(","))
}

/// Requests sampling if the client has declared it, and otherwise elicitation.
async fn asks_what_it_may(call: &Call) -> Result<String, CallError> {
    let message = SamplingMessage::new(Role::User, text("Are you there?"));
    let sampling = hub::InputRequest::from(hub::CreateMessageRequest::new(CreateMessageRequestParams::new(
        100,
        vec![message],
    )));
    match call.peer().check_input_request(&sampling) {
        Ok(()) => sample("model", "Are you there?", call).await,
        Err(_) => ask("user", "Are you there?", "answer", call).await,
    }
}
