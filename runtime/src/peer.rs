//! The peer of a session, as one calls it.

use std::sync::Arc;

use futures_core::Stream;
use mcp_adapters::handlers::{CallClient, CallServer, Paginated};
use mcp_adapters::mcp_wire::{Notification, OpenJson, Request, RequestId, UnknownMethod};
use mcp_adapters::{Revision, hub};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::error::CallError;
use crate::pages::Items;
use crate::session::shared::Shared;
use crate::side::{ClientSide, ServerSide, Side};
use crate::transport::Purpose;

/// The peer of a session. Clones are the same peer.
///
/// Dropping the future of a call cancels the call, and the peer is told.
#[derive(Debug)]
pub struct Peer<S: Side> {
    pub(crate) shared: Arc<Shared<S>>,
    pub(crate) during: Option<RequestId>,
    progress: Option<mpsc::Sender<Progress>>,
}

impl<S: Side> Clone for Peer<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            during: self.during.clone(),
            progress: self.progress.clone(),
        }
    }
}

/// How far the peer has come with a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How far, in a unit of the peer's own.
    pub progress: f64,
    /// Where the end is, if the peer knows.
    pub total: Option<f64>,
    /// What the peer says about it.
    pub message: Option<String>,
}

/// What a peer says about itself when the session begins.
#[derive(Debug, Clone)]
pub struct PeerInfo {
    /// Its name and version.
    pub implementation: hub::Implementation,
    /// What it offers, as the hub has it.
    pub capabilities: Value,
    /// How a server wants to be used.
    pub instructions: Option<String>,
}

impl<S: Side> Peer<S> {
    pub(crate) fn new(shared: Arc<Shared<S>>, during: Option<RequestId>) -> Self {
        Self {
            shared,
            during,
            progress: None,
        }
    }

    /// The same peer; progress of the calls that are made through it goes to `progress`. What doesn't fit into the
    /// channel is dropped, because a later message says more.
    #[must_use]
    pub fn with_progress(mut self, progress: mpsc::Sender<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The revision that was negotiated; `None` until it was.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.shared.revision()
    }

    /// What the peer said about itself; `None` until it did.
    #[must_use]
    pub fn info(&self) -> Option<&PeerInfo> {
        self.shared.info()
    }

    /// Everything that the peer lists, such as `peer.list::<hub::Tool>()`. A page is asked for when what came before has
    /// been read; the stream ends with the list or its first error.
    ///
    /// A peer whose list comes back to where it was, or has more pages than [`Limits::pages`](crate::Limits::pages),
    /// gives [`CallError::InvalidResult`].
    pub fn list<T>(&self) -> impl Stream<Item = Result<T, CallError>> + Send + Unpin + use<S, T>
    where
        T: Paginated<S::RequestOut, S::ResultIn> + Send + 'static,
    {
        Items::new(self.clone())
    }

    /// Calls a method of the peer.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn call(&self, request: S::RequestOut) -> Result<S::ResultIn, CallError> {
        self.shared.call(request, self.purpose(), self.progress.clone()).await
    }

    /// Tells the peer something.
    ///
    /// # Errors
    /// When it can't be told.
    pub async fn tell(&self, notification: S::NotificationOut) -> Result<(), CallError> {
        self.shared.tell(notification, self.purpose()).await
    }

    /// Calls a method that the protocol doesn't declare, by a type of yours. It is the same for peers of every revision.
    ///
    /// # Errors
    /// When there is no result, or when the protocol declares the method.
    pub async fn call_custom<R: Request>(&self, request: R) -> Result<R::Result, CallError> {
        let result = self
            .shared
            .call_custom(R::METHOD, request, self.purpose(), self.progress.clone());
        let result = result.await?.decode_as();
        result.map_err(|error| CallError::InvalidResult(error.to_string()))
    }

    /// Calls a method that the protocol doesn't declare.
    ///
    /// # Errors
    /// When there is no result, or when the protocol declares the method.
    pub async fn call_unknown(&self, request: UnknownMethod) -> Result<OpenJson, CallError> {
        let method = request.method.clone();
        let result = self
            .shared
            .call_custom(&method, request, self.purpose(), self.progress.clone());
        result.await
    }

    /// Tells the peer something that the protocol doesn't declare, by a type of yours.
    ///
    /// # Errors
    /// When it can't be told, or when the protocol declares the method.
    pub async fn tell_custom<N: Notification>(&self, notification: N) -> Result<(), CallError> {
        let told = self.shared.tell_custom(N::METHOD, notification, self.purpose());
        told.await
    }

    /// Tells the peer something that the protocol doesn't declare.
    ///
    /// # Errors
    /// When it can't be told, or when the protocol declares the method.
    pub async fn tell_unknown(&self, notification: UnknownMethod) -> Result<(), CallError> {
        let method = notification.method.clone();
        self.shared.tell_custom(&method, notification, self.purpose()).await
    }

    fn purpose(&self) -> Purpose {
        match &self.during {
            Some(id) => Purpose::During(id.clone()),
            None => Purpose::Own,
        }
    }
}

impl CallClient for Peer<ServerSide> {
    type Error = CallError;

    async fn request(&self, request: hub::ServerRequest) -> Result<hub::ClientResult, CallError> {
        self.call(request).await
    }

    async fn notify(&self, notification: hub::ServerNotification) -> Result<(), CallError> {
        self.tell(notification).await
    }
}

impl CallServer for Peer<ClientSide> {
    type Error = CallError;

    async fn request(&self, request: hub::ClientRequest) -> Result<hub::ServerResult, CallError> {
        self.call(request).await
    }

    async fn notify(&self, notification: hub::ClientNotification) -> Result<(), CallError> {
        self.tell(notification).await
    }
}
