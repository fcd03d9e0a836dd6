//! The handlers of both sides behind one trait.

use mcp_adapters::handlers::{ClientHandler, ServerHandler};
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson};

use super::context::Context;
use super::relay::Relay;
use crate::future::BoxFuture;
use crate::side::{ClientSide, ServerSide, Side};

/// The result of a handler.
#[derive(Debug, Clone)]
pub enum HandlerResult<R> {
    /// The result of a method that the protocol declares.
    Declared(R),
    /// The result of a custom method.
    Custom(RawJson),
}

/// Handles the requests and notifications of one side's peer.
pub trait Handler<S: Side>: Send + Sync + 'static {
    /// Handles a request.
    fn handle_request<'a>(
        &'a self,
        request: S::Request,
        context: &'a Context<S>,
    ) -> BoxFuture<'a, Result<HandlerResult<S::Result>, ErrorObject>>;

    /// Handles a notification.
    fn handle_notification<'a>(&'a self, notification: S::Notification, context: &'a Context<S>) -> BoxFuture<'a, ()>;

    /// Who gets the messages of a revision instead, as they are on the wire.
    fn relay(&self, revision: mcp_adapters::Revision) -> Option<&dyn Relay<S>> {
        let _ = revision;
        None
    }
}

/// The handler of a server.
pub struct ForServer<H>(pub H);

/// The handler of a client.
pub struct ForClient<H>(pub H);

impl<H: ServerHandler<Context<ServerSide>> + 'static> Handler<ServerSide> for ForServer<H> {
    fn handle_request<'a>(
        &'a self,
        request: hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> BoxFuture<'a, Result<HandlerResult<hub::ServerResult>, ErrorObject>> {
        match request {
            hub::ClientRequest::Unknown(request) => Box::pin(async move {
                self.0
                    .unknown_request(request, context)
                    .await
                    .map(HandlerResult::Custom)
            }),
            request => Box::pin(async move { self.answer(request, context).await.map(HandlerResult::Declared) }),
        }
    }

    fn handle_notification<'a>(
        &'a self,
        notification: hub::ClientNotification,
        context: &'a Context<ServerSide>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(self.0.handle_notification(notification, context))
    }
}

impl<H: ClientHandler<Context<ClientSide>> + 'static> Handler<ClientSide> for ForClient<H> {
    fn handle_request<'a>(
        &'a self,
        request: hub::InputRequest,
        context: &'a Context<ClientSide>,
    ) -> BoxFuture<'a, Result<HandlerResult<hub::InputResponse>, ErrorObject>> {
        match request {
            hub::InputRequest::Unknown(request) => Box::pin(async move {
                self.0
                    .unknown_request(request, context)
                    .await
                    .map(HandlerResult::Custom)
            }),
            request => Box::pin(async move {
                self.0
                    .handle_request(request, context)
                    .await
                    .map(HandlerResult::Declared)
            }),
        }
    }

    fn handle_notification<'a>(
        &'a self,
        notification: hub::ServerNotification,
        context: &'a Context<ClientSide>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(self.0.handle_notification(notification, context))
    }
}
