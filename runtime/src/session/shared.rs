//! What the tasks of a session share: the way to the peer, what was negotiated, and the calls that wait for answers.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, OnceLock};

use mcp_adapters::mcp_wire::{Message, Method, Notice, Object, RequestId};
use mcp_adapters::{Loss, Revision, Translated};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::answer::encode;
use super::call::Waiting;
use super::handler::Boxed;
use crate::error::CallError;
use crate::options::Options;
use crate::peer::PeerInfo;
use crate::side::{MessageOut, Side};
use crate::transport::{Outgoing, Purpose, Sender, TransportError};

/// The sending half of whatever transport the session has.
pub trait AnySender: Send + Sync {
    fn send(&self, message: Outgoing) -> Boxed<'_, Result<(), TransportError>>;
    fn unanswered(&self, ids: &[RequestId]);
    fn negotiated(&self, revision: Revision);
    fn close(&self) -> Boxed<'_, ()>;
}

impl<T: Sender> AnySender for T {
    fn send(&self, message: Outgoing) -> Boxed<'_, Result<(), TransportError>> {
        Box::pin(Sender::send(self, message))
    }

    fn unanswered(&self, ids: &[RequestId]) {
        Sender::unanswered(self, ids);
    }

    fn negotiated(&self, revision: Revision) {
        Sender::negotiated(self, revision);
    }

    fn close(&self) -> Boxed<'_, ()> {
        Box::pin(Sender::close(self))
    }
}

/// Whether neither a revision nor the hub declares a method: its messages are the same for every peer.
pub fn is_custom(revision: Revision, method: &str) -> bool {
    revision.method(method).is_none() && Revision::HUB.method(method).is_none()
}

/// What the tasks of a session share.
pub struct Shared<S: Side> {
    pub sender: Box<dyn AnySender>,
    pub options: Options,
    /// What this side offers, as the hub has it.
    pub own_capabilities: Value,
    /// The revision that is spoken until one is negotiated.
    first: Revision,
    revision: OnceLock<Revision>,
    info: OnceLock<PeerInfo>,
    pub(super) waiting: Mutex<HashMap<i64, Waiting>>,
    pub(super) next_id: AtomicI64,
    /// For each call that the peer is still to be told of that it was cancelled.
    pub(super) cancelling: Arc<Semaphore>,
    /// Is done once the session has ended.
    pub ended: CancellationToken,
    /// Why the session has ended, if somebody knows.
    failure: OnceLock<CallError>,
    side: std::marker::PhantomData<fn() -> S>,
}

