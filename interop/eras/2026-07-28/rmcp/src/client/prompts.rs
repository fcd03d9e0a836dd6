//! The steps with prompts, and completion.

use anyhow::{Context as _, Result, ensure};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use super::steps::{INVALID_PARAMS, Steps, check_png, error_of};
use crate::{json, typed};

impl Steps {
    pub(super) async fn list_prompts(&self) -> Result<String> {
        let prompts = json(self.peer.list_all_prompts().await?);
        let mut all = prompts.as_array().into_iter().flatten();
        let prompt = all
            .find(|prompt| prompt["name"] == "test_prompt_with_arguments")
            .context("not listed")?;
        let arguments = prompt["arguments"].as_array().into_iter().flatten();
        let arguments: Vec<Value> = arguments.map(|each| json!([each["name"], each["required"]])).collect();
        ensure!(arguments == [json!(["arg1", true]), json!(["arg2", true])], "{prompt}");
        Ok(format!("{} prompts", prompts.as_array().map_or(0, Vec::len)))
    }

    pub(super) async fn prompt(&self, name: &str, given: Value) -> Result<Value, ServiceError> {
        let params = typed(json!({"name": name, "arguments": given})).map_err(ServiceError::McpError)?;
        self.peer
            .get_prompt(params)
            .await
            .map(|result| json(result)["messages"][0]["content"].clone())
    }

    pub(super) async fn get_prompts(&self) -> Result<String> {
        let simple = self.prompt("test_simple_prompt", json!({})).await?;
        ensure!(simple["text"].as_str().is_some_and(|text| !text.is_empty()), "{simple}");
        let filled = self
            .prompt("test_prompt_with_arguments", json!({"arg1": "hello", "arg2": "world"}))
            .await?;
        let text = filled["text"].as_str().unwrap_or_default();
        ensure!(text.contains("hello") && text.contains("world"), "{filled}");
        let resource = json!({"resourceUri": "test://example"});
        let embedded = self.prompt("test_prompt_with_embedded_resource", resource).await?;
        ensure!(embedded["resource"]["uri"] == "test://example", "{embedded}");
        check_png(&self.prompt("test_prompt_with_image", json!({})).await?["data"])?;
        let unknown = error_of(self.prompt("test_no_such_prompt", json!({})).await)?;
        ensure!(unknown.code.0 == INVALID_PARAMS, "{unknown:?}");
        Ok(format!("{text}; unknown prompt: {}", unknown.message))
    }

    pub(super) async fn completion(&self) -> Result<String> {
        let complete = async |reference: Value, name: &str, value: &str| {
            let params = json!({"ref": reference, "argument": {"name": name, "value": value}});
            let completed = json(self.peer.complete(typed(params)?).await?);
            anyhow::Ok(completed["completion"]["values"].clone())
        };
        let prompt = json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"});
        let all = complete(prompt.clone(), "arg1", "par").await?;
        ensure!(all == json!(["paris", "park", "party"]), "{all}");
        let one = complete(prompt, "arg1", "part").await?;
        ensure!(one == json!(["party"]), "{one}");
        let template = json!({"type": "ref/resource", "uri": "test://template/{id}/data"});
        let ids = complete(template, "id", "1").await?;
        let ids = ids.as_array().context("no list")?;
        let fits = |id: &Value| id.as_str().is_some_and(|id| id.starts_with('1'));
        ensure!(!ids.is_empty() && ids.iter().all(fits), "{ids:?}");
        Ok(format!("{all}; {} ids", ids.len()))
    }
}
