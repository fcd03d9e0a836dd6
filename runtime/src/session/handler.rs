//! Handlers of both sides as one thing that a session can hold.

use std::future::Future;
use std::pin::Pin;

use mcp_adapters::handlers::{ClientHandler, ServerHandler};
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson};

use crate::context::Context;
use crate::side::{ClientSide, ServerSide, Side};

/// A future on the heap.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a handler answers.
pub enum Answered<R> {
    /// The result of a method that the protocol declares.
    Declared(R),
    /// That of another.
    Custom(OpenJson),
}

/// Answers requests and hears notifications of one side's peer.
pub trait Handler<S: Side>: Send + Sync + 'static {
    /// Answers a request.
    fn answer<'a>(
        &'a self,
        request: S::Request,
        context: &'a Context<S>,
    ) -> Boxed<'a, Result<Answered<S::Result>, ErrorObject>>;

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
    ) -> Boxed<'a, Result<Answered<hub::ServerResult>, ErrorObject>> {
        match request {
            hub::ClientRequest::Unknown(request) => {
                Box::pin(async move { self.0.unknown_request(request, context).await.map(Answered::Custom) })
            }
            request => Box::pin(async move { self.0.answer_client(request, context).await.map(Answered::Declared) }),
        }
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
    ) -> Boxed<'a, Result<Answered<hub::ClientResult>, ErrorObject>> {
        match request {
            hub::ServerRequest::Unknown(request) => {
                Box::pin(async move { self.0.unknown_request(request, context).await.map(Answered::Custom) })
            }
            request => Box::pin(async move { self.0.answer_server(request, context).await.map(Answered::Declared) }),
        }
    }

    fn hear<'a>(&'a self, notification: hub::ServerNotification, context: &'a Context<ClientSide>) -> Boxed<'a, ()> {
        Box::pin(self.0.hear_server(notification, context))
    }
}