impl<S: Side> fmt::Debug for Shared<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("revision", &self.revision)
            .field("ended", &self.ended.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl<S: Side> Shared<S> {
    pub fn new(sender: Box<dyn AnySender>, options: Options, own_capabilities: Value, first: Revision) -> Self {
        let limits = &options.limits;
        let calls = limits.in_flight.saturating_add(limits.waiting);
        Self {
            cancelling: Arc::new(Semaphore::new(calls.min(Semaphore::MAX_PERMITS))),
            sender,
            options,
            own_capabilities,
            first,
            revision: OnceLock::new(),
            info: OnceLock::new(),
            waiting: Mutex::default(),
            next_id: AtomicI64::new(1),
            ended: CancellationToken::new(),
            failure: OnceLock::new(),
            side: std::marker::PhantomData,
        }
    }

    pub fn revision(&self) -> Option<Revision> {
        self.revision.get().copied()
    }

    /// The revision that is spoken: the negotiated one, or the first until then.
    pub fn spoken(&self) -> Revision {
        self.revision().unwrap_or(self.first)
    }

    pub fn info(&self) -> Option<&PeerInfo> {
        self.info.get()
    }

    /// Settles what was negotiated; `false` if that has been done before.
    pub fn negotiated(&self, revision: Revision, info: PeerInfo) -> bool {
        let is_first = self.info.set(info).is_ok() && self.revision.set(revision).is_ok();
        if is_first {
            tracing::debug!(%revision, "negotiated");
            self.sender.negotiated(revision);
        }
        is_first
    }

    /// The line of the negotiated revision's table for a method that one of the sides calls.
    pub fn method(&self, name: &str, peer_calls: bool) -> Option<&'static Method> {
        let method = self.spoken().method(name)?;
        let calls = S::peer_calls(method.direction);
        let both = method.direction == mcp_adapters::mcp_wire::Direction::Both;
        (both || calls == peer_calls).then_some(method)
    }

    /// Reports losses.
    pub fn report(&self, method: &str, losses: &[Loss]) {
        if losses.is_empty() {
            return;
        }
        for loss in losses {
            tracing::debug!(method, path = %loss.path, kind = %loss.kind, rule = loss.rule, "lost in translation");
        }
        if let Some(observer) = &self.options.losses {
            observer(method, losses);
        }
    }

    /// Sends JSON to the peer.
    pub async fn send(&self, json: Vec<u8>, purpose: Purpose) -> Result<(), TransportError> {
        tokio::select! {
            biased;
            sent = self.sender.send(Outgoing { json, purpose }) => sent,
            () = self.ended.cancelled() => Err(TransportError::Closed),
        }
    }

    /// Tells the peer something.
    pub async fn tell(&self, notification: S::NotificationOut, purpose: Purpose) -> Result<(), CallError> {
        let method = S::notification_method_out(&notification).to_owned();
        self.may_tell(&method)?;
        let json = self.encode(&method, Message::Notification(Notice { notification }))?;
        match json {
            Some(json) => self.send(json, purpose).await.map_err(|error| self.unsent(error)),
            None => Ok(()),
        }
    }

    /// Tells the peer something that no revision declares.
    pub async fn tell_custom(
        &self,
        method: &str,
        notification: impl Object,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        self.check_custom(method)?;
        let json = encode(&Notice { notification });
        Ok(self.send(json, purpose).await?)
    }

    /// What the protocol declares goes through its conversions and capability checks instead.
    pub(super) fn check_custom(&self, method: &str) -> Result<(), CallError> {
        if is_custom(self.spoken(), method) {
            return Ok(());
        }
        let why = format!("{method} is a method of the protocol, and not a custom one");
        Err(CallError::Unrepresentable(why))
    }

    /// A message in the peer's revision; `None` for a notification that it can't represent.
    pub(super) fn encode(&self, method: &str, message: MessageOut<S>) -> Result<Option<Vec<u8>>, CallError> {
        match S::encode(self.spoken(), message) {
            Translated::Message { message, losses } => {
                self.report(method, &losses);
                Ok(Some(message))
            }
            Translated::Refused(refused) => {
                let spoken = self.spoken();
                // A conversion over several revisions names the one where it stops, and the peer's is what matters here.
                let reason = match spoken.method(method) {
                    None => format!("revision {spoken} has no method {method}"),
                    Some(_) => refused.error.message,
                };
                Err(CallError::Unrepresentable(reason))
            }
            Translated::Dropped { losses, reason } => {
                tracing::debug!(method, %reason, "the peer's revision can't represent the notification");
                self.report(method, &losses);
                Ok(None)
            }
        }
    }

    /// Why a call of a session that has ended gives no result.
    pub fn closed(&self) -> CallError {
        self.failure.get().cloned().unwrap_or(CallError::Closed)
    }

    /// Why something can't be sent.
    pub fn unsent(&self, error: TransportError) -> CallError {
        match error {
            TransportError::Closed => self.closed(),
            error => error.into(),
        }
    }

    /// Settles why the session ends.
    pub fn failed(&self, error: TransportError) {
        // The first reason is the one that counts.
        let _ = self.failure.set(error.into());
    }

    /// Ends the session: every call that waits gets an error.
    pub fn end(&self) {
        self.ended.cancel();
        self.waiting().clear();
    }
}
