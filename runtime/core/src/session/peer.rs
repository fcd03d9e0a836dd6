//! The handle by which one calls the peer of a session.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{Notification, RawJson, Request, RequestId, UnknownMethod};
use mcp_adapters::{PeerTypes, Revision, hub};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::info::{PeerInfo, Progress};
use super::negotiated::Negotiated;
use super::state::SessionState;
use crate::client::object;
use crate::era::Era;
use crate::error::CallError;
use crate::message::Purpose;
use crate::rounds::Round;
use crate::side::Side;

/// The peer of a session. Clones are the same peer.
///
/// Dropping the future of a call cancels the call, and notifies the peer.
#[derive(Debug)]
pub struct Peer<S: Side> {
    pub(super) state: Arc<SessionState<S>>,
    /// The request that is being handled, if the handle belongs to one.
    request: Option<RequestId>,
    /// What holds for that request. Without it, what was negotiated for the session does.
    negotiated: Option<Arc<Negotiated>>,
    /// The run of its handler, if that may ask the client something.
    pub(super) round: Option<Arc<Round>>,
    /// The name of what is asked through this handle.
    pub(super) name: Option<String>,
    progress: Option<mpsc::Sender<Progress>>,
}

impl<S: Side> Clone for Peer<S> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            request: self.request.clone(),
            negotiated: self.negotiated.clone(),
            round: self.round.clone(),
            name: self.name.clone(),
            progress: self.progress.clone(),
        }
    }
}

impl<S: Side> Peer<S> {
    #[doc(hidden)]
    pub fn new(state: Arc<SessionState<S>>) -> Self {
        Self {
            state,
            request: None,
            negotiated: None,
            round: None,
            name: None,
            progress: None,
        }
    }

    /// The peer that sent a message for which this was negotiated.
    #[doc(hidden)]
    pub fn of_message(state: Arc<SessionState<S>>, request: Option<RequestId>, negotiated: Arc<Negotiated>) -> Self {
        Self {
            request,
            negotiated: Some(negotiated),
            ..Self::new(state)
        }
    }

    /// The session.
    #[doc(hidden)]
    pub fn state(&self) -> &Arc<SessionState<S>> {
        &self.state
    }

    #[doc(hidden)]
    pub fn negotiated(&self) -> &Arc<Negotiated> {
        self.negotiated.as_ref().unwrap_or_else(|| self.state.negotiated())
    }

    /// The same peer. The progress of calls through this handle goes to `progress`. Progress that doesn't fit into the
    /// channel is dropped, because a later message says more.
    #[must_use]
    pub fn with_progress(mut self, progress: mpsc::Sender<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The revision of the request, if the handle belongs to one, or else of the session; `None` before the handshake.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        let of_request = self.negotiated.as_ref().map(|negotiated| negotiated.revision);
        of_request.or_else(|| self.state.revision())
    }

    /// The era of that revision: whether the peer has a handshake.
    #[must_use]
    pub fn era(&self) -> Option<Era> {
        self.revision().map(Era::of)
    }

    /// What the peer said about itself, with the request or in the handshake; `None` before.
    #[must_use]
    pub fn info(&self) -> Option<&PeerInfo> {
        self.negotiated().info.as_ref()
    }

    /// Calls a method of the peer, once. A result that asks for input is returned as it is; the methods of [`CallServer`] answer
    /// it, and repeat the call. A result whose kind the hub doesn't declare, such as a task, is
    /// [`ServerResult::Unknown`](hub::ServerResult::Unknown): JSON of the peer's revision. The methods of [`CallServer`] refuse it.
    ///
    /// [`CallServer`]: crate::CallServer
    ///
    /// # Errors
    /// When there is no result.
    pub async fn call(&self, request: S::RequestOut) -> Result<S::ResultIn, CallError> {
        self.state
            .call(self.negotiated(), request, self.purpose(), self.progress.clone())
            .await
    }

