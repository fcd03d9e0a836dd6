//! The steps with resources.

use anyhow::{Result, ensure};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use super::steps::{INVALID_PARAMS, Steps, check_png, error_of};
use crate::{json, typed};

const RESOURCE_NOT_FOUND: i32 = -32002;
pub(super) const WATCHED: &str = "test://watched-resource";

impl Steps {
    pub(super) async fn list_resources(&self) -> Result<String> {
        let resources = self.peer.list_all_resources().await?;
        let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
        for uri in ["test://static-text", "test://static-binary", WATCHED] {
            ensure!(uris.contains(&uri), "no {uri}");
        }
        Ok(uris.join(", "))
    }

    pub(super) async fn read(&self, uri: &str) -> Result<Value, ServiceError> {
        let params = typed(json!({"uri": uri})).map_err(ServiceError::McpError)?;
        self.peer
            .read_resource(params)
            .await
            .map(|result| json(result)["contents"][0].clone())
    }

    pub(super) async fn read_resources(&self) -> Result<String> {
        let text = self.read("test://static-text").await?;
        ensure!(text["mimeType"] == "text/plain" && text["text"] != "", "{text}");
        let binary = self.read("test://static-binary").await?;
        ensure!(binary["mimeType"] == "image/png", "{binary}");
        check_png(&binary["blob"])?;
        let missing = "test://no-such-resource";
        let unknown = error_of(self.read(missing).await)?;
        let code = if self.is_stateless {
            INVALID_PARAMS
        } else {
            RESOURCE_NOT_FOUND
        };
        ensure!(unknown.code.0 == code, "{unknown:?}");
        ensure!(unknown.data == Some(json!({"uri": missing})), "{unknown:?}");
        Ok(format!("{}; unknown resource: {}", text["text"], unknown.message))
    }

    pub(super) async fn use_template(&self) -> Result<String> {
        let templates = self.peer.list_all_resource_templates().await?;
        let known = templates
            .iter()
            .any(|template| template.uri_template == "test://template/{id}/data");
        ensure!(known, "only {templates:?}");
        let read = self.read("test://template/4711/data").await?;
        let text = read["text"].as_str().unwrap_or_default();
        ensure!(text.contains("4711"), "{read}");
        Ok(text.to_owned())
    }
}
