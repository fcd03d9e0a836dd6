//! The context of a request or notification, for its handler.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{Number, RawObject, RequestId};
use mcp_adapters::{Loss, Revision, hub};
use tokio_util::sync::CancellationToken;

use super::info::PeerInfo;
use super::peer::Peer;
use crate::error::CallError;
use crate::message::Principal;
use crate::side::Side;

/// The context of a request or notification, for its handler. Clones belong to the same message.
#[derive(Debug)]
pub struct Context<S: Side> {
    pub(super) peer: Peer<S>,
    pub(super) cancelled: CancellationToken,
    pub(super) message: Arc<Envelope>,
}

/// What is known of a message besides its method and parameters. All contexts of the message share it.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    pub(super) id: Option<RequestId>,
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
            cancelled: self.cancelled.clone(),
            message: Arc::clone(&self.message),
        }
    }
}

impl<S: Side> Context<S> {
    /// The peer that sent the message. What is sent through this handle is related to the request.
    #[must_use]
    pub fn peer(&self) -> &Peer<S> {
        &self.peer
    }

    /// The id of the request; `None` for a notification.
    #[must_use]
    pub fn request_id(&self) -> Option<&RequestId> {
        self.message.id.as_ref()
    }

    /// The revision of the message.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.peer.revision()
    }

    /// The `_meta` of the request, as it came; `None` if it has none, and for a notification.
    ///
    /// Among its members may be `traceparent` and `tracestate`, the trace context of the caller.
    #[must_use]
    pub fn meta(&self) -> Option<&RawObject> {
        self.message.meta.as_ref()
    }

    /// What the peer said about itself.
    #[must_use]
    pub fn peer_info(&self) -> Option<&PeerInfo> {
        self.peer.info()
    }

    /// The losses of the message's conversion from the peer's revision.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.message.losses
    }

    /// The parameters of the request as the peer sent them, if their conversion from the peer's revision has lost something.
    ///
    /// A member that the hub lacks, such as the `task` of a call in revision 2025-11-25, can be read there.
    #[must_use]
    pub fn original_params(&self) -> Option<&RawObject> {
        self.message.original_params.as_ref()
    }

    /// What the transport adds to the message.
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

    /// On whose behalf the peer sent the message, if the transport knows: over HTTP, what
    /// `HttpServer::principal` determines.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.message.extensions.get()
    }

    /// Is cancelled when the peer cancels the request. The handler's future is dropped then, so this is for tasks that the
    /// handler has spawned.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Whether the peer asked for progress.
    #[doc(hidden)]
    pub fn wants_progress(&self) -> bool {
        self.message.token.is_some()
    }

    /// Sends a progress notification, if the peer asked for progress.
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
}

/// A number, if JSON can represent it.
fn number(value: f64) -> Option<Number> {
    value.is_finite().then(|| Number::from(value))
}
