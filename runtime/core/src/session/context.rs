//! The context of a request or notification, for its handler, and the peer that sent it.

use std::pin::pin;
use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{JsonType, Notification, Number, RawJson, RawObject, Request, RequestId, UnknownMethod};
use mcp_adapters::{Loss, PeerTypes, Revision, hub};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::negotiated::{Negotiated, PeerInfo, Progress};
use super::state::SessionState;
use crate::era::Era;
use crate::error::CallError;
use crate::message::{Principal, Purpose};
use crate::rounds::Round;
use crate::side::Side;

/// The context of a request or notification, for its handler. Clones belong to the same message.
#[derive(Debug)]
pub struct Context<S: Side> {
    pub(super) peer: Peer<S>,
    pub(super) message: Arc<Envelope>,
}

/// The data of a message other than its method and parameters. All contexts of the message share it.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    pub(super) cancelled: CancellationToken,
    pub(super) token: Option<hub::ProgressToken>,
    pub(super) meta: Option<RawObject>,
    pub(super) extensions: Arc<Extensions>,
    pub(super) losses: Vec<Loss>,
    pub(super) original_params: Option<RawObject>,
}

impl<S: Side> Clone for Context<S> {
    fn clone(&self) -> Self {
        Self {
            peer: self.peer.clone(),
            message: Arc::clone(&self.message),
        }
    }
}

impl<S: Side> Context<S> {
    /// Returns the peer that sent the message. Messages sent through this handle are related to the request.
    #[must_use]
    pub fn peer(&self) -> &Peer<S> {
        &self.peer
    }

    /// Returns the id of the request; `None` for a notification.
    #[must_use]
    pub fn request_id(&self) -> Option<&RequestId> {
        self.peer.request.as_ref()
    }

    /// Returns the revision of the message.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.peer.revision()
    }

    /// Returns the `_meta` of the request as the peer sent it; `None` if it has none, and for a notification.
    ///
    /// Its members can include `traceparent` and `tracestate`, the trace context of the caller.
    #[must_use]
    pub fn meta(&self) -> Option<&RawObject> {
        self.message.meta.as_ref()
    }

    /// Returns the peer's name, version and capabilities.
    #[must_use]
    pub fn peer_info(&self) -> Option<&PeerInfo> {
        self.peer.info()
    }

    /// Returns the losses of the message's conversion from the peer's revision.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.message.losses
    }

    /// Returns the parameters of the request as the peer sent them, if their conversion from the peer's revision had
    /// losses; for a request of a server, if there was a conversion.
    ///
    /// Use it to read a member that the hub lacks, such as the `task` of a call in revision 2025-11-25, or the
    /// `elicitationId` of a page that a server of that revision asks the user to open.
    #[must_use]
    pub fn original_params(&self) -> Option<&RawObject> {
        self.message.original_params.as_ref()
    }

    /// Returns the values that the transport added to the message.
    ///
    /// The HTTP server adds the [`Parts`](http::request::Parts) of the HTTP request: its headers, and its extensions, in
    /// which middleware leaves values such as the authenticated user. Other transports add nothing.
    ///
    /// ```
    /// use mcp_runtime::http::request::Parts;
    /// use mcp_runtime::{Context, ServerSide};
    ///
    /// fn user_agent(context: &Context<ServerSide>) -> Option<&str> {
    ///     context.extensions().get::<Parts>()?.headers.get("user-agent")?.to_str().ok()
    /// }
    /// ```
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.message.extensions
    }

    /// Returns the principal on whose behalf the peer sent the message, if the transport knows it: over HTTP, the one
    /// that `HttpServer::principal` determines.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.message.extensions.get()
    }

    /// Returns a token that is cancelled when the peer cancels the request. The handler's future is dropped then, so
    /// the token is for tasks that the handler has spawned.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        &self.message.cancelled
    }

    /// Whether the peer requested progress.
    #[doc(hidden)]
    pub fn wants_progress(&self) -> bool {
        self.message.token.is_some()
    }

    /// Sends a progress notification, if the peer requested progress.
    ///
    /// # Errors
    /// When it can't be sent.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) -> Result<(), CallError> {
        let Some(token) = self.message.token.clone() else {
            return Ok(());
        };
        let Some(progress) = number(progress) else {
            return Ok(());
        };
        let mut params = hub::ProgressNotificationParams::new(progress, token);
        params.total = total.and_then(number);
        params.message = message;
        self.peer.notify_progress(params).await
    }

    /// Waits for a call that passes the message on, and passes the progress of the call back.
    #[doc(hidden)]
    pub async fn with_progress_of<T>(
        &self,
        call: impl Future<Output = T>,
        progress: &mut mpsc::Receiver<Progress>,
    ) -> T {
        let pass_on = async |update: Progress| {
            if let Err(error) = self.progress(update.progress, update.total, update.message).await {
                tracing::debug!(%error, "progress wasn't passed on");
            }
        };
        let mut call = pin!(call);
        let output = loop {
            tokio::select! {
                biased;
                Some(update) = progress.recv() => pass_on(update).await,
                output = &mut call => break output,
            }
        };
        while let Ok(update) = progress.try_recv() {
            pass_on(update).await;
        }
        output
    }
}

