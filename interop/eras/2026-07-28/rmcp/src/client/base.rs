//! The steps that use no feature of the server.

use anyhow::{Context as _, Result, bail, ensure};
use rmcp::model::{ClientRequest, PingRequest};
use serde_json::{Value, json};

use super::steps::{Absent, Steps};
use crate::{json, typed};

impl Steps {
    pub(super) fn initialized(&self) -> Result<String> {
        let info = json(self.peer.peer_info().context("nothing is known of the server")?);
        Ok(format!(
            "negotiated {} with {}",
            info["protocolVersion"], info["serverInfo"]["name"]
        ))
    }

    pub(super) async fn ping(&self) -> Result<String> {
        if self.is_stateless {
            bail!(Absent("the revision has no ping"));
        }
        let answer = self
            .peer
            .send_request(ClientRequest::PingRequest(PingRequest::default()))
            .await?;
        Ok(json(answer).to_string())
    }

    pub(super) async fn caching(&self) -> Result<String> {
        let read = typed(json!({"uri": "test://static-text"}))?;
        let results = [
            json(self.peer.list_tools(None).await?),
            json(self.peer.list_prompts(None).await?),
            json(self.peer.list_resources(None).await?),
            json(self.peer.list_resource_templates(None).await?),
            json(self.running.read_resource(read).await?),
        ];
        let hints: Vec<Value> = results
            .iter()
            .map(|result| json!([result["ttlMs"], result["cacheScope"]]))
            .collect();
        for hint in &hints {
            ensure!(
                hint[0].is_u64() && (hint[1] == "public" || hint[1] == "private"),
                "{hints:?}"
            );
        }
        Ok(Value::from(hints).to_string())
    }
}
