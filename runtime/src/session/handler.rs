//! Handlers of both sides as one thing that a session can hold.

use std::future::Future;
use std::pin::Pin;

use mcp_adapters::handlers::{ClientHandler, ServerHandler};
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use crate::context::Context;
use crate::side::{ClientSide, ServerSide, Side};

/// A future on the heap.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers requests and hears notifications of one side's peer.
pub trait Handler<S: Side>: Send + Sync + 'static {
    /// Answers a request.
    fn answer<'a>(&'a self, request: S::Request, context: &'a Context<S>) -> Boxed<'a, Result<S::Result, ErrorObject>>;

    /// Hears a notification.
    fn hear<'a>(&'a self, notification: S::Notification, context: &'a Context<S>) -> Boxed<'a, ()>;
}

/// A server's handler.
pub struct OfServer<H>(pub H);

/// A client's handler.
pub struct OfClient<H>(pub H);

impl<H: ServerHandler<Context<ServerSide>> + 'static> Handler<ServerSide> for OfServer<H> {
    fn answer<'a>(
        &'a self,
        request: hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> Boxed<'a, Result<hub::ServerResult, ErrorObject>> {
        Box::pin(self.0.answer_client(request, context))
    }

    fn hear<'a>(&'a self, notification: hub::ClientNotification, context: &'a Context<ServerSide>) -> Boxed<'a, ()> {
        Box::pin(self.0.hear_client(notification, context))
    }
}

impl<H: ClientHandler<Context<ClientSide>> + 'static> Handler<ClientSide> for OfClient<H> {
    fn answer<'a>(
        &'a self,
        request: hub::ServerRequest,
        context: &'a Context<ClientSide>,
    ) -> Boxed<'a, Result<hub::ClientResult, ErrorObject>> {
        Box::pin(self.0.answer_server(request, context))
    }

    fn hear<'a>(&'a self, notification: hub::ServerNotification, context: &'a Context<ClientSide>) -> Boxed<'a, ()> {
        Box::pin(self.0.hear_server(notification, context))
    }
}
