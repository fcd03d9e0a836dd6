//! Outgoing notifications, and how outgoing messages are encoded.

use std::sync::atomic::Ordering;

use mcp_adapters::Translated;
use mcp_adapters::mcp_wire::{Message, Notice, Object};

use super::log_level::severity;
use super::negotiated::Negotiated;
use super::state::{SessionState, is_custom};
use crate::error::CallError;
use crate::message::{Purpose, to_json};
use crate::side::{MessageOut, Side};

impl<S: Side> SessionState<S> {
    /// Sends a notification.
    pub async fn notify(
        &self,
        negotiated: &Negotiated,
        notification: S::NotificationOut,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        let method = negotiated.method(S::notification_method_out(&notification)).to_owned();
        self.check_notification(negotiated, &method)?;
        if let Some(change) = S::change_of(&notification) {
            let is_heard = self.subscriptions.publish(&change) || !self.sender.ends_with_response();
            return is_heard.then_some(()).ok_or(CallError::NotListening(method));
        }
        if !self.is_wanted(negotiated, &notification, &purpose) {
            return Ok(());
        }
        match self.encode(negotiated, &method, Message::Notification(Notice { notification }))? {
            Some(json) => self.send(json, purpose).await.map_err(|error| self.send_error(error)),
            None => Ok(()),
        }
    }

    /// Whether the client wants a notification: a log message only if it is severe enough for the stateless request or
    /// for the session, and any other one outside of a request only in a session.
    fn is_wanted(&self, negotiated: &Negotiated, notification: &S::NotificationOut, purpose: &Purpose) -> bool {
        let is_alone = S::IS_SERVER && negotiated.is_stateless();
        if is_alone && *purpose == Purpose::Unsolicited {
            return false;
        }
        let Some(level) = S::log_level(notification) else {
            return true;
        };
        let least = match is_alone {
            true => negotiated.log_severity,
            false => Some(self.log_severity.load(Ordering::Relaxed)),
        };
        // A level that nobody knows is sent in a session, where the client has said what it doesn't want.
        least.is_some_and(|least| severity(level).map_or(!is_alone, |severity| severity >= least))
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
    pub fn encode(
        &self,
        negotiated: &Negotiated,
        method: &str,
        message: MessageOut<S>,
    ) -> Result<Option<Vec<u8>>, CallError> {
        let revision = negotiated.revision;
        let conversion = match message {
            Message::Request(_) if S::IS_SERVER => negotiated.conversion_of_question()?,
            _ => negotiated.conversion(),
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
