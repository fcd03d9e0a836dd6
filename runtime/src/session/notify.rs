//! Outgoing notifications, and how outgoing messages are encoded.

use mcp_adapters::Translated;
use mcp_adapters::mcp_wire::{Message, Notice, Object};

use super::state::{SessionState, is_custom};
use crate::error::CallError;
use crate::message::{Purpose, to_json};
use crate::side::{MessageOut, Side};

impl<S: Side> SessionState<S> {
    /// Sends a notification.
    pub async fn notify(&self, notification: S::NotificationOut, purpose: Purpose) -> Result<(), CallError> {
        let method = S::notification_method_out(&notification).to_owned();
        self.check_notification(&method)?;
        let json = self.encode(&method, Message::Notification(Notice { notification }))?;
        match json {
            Some(json) => self.send(json, purpose).await.map_err(|error| self.unsent(error)),
            None => Ok(()),
        }
    }

    /// Sends a notification that no revision declares.
    pub async fn notify_custom(
        &self,
        method: &str,
        notification: impl Object,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        self.check_custom(method)?;
        let json = to_json(&Notice { notification });
        Ok(self.send(json, purpose).await?)
    }

    /// Refuses methods that the protocol declares: they need conversions and capability checks.
    pub fn check_custom(&self, method: &str) -> Result<(), CallError> {
        if is_custom(self.current_revision(), method) {
            return Ok(());
        }
        let reason = format!("{method} is a method of the protocol, and not a custom one");
        Err(CallError::Unrepresentable(reason))
    }

    /// A message in the peer's revision; `None` for a notification that the revision can't represent.
    pub fn encode(&self, method: &str, message: MessageOut<S>) -> Result<Option<Vec<u8>>, CallError> {
        let revision = self.current_revision();
        match S::encode(revision, message) {
            Translated::Message { message, losses } => {
                self.report_losses(method, &losses);
                Ok(Some(message))
            }
            Translated::Refused(refused) => {
                // A conversion over several revisions names the one where it stops. Callers need the peer's.
                let reason = match revision.method(method) {
                    None => format!("revision {revision} has no method {method}"),
                    Some(_) => refused.error.message,
                };
                Err(CallError::Unrepresentable(reason))
            }
            Translated::Dropped { losses, reason } => {
                tracing::debug!(method, %reason, "the peer's revision can't represent the notification");
                self.report_losses(method, &losses);
                Ok(None)
            }
        }
    }
}
