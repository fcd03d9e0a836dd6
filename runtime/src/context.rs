//! What a handler knows about the call that it handles.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{Number, RequestId};
use mcp_adapters::{Loss, Revision, hub};
use tokio_util::sync::CancellationToken;

use crate::error::CallError;
use crate::peer::{Peer, PeerInfo};
use crate::side::Side;

/// What a handler knows about the call that it handles. Clones are about the same call.
#[derive(Debug)]
pub struct Context<S: Side> {
    pub(crate) peer: Peer<S>,
    pub(crate) id: Option<RequestId>,
    pub(crate) token: Option<hub::ProgressToken>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) extensions: Arc<Extensions>,
    pub(crate) losses: Vec<Loss>,
}

impl<S: Side> Clone for Context<S> {
    fn clone(&self) -> Self {
        Self {
            peer: self.peer.clone(),
            id: self.id.clone(),
            token: self.token.clone(),
            cancelled: self.cancelled.clone(),
            extensions: Arc::clone(&self.extensions),
            losses: self.losses.clone(),
        }
    }
}

impl<S: Side> Context<S> {
    /// The peer that called. What is sent to it through this handle belongs to the call.
    #[must_use]
    pub fn peer(&self) -> &Peer<S> {
        &self.peer
    }

    /// The id of the request; `None` for a notification.
    #[must_use]
    pub fn request_id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// The revision that was negotiated.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.peer.revision()
    }

    /// What the peer said about itself.
    #[must_use]
    pub fn peer_info(&self) -> Option<&PeerInfo> {
        self.peer.info()
    }

    /// What the message lost on its way from the peer's revision.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// What the transport knows about the message.
    ///
    /// Over HTTP, the server finds there the [`Parts`](http::request::Parts) of the request that carried the message: its
    /// headers, and in the extensions of its own what the layers around the router have left, such as who the caller is.
    /// Other transports leave nothing.
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
        &self.extensions
    }

    /// Is done once the peer has cancelled the request. The handler's future is dropped then; this is for what it has
    /// set going elsewhere.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Tells the peer how far the call has come, if it wants to know.
    ///
    /// # Errors
    /// When it can't be told.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) -> Result<(), CallError> {
        let Some(token) = self.token.clone() else {
            return Ok(());
        };
        let Some(progress) = number(progress) else {
            return Ok(());
        };
        let mut params = hub::ProgressNotificationParams::new(progress, token);
        params.total = total.and_then(number);
        params.message = message;
        self.peer.tell(S::progress(params)).await
    }
}

/// A number, unless JSON can't have it.
fn number(value: f64) -> Option<Number> {
    value.is_finite().then(|| Number::from(value))
}
