//! The steps in which the server notifies the client.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rmcp::service::Subscription;
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::handler::PATIENCE;
use super::resources::WATCHED;
use super::steps::Steps;
use crate::{json, typed};

/// The time to wait for a message that must not come.
const SILENCE: Duration = Duration::from_millis(250);
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

impl Steps {
    pub(super) async fn subscribe(&self) -> Result<String> {
        let method = "notifications/resources/updated";
        let touch = || self.call_for_text("test_touch_resource", json!({"uri": WATCHED}));
        self.client.forget();
        if self.is_stateless {
            let mut subscription = self
                .peer
                .listen(typed(json!({"resourceSubscriptions": [WATCHED]}))?)
                .await?;
            touch().await?;
            self.hear(&mut subscription).await?;
            subscription.cancel().await?;
        } else {
            self.peer.subscribe(typed(json!({"uri": WATCHED}))?).await?;
            touch().await?;
            self.client.until_told(method, 1).await?;
            self.peer.unsubscribe(typed(json!({"uri": WATCHED}))?).await?;
        }
        touch().await?;
        sleep(SILENCE).await;
        let told = self.client.told(method);
        ensure!(told.len() == 1 && told[0]["uri"] == WATCHED, "{told:?}");
        Ok("told once while subscribed, not after".to_owned())
    }

    /// Records the next notification of a subscription.
    pub(super) async fn hear(&self, subscription: &mut Subscription) -> Result<()> {
        let heard = timeout(PATIENCE, subscription.next())
            .await
            .context("timed out waiting for a notification")??;
        let heard = json(heard.context("the subscription has ended")?);
        let known = ["notifications/resources/updated", "notifications/tools/list_changed"];
        let method = known.into_iter().find(|method| heard["method"] == *method);
        self.client
            .note(method.context("another notification")?, heard["params"].clone());
        Ok(())
    }

    pub(super) async fn logging(&self) -> Result<String> {
        let method = "notifications/message";
        self.client.forget();
        self.want_logs("info").await?;
        self.call_for_text("test_tool_with_logging", json!({})).await?;
        self.client.until_told(method, 3).await?;
        self.want_logs("error").await?;
        self.call_for_text("test_tool_with_logging", json!({})).await?;
        sleep(SILENCE).await;
        let told = self.client.told(method);
        ensure!(
            told.len() == 3 && told.iter().all(|message| message["level"] == "info"),
            "{told:?}"
        );
        Ok("three messages".to_owned())
    }

    /// Requests log messages of this level and above: once for the session, or with each call.
    pub(super) async fn want_logs(&self, level: &str) -> Result<()> {
        if self.is_stateless {
            self.client
                .with(|memory| memory.meta.insert(LOG_LEVEL.to_owned(), level.into()));
        } else {
            self.peer.set_level(typed(json!({"level": level}))?).await?;
        }
        Ok(())
    }

    pub(super) async fn list_changed(&self) -> Result<String> {
        let mut subscription = match self.is_stateless {
            true => Some(self.peer.listen(typed(json!({"toolsListChanged": true}))?).await?),
            false => None,
        };
        for listed in [true, false] {
            self.client.forget();
            self.call_for_text("test_list_changed", json!({})).await?;
            match &mut subscription {
                Some(subscription) => self.hear(subscription).await?,
                None => self.client.until_told("notifications/tools/list_changed", 1).await?,
            }
            let names = self.names_of_tools().await?;
            ensure!(names.iter().any(|name| name == "test_dynamic") == listed, "{names:?}");
        }
        if let Some(mut subscription) = subscription {
            subscription.cancel().await?;
        }
        Ok("test_dynamic came and went".to_owned())
    }
}