    /// Sends a notification. A change of a list or resource is told by a router to every client that it serves and that listens
    /// to it; any other server notifies the client of this session, if it listens.
    ///
    /// # Errors
    /// When it can't be sent, or when a change reaches nobody ([`CallError::NotListening`]).
    pub async fn notify(&self, notification: S::NotificationOut) -> Result<(), CallError> {
        self.state.notify(self.negotiated(), notification, self.purpose()).await
    }

    /// Calls a method that the protocol doesn't declare, by a type of yours. Its messages are the same in every revision.
    ///
    /// # Errors
    /// When there is no result, or when the protocol declares the method.
    pub async fn call_custom<R: Request>(&self, request: R) -> Result<R::Result, CallError> {
        let result = self.state.call_custom(
            self.negotiated(),
            R::METHOD,
            request,
            self.purpose(),
            self.progress.clone(),
        );
        let result = result.await?.decode_as();
        result.map_err(|error| CallError::InvalidResult(error.to_string()))
    }

    /// Calls a method that the protocol doesn't declare: with parameters that serialize to an object, or `()` for none, and a result
    /// of any type that deserializes.
    ///
    /// ```no_run
    /// # async fn example(peer: mcp_runtime::Peer<mcp_runtime::ClientSide>) -> Result<(), mcp_runtime::CallError> {
    /// let stats: serde_json::Value = peer.call_method("x/stats", serde_json::json!({"days": 7})).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the parameters aren't an object ([`CallError::Unrepresentable`]), when there is no result of the type, or when the protocol
    /// declares the method.
    pub async fn call_method<R: DeserializeOwned>(&self, method: &str, params: impl Serialize) -> Result<R, CallError> {
        let mut request = UnknownMethod::new(method);
        request.params = object(&params)?;
        let result = self.call_unknown(request).await?;
        serde_json::from_str(result.text()).map_err(|error| CallError::InvalidResult(error.to_string()))
    }

    /// Calls a method that the protocol doesn't declare.
    ///
    /// # Errors
    /// When there is no result, or when the protocol declares the method.
    pub async fn call_unknown(&self, request: UnknownMethod) -> Result<RawJson, CallError> {
        let method = request.method.clone();
        let result = self.state.call_custom(
            self.negotiated(),
            &method,
            request,
            self.purpose(),
            self.progress.clone(),
        );
        result.await
    }

    /// Sends a notification that the protocol doesn't declare, by a type of yours.
    ///
    /// # Errors
    /// When it can't be sent, or when the protocol declares the method.
    pub async fn notify_custom<N: Notification>(&self, notification: N) -> Result<(), CallError> {
        let sent = self.state.notify_custom(N::METHOD, notification, self.purpose());
        sent.await
    }

    /// Sends a notification that the protocol doesn't declare.
    ///
    /// # Errors
    /// When it can't be sent, or when the protocol declares the method.
    pub async fn notify_unknown(&self, notification: UnknownMethod) -> Result<(), CallError> {
        let method = notification.method.clone();
        self.state.notify_custom(&method, notification, self.purpose()).await
    }

    /// Sends a notification of progress.
    pub(super) async fn notify_progress(&self, params: hub::ProgressNotificationParams) -> Result<(), CallError> {
        if let Some(notification) = S::progress(params.clone()) {
            return self.notify(notification).await;
        }
        // Revisions in which this side may send it have the same members.
        let lifecycle = self.negotiated().revision.lifecycle();
        let (Some(method), Ok(params)) = (lifecycle.progress, RawJson::from_encode(&params)) else {
            return Ok(());
        };
        let notification = UnknownMethod::new(method).with_params(params);
        self.state.notify_json(notification, self.purpose()).await
    }

    #[doc(hidden)]
    pub fn purpose(&self) -> Purpose {
        match &self.request {
            Some(id) => Purpose::RelatedTo(id.clone()),
            None => Purpose::Unsolicited,
        }
    }
}
