//! Outgoing notifications, and how outgoing messages are encoded.

use mcp_adapters::hub::LoggingLevel;
use mcp_adapters::mcp_wire::{Message, MessageHeader, Notice, Object};
use mcp_adapters::{PeerTypes, Revision, Translated};

use super::log_level::severity;
use super::state::{SessionState, is_custom};
use super::terms::Terms;
use crate::error::CallError;
use crate::message::{Purpose, to_json};
use crate::side::{MessageOut, Side};

impl<S: Side> SessionState<S> {
    /// Sends a notification.
    pub async fn notify(
        &self,
        terms: &Terms,
        notification: S::NotificationOut,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        let method = S::notification_method_out(&notification).to_owned();
        self.check_notification(terms, &method)?;
        let json = self.encode(terms, &method, Message::Notification(Notice { notification }))?;
        match json {
            Some(json) if self.is_wanted(terms, &method, &json, &purpose) => {
                self.send(json, purpose).await.map_err(|error| self.unsent(error))
            }
            _ => Ok(()),
        }
    }

    /// Whether the peer of a request that stands alone wants a notification: only while its request is handled, and a log
    /// message only if it is severe enough. In a session, whoever logs knows that.
    fn is_wanted(&self, terms: &Terms, method: &str, json: &[u8], purpose: &Purpose) -> bool {
        if !S::IS_SERVER || !terms.stands_alone() {
            return true;
        }
        if *purpose == Purpose::Unsolicited {
            return false;
        }
        if Revision::HUB.lifecycle().log != Some(method) {
            return true;
        }
        let level = || {
            let header = MessageHeader::from_slice(json).ok()?;
            let level: LoggingLevel = header.param(&["level"]).ok()??.decode_as().ok()?;
            severity(&level)
        };
        terms
            .log_severity
            .is_some_and(|least| level().is_some_and(|level| level >= least))
    }

    /// Sends a notification that the hub doesn't declare.
    pub async fn notify_custom(
        &self,
        method: &str,
        notification: impl Object,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        check_custom(method)?;
        self.notify_json(notification, purpose).await
    }

    /// Sends a notification that isn't converted.
    pub async fn notify_json(&self, notification: impl Object, purpose: Purpose) -> Result<(), CallError> {
        let json = to_json(&Notice { notification });
        Ok(self.send(json, purpose).await?)
    }

    /// A message in the peer's revision; `None` for a notification that the revision can't represent.
    pub fn encode(&self, terms: &Terms, method: &str, message: MessageOut<S>) -> Result<Option<Vec<u8>>, CallError> {
        let revision = terms.revision;
        let conversion = match message {
            Message::Request(_) if S::IS_SERVER => terms.conversion_of_question()?,
            _ => terms.conversion(),
        };
        match S::encode(revision, message, conversion) {
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

/// Refuses methods that the hub declares: they need conversions and capability checks.
pub fn check_custom(method: &str) -> Result<(), CallError> {
    if is_custom(method) {
        return Ok(());
    }
    let reason = format!("{method} is a method of the protocol, and not a custom one");
    Err(CallError::Unrepresentable(reason))
}
