//! The steps in which the server requests input from the client.

use anyhow::{Result, ensure};
use serde_json::json;

use super::steps::Steps;

impl Steps {
    pub(super) async fn sampling(&self) -> Result<String> {
        let text = self
            .call_for_text("test_sampling", json!({"prompt": "the time in Bern"}))
            .await?;
        ensure!(text.contains("heard: the time in Bern"), "{text}");
        Ok(text)
    }

    pub(super) async fn roots(&self) -> Result<String> {
        for more in [None, Some("file:///project/two")] {
            if let Some(uri) = more {
                self.client.with(|memory| memory.roots.push(uri.to_owned()));
                if !self.is_stateless {
                    self.peer.notify_roots_list_changed().await?;
                }
            }
            let listed: Vec<String> = serde_json::from_str(&self.call_for_text("test_roots", json!({})).await?)?;
            ensure!(listed == self.client.with(|memory| memory.roots.clone()), "{listed:?}");
        }
        Ok("one root, then two".to_owned())
    }

    pub(super) async fn elicitation(&self) -> Result<String> {
        let mut texts = Vec::new();
        for (tool, given) in [
            ("test_elicitation", json!({"message": "Who are you?"})),
            ("test_elicitation_sep1034_defaults", json!({})),
            ("test_elicitation_sep1330_enums", json!({})),
        ] {
            let text = self.call_for_text(tool, given).await?;
            for (name, answer) in self.client.with(|memory| memory.answered.clone()) {
                ensure!(
                    text.contains(&answer.to_string()),
                    "{tool}: {name} was {answer}, but the server says: {text}"
                );
            }
            texts.push(text);
        }
        Ok(texts.join("; "))
    }

    /// Several input requests at once, and one after the other.
    pub(super) async fn rounds(&self) -> Result<String> {
        let together = self
            .call_for_text("test_input_required_result_multiple_inputs", json!({}))
            .await?;
        let root = self.client.with(|memory| memory.roots[0].clone());
        for answer in ["my name", "heard: ", &root] {
            ensure!(together.contains(answer), "{together}");
        }
        let in_turn = self
            .call_for_text("test_input_required_result_multi_round", json!({}))
            .await?;
        ensure!(in_turn.contains("my name") && in_turn.contains("my color"), "{in_turn}");
        Ok(format!("{together}; {in_turn}"))
    }
}