/// Converts a number, if JSON can represent it.
fn number(value: f64) -> Option<Number> {
    value.is_finite().then(|| Number::from(value))
}

/// A handle to the peer of a session. Clones refer to the same peer.
///
/// Dropping the future of a call cancels the call, and notifies the peer.
#[derive(Debug)]
pub struct Peer<S: Side> {
    pub(super) state: Arc<SessionState<S>>,
    /// The request that is being handled, if the handle belongs to one.
    request: Option<RequestId>,
    /// The terms negotiated for that request. If `None`, those of the session apply.
    negotiated: Option<Arc<Negotiated>>,
    /// The run of its handler, if that can request input from the client.
    pub(super) round: Option<Arc<Round>>,
    /// The name of input requests made through this handle.
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

    /// Returns a handle to the peer that sent a message, with the terms negotiated for it.
    #[doc(hidden)]
    pub fn of_message(state: Arc<SessionState<S>>, request: Option<RequestId>, negotiated: Arc<Negotiated>) -> Self {
        Self {
            request,
            negotiated: Some(negotiated),
            ..Self::new(state)
        }
    }

    /// Returns the state of the session.
    #[doc(hidden)]
    pub fn state(&self) -> &Arc<SessionState<S>> {
        &self.state
    }

    #[doc(hidden)]
    pub fn negotiated(&self) -> &Arc<Negotiated> {
        self.negotiated.as_ref().unwrap_or_else(|| self.state.negotiated())
    }

    /// Returns a handle to the same peer that sends the progress of its calls to `progress`. Progress that doesn't fit
    /// into the channel is dropped, because a later message supersedes it.
    #[must_use]
    pub fn with_progress(mut self, progress: mpsc::Sender<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Returns the revision of the request, if the handle belongs to one, or else of the session; `None` before the
    /// handshake.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        let of_request = self.negotiated.as_ref().map(|negotiated| negotiated.revision);
        of_request.or_else(|| self.state.revision())
    }

    /// Returns the era of that revision: with a handshake, or stateless.
    #[must_use]
    pub fn era(&self) -> Option<Era> {
        self.revision().map(Era::of)
    }

    /// Returns the peer's name, version and capabilities, from the request or the handshake; `None` before the
    /// handshake.
    #[must_use]
    pub fn info(&self) -> Option<&PeerInfo> {
        self.negotiated().info.as_ref()
    }

    /// Calls a method of the peer once. A result that requires input is returned unchanged; the methods of
    /// [`CallServer`] answer it and repeat the call. A result whose kind the hub doesn't declare, such as a task, is
    /// returned as [`ServerResult::Unknown`](hub::ServerResult::Unknown): JSON of the peer's revision. The methods of
    /// [`CallServer`] refuse it.
    ///
    /// [`CallServer`]: crate::CallServer
    ///
    /// # Errors
    /// When the call fails.
    pub async fn call(&self, request: S::RequestOut) -> Result<S::ResultIn, CallError> {
        self.call_as(None, request).await
    }

    /// Calls with an id that was reserved for it.
    #[doc(hidden)]
    pub async fn call_as(&self, id: Option<i64>, request: S::RequestOut) -> Result<S::ResultIn, CallError> {
        let (purpose, progress) = (self.purpose(), self.progress.clone());
        self.state
            .call(self.negotiated(), (id, request), purpose, progress)
            .await
    }

