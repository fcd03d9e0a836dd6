//! The behavior of the tools.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use super::call::{Call, Context, Unfinished, internal, question, uris_of, user};
use super::fixtures::{FIXTURES, Fixtures};
use crate::{json, typed};

const AWAY: Duration = Duration::from_millis(100);
const SLOW: Duration = Duration::from_secs(30);

impl Fixtures {
    /// Calls a tool.
    pub(super) async fn call(&self, params: CallToolRequestParams, context: &Context) -> Result<Value, Unfinished> {
        let name = params.name.as_ref();
        let unknown = || ErrorData::invalid_params(format!("no tool is called {name}"), None);
        let fixtures = FIXTURES["tools"].as_array().into_iter().flatten();
        let fixture = fixtures
            .into_iter()
            .find(|fixture| fixture["tool"]["name"] == name)
            .ok_or_else(unknown)?;
        if fixture["says"].is_object() {
            return Ok(fixture["says"].clone());
        }
        let call = Call {
            given: params.arguments.clone().unwrap_or_default(),
            answers: json(&params.input_responses),
            state: params.request_state.clone(),
            context,
        };
        let text = match &fixture["asks"] {
            Value::Object(_) => call.elicit(&fixture["asks"]).await?,
            _ => self.behave(name, &call).await?,
        };
        Ok(json!({"content": [{"type": "text", "text": text}]}))
    }

    async fn behave(&self, tool: &str, call: &Call<'_>) -> Result<String, Unfinished> {
        Ok(match tool {
            "test_tool_with_logging" => self.log(call).await?,
            "test_tool_with_progress" => report_progress(call).await?,
            "test_reconnection" => {
                tokio::time::sleep(AWAY).await;
                "The client is back.".to_owned()
            }
            "test_slow" => self.take_long(call).await?,
            "test_cancelled" => self.with(|session| session.cancelled).to_string(),
            "test_sampling" => sample(call).await?,
            "test_roots" => list_roots(call).await?,
            "test_input_required_result_multiple_inputs" => ask_together(call)?,
            "test_input_required_result_multi_round" => ask_in_turn(call)?,
            "test_touch_resource" => self.touch(call).await?,
            "test_list_changed" => self.change_list(call).await?,
            _ => return Err(ErrorData::internal_error(format!("{tool} does nothing"), None).into()),
        })
    }

    /// Logs three messages, if the client's level includes them.
    async fn log(&self, call: &Call<'_>) -> Result<String, Unfinished> {
        if call.level(self.with(|session| session.level)) > 1 {
            return Ok("logged nothing".to_owned());
        }
        for data in ["begun", "half done", "done"] {
            let message = typed(json!({"level": "info", "logger": "fixtures", "data": data}))?;
            call.context
                .peer
                .notify_logging_message(message)
                .await
                .map_err(internal)?;
        }
        Ok("logged three messages".to_owned())
    }

    /// Waits until the client cancels the call.
    async fn take_long(&self, call: &Call<'_>) -> Result<String, Unfinished> {
        tokio::select! {
            () = call.context.ct.cancelled() => self.with(|session| session.cancelled += 1),
            () = tokio::time::sleep(SLOW) => {}
        }
        Ok("nobody cancelled".to_owned())
    }

    /// Notifies that a resource has changed.
    async fn touch(&self, call: &Call<'_>) -> Result<String, Unfinished> {
        let uri = call.given["uri"].as_str().unwrap_or_default();
        if self.with(|session| session.subscribed.contains(uri)) {
            let news = typed(json!({"uri": uri}))?;
            call.context
                .peer
                .notify_resource_updated(news)
                .await
                .map_err(internal)?;
        }
        for sink in self.listeners(call.is_stateless()).await {
            // The subscription may have been cancelled, or may be about other changes.
            let _ = sink.notify_resource_updated(uri).await;
        }
        Ok(format!("touched {uri}"))
    }

    /// Adds or removes a tool.
    async fn change_list(&self, call: &Call<'_>) -> Result<String, Unfinished> {
        let dynamic = self.with(|session| {
            session.dynamic = !session.dynamic;
            session.dynamic
        });
        if !call.is_stateless() {
            call.context.peer.notify_tool_list_changed().await.map_err(internal)?;
        }
        for sink in self.listeners(call.is_stateless()).await {
            let _ = sink.notify_tool_list_changed().await;
        }
        Ok(format!("{} test_dynamic", if dynamic { "added" } else { "removed" }))
    }
}

/// Reports progress three times, if the client requested it.
async fn report_progress(call: &Call<'_>) -> Result<String, Unfinished> {
    let Some(token) = call.context.meta.get_progress_token() else {
        return Ok("nobody wanted to know".to_owned());
    };
    for progress in [0, 50, 100] {
        let report = json!({"progressToken": json(&token), "progress": progress, "total": 100});
        call.context
            .peer
            .notify_progress(typed(report)?)
            .await
            .map_err(internal)?;
    }
    Ok("reported three times".to_owned())
}

/// Requests text from the client's model.
async fn sample(call: &Call<'_>) -> Result<String, Unfinished> {
    let question = json!({"messages": user(&call.given["prompt"]), "maxTokens": 100});
    let answer = call.ask("sampling/createMessage", question).await?;
    Ok(format!(
        "The model said: {}",
        answer["content"]["text"].as_str().unwrap_or_default()
    ))
}

/// Requests the roots of the client.
async fn list_roots(call: &Call<'_>) -> Result<String, Unfinished> {
    let roots = call.ask("roots/list", json!({})).await?;
    Ok(Value::from(uris_of(&roots)).to_string())
}

/// Requests several inputs at once.
fn ask_together(call: &Call<'_>) -> Result<String, Unfinished> {
    let answers = call.ask_all(
        json!({
            "user_name": question("What is your name?", "name"),
            "greeting": {
                "method": "sampling/createMessage",
                "params": {"messages": user(&json!("Greet")), "maxTokens": 50},
            },
            "client_roots": {"method": "roots/list", "params": {}},
        }),
        None,
    )?;
    let roots = uris_of(&answers["client_roots"]);
    let roots: Vec<&str> = roots.iter().filter_map(Value::as_str).collect();
    let (greeting, name) = (
        &answers["greeting"]["content"]["text"],
        &answers["user_name"]["content"]["name"],
    );
    Ok(format!(
        "{} {} {}",
        greeting.as_str().unwrap_or_default(),
        name.as_str().unwrap_or_default(),
        roots.join(",")
    ))
}

/// Requests one input after the other.
fn ask_in_turn(call: &Call<'_>) -> Result<String, Unfinished> {
    let text = |answer: &Value, field: &str| answer["content"][field].as_str().unwrap_or_default().to_owned();
    let name = match &call.state {
        Some(name) => name.clone(),
        None => {
            let first = json!({"step1": question("What is your name?", "name")});
            text(&call.ask_all(first, None)?["step1"], "name")
        }
    };
    let second = json!({"step2": question("What is your favorite color?", "color")});
    let color = text(&call.ask_all(second, Some(&name))?["step2"], "color");
    Ok(format!("{name} likes {color}"))
}
