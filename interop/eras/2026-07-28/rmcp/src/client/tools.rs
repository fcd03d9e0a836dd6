//! The steps with tools.

use std::cmp::Ordering;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::handler::{PATIENCE, POLL};
use super::steps::{INVALID_PARAMS, Steps, blocks, check_png, decoded, error_of};
use crate::json;

const HEAD_START: Duration = Duration::from_millis(500);

impl Steps {
    pub(super) async fn names_of_tools(&self) -> Result<Vec<String>> {
        let tools = self.peer.list_all_tools().await?;
        Ok(tools.iter().map(|tool| tool.name.to_string()).collect())
    }

    pub(super) async fn list_tools(&self) -> Result<String> {
        let tools = json(self.peer.list_all_tools().await?);
        let named = |name: &str| {
            let mut all = tools.as_array().into_iter().flatten();
            all.find(|tool| tool["name"] == name)
                .with_context(|| format!("{name} is not listed"))
        };
        named("test_simple_text")?;
        named("test_tool_with_progress")?;
        ensure!(
            named("test_dynamic").is_err(),
            "test_dynamic is listed before it was added"
        );
        let schema = &named("json_schema_2020_12_tool")?["inputSchema"];
        ensure!(
            schema["$defs"]["address"].is_object(),
            "the definitions of a tool's schema are lost"
        );
        ensure!(
            schema["additionalProperties"] == false,
            "a keyword of a tool's schema is lost"
        );
        let structured = &named("test_structured")?["outputSchema"]["properties"];
        ensure!(structured["celsius"].is_object(), "an output schema is lost");
        Ok(format!("{} tools", tools.as_array().map_or(0, Vec::len)))
    }

    pub(super) async fn call_tools(&self) -> Result<String> {
        let text = self.call("test_simple_text", json!({})).await?;
        ensure!(
            text["content"][0]["type"] == "text" && text["content"][0]["text"] != "",
            "no text: {text}"
        );
        let image = self.call("test_image_content", json!({})).await?;
        ensure!(image["content"][0]["mimeType"] == "image/png", "no picture: {image}");
        check_png(&image["content"][0]["data"])?;
        let embedded = self.call("test_embedded_resource", json!({})).await?;
        ensure!(
            embedded["content"][0]["resource"]["uri"] == "test://embedded-resource",
            "no resource: {embedded}"
        );
        let several = self.call("test_multiple_content_types", json!({})).await?;
        let kinds: Vec<&str> = blocks(&several)
            .iter()
            .filter_map(|block| block["type"].as_str())
            .collect();
        ensure!(kinds == ["text", "image", "resource"], "other content: {kinds:?}");
        let audio = self.call("test_audio_content", json!({})).await?;
        let sound = &audio["content"][0];
        ensure!(
            sound["type"] == "audio" && sound["mimeType"] == "audio/wav",
            "no sound: {audio}"
        );
        ensure!(decoded(&sound["data"])?.starts_with(b"RIFF"), "no sound: {audio}");
        let back = self.call_for_text("test_reconnection", json!({})).await?;
        Ok(format!("{}, audio, {back}", kinds.join(", ")))
    }

    pub(super) async fn call_failing(&self) -> Result<String> {
        let failed = self.call("test_error_handling", json!({})).await?;
        ensure!(
            failed["isError"] == true && failed["content"][0]["text"] != "",
            "no error: {failed}"
        );
        let unknown = error_of(self.call("test_no_such_tool", json!({})).await)?;
        ensure!(unknown.code.0 == INVALID_PARAMS, "{unknown:?}");
        // The error has to tell a model what is wrong with its arguments.
        let invalid = self.call("test_touch_resource", json!({"uri": 5})).await?;
        let reason = invalid["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(
            invalid["isError"] == true && reason.contains("uri"),
            "no error: {invalid}"
        );
        Ok(format!(
            "isError: {}; unknown tool: {}; invalid arguments: {reason}",
            failed["content"][0]["text"], unknown.message
        ))
    }

    pub(super) async fn call_structured(&self) -> Result<String> {
        let result = self.call("test_structured", json!({})).await?;
        let expected = json!({"celsius": 21.5, "city": "Bern"});
        ensure!(result["structuredContent"] == expected, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(serde_json::from_str::<Value>(text)? == expected, "{text}");
        Ok(text.to_owned())
    }

    /// rmcp sends a progress token with every call.
    pub(super) async fn progress(&self) -> Result<String> {
        self.client.forget();
        self.call_for_text("test_tool_with_progress", json!({})).await?;
        self.client.until_told("notifications/progress", 3).await?;
        let reports = self.client.told("notifications/progress");
        let mut seen: Vec<(Option<f64>, Option<f64>)> = reports
            .iter()
            .map(|report| (report["progress"].as_f64(), report["total"].as_f64()))
            .collect();
        // rmcp handles each notification in its own task, so their order isn't kept.
        seen.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
        let expected = [0.0, 50.0, 100.0].map(|progress| (Some(progress), Some(100.0)));
        ensure!(seen == expected, "other progress: {reports:?}");
        Ok("0, 50, 100 of 100".to_owned())
    }

    pub(super) async fn cancel(&self) -> Result<String> {
        let count = async || {
            anyhow::Ok(
                self.call_for_text("test_cancelled", json!({}))
                    .await?
                    .parse::<usize>()?,
            )
        };
        let before = count().await?;
        // The server must have started the call: over HTTP, a cancellation could overtake it.
        let slow = timeout(HEAD_START, self.call("test_slow", json!({}))).await;
        ensure!(slow.is_err(), "the slow call was answered");
        let waiting = async {
            while count().await? != before + 1 {
                sleep(POLL).await;
            }
            anyhow::Ok(())
        };
        timeout(PATIENCE, waiting)
            .await
            .context("timed out waiting for the end of the slow call")??;
        Ok("cancelled by dropping the call".to_owned())
    }
}