    /// Sends a notification. A router sends a change of a list or resource to every client that it serves and that has
    /// subscribed to it; any other server sends it only to the client of this session, if that has subscribed.
    ///
    /// # Errors
    /// When it can't be sent, or when a change reaches nobody ([`CallError::NotListening`]).
    pub async fn notify(&self, notification: S::NotificationOut) -> Result<(), CallError> {
        self.state.notify(self.negotiated(), notification, self.purpose()).await
    }

    /// Calls a method that the protocol doesn't declare, with a request type of your own. Its messages are the same in
    /// every revision.
    ///
    /// # Errors
    /// When the call fails, or when the protocol declares the method.
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
    /// When the parameters aren't an object ([`CallError::InvalidParams`]), when the call fails, when the result
    /// isn't of the type, or when the protocol declares the method.
    pub async fn call_method<R: DeserializeOwned>(&self, method: &str, params: impl Serialize) -> Result<R, CallError> {
        let result = self.call_unknown(message(method, &params)?).await?;
        serde_json::from_str(result.text()).map_err(|error| CallError::InvalidResult(error.to_string()))
    }

    /// Calls a method that the protocol doesn't declare.
    ///
    /// # Errors
    /// When the parameters aren't an object ([`CallError::InvalidParams`]), when the call fails, or when the protocol
    /// declares the method.
    pub async fn call_unknown(&self, request: UnknownMethod) -> Result<RawJson, CallError> {
        check_params(&request)?;
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

    /// Sends a notification that the protocol doesn't declare, with a type of your own.
    ///
    /// # Errors
    /// When it can't be sent, or when the protocol declares the method.
    pub async fn notify_custom<N: Notification>(&self, notification: N) -> Result<(), CallError> {
        let sent = self.state.notify_custom(N::METHOD, notification, self.purpose());
        sent.await
    }

    /// Sends a notification that the protocol doesn't declare, with parameters that serialize to an object, or `()` for none.
    ///
    /// ```no_run
    /// # async fn example(peer: mcp_runtime::Peer<mcp_runtime::ClientSide>) -> Result<(), mcp_runtime::CallError> {
    /// peer.notify_method("notifications/x/visited", serde_json::json!({"page": "/"})).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the parameters aren't an object ([`CallError::InvalidParams`]), when it can't be sent, or when the protocol declares the
    /// method.
    pub async fn notify_method(&self, method: &str, params: impl Serialize) -> Result<(), CallError> {
        self.notify_unknown(message(method, &params)?).await
    }

    /// Sends a notification that the protocol doesn't declare.
    ///
    /// # Errors
    /// When the parameters aren't an object ([`CallError::InvalidParams`]), when it can't be sent, or when the protocol declares the
    /// method.
    pub async fn notify_unknown(&self, notification: UnknownMethod) -> Result<(), CallError> {
        check_params(&notification)?;
        let method = notification.method.clone();
        self.state.notify_custom(&method, notification, self.purpose()).await
    }

    /// Sends a progress notification.
    pub(super) async fn notify_progress(&self, params: hub::ProgressNotificationParams) -> Result<(), CallError> {
        if let Some(notification) = S::progress(params.clone()) {
            return self.notify(notification).await;
        }
        // In the revisions in which this side can send it, it has the same members.
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

/// Creates a message with parameters that serialize to an object.
fn message(method: &str, params: &impl Serialize) -> Result<UnknownMethod, CallError> {
    let mut message = UnknownMethod::new(method);
    message.params = object(params)?;
    Ok(message)
}

/// Serializes a value to an object; `None` for `null`.
pub fn object(value: &impl Serialize) -> Result<Option<RawObject>, CallError> {
    let json = RawJson::from_serialize(value).map_err(|error| CallError::InvalidParams(error.to_string()))?;
    if json.text() == "null" {
        return Ok(None);
    }
    let object = json.into_object().map(Some);
    object.map_err(|error| CallError::InvalidParams(error.to_string()))
}

/// Refuses parameters that aren't an object, because the peer would refuse a request with them and ignore a notification.
fn check_params(message: &UnknownMethod) -> Result<(), CallError> {
    match &message.params {
        Some(params) if params.json_type() != JsonType::Object => {
            let reason = format!("the parameters of {} aren't an object", message.method);
            Err(CallError::InvalidParams(reason))
        }
        _ => Ok(()),
    }
}
