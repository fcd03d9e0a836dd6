//! The handlers of both sides, behind one trait.

use std::future::ready;

use mcp_adapters::handlers::{ClientHandler, ServerHandler};
use mcp_adapters::mcp_wire::{ErrorObject, RawJson};
use mcp_adapters::{Revision, hub};

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

/// Handles the requests and notifications of one side's peer: what a session calls, whatever the handler is made of.
///
/// A [`Router`](crate::Router) is one, and so is every [`ServerHandler`] and [`ClientHandler`].
pub trait Handler<S: Side>: Send + Sync + 'static {
    /// Handles a request. One that asks a client questions is handled again with the answers.
    fn handle_request<'a>(&'a self, request: S::Request, context: &'a Context<S>) -> Handling<'a, S>;

    /// Handles a notification. By default it is ignored.
    fn handle_notification<'a>(&'a self, notification: S::Notification, context: &'a Context<S>) -> BoxFuture<'a, ()> {
        let _ = (notification, context);
        Box::pin(ready(()))
    }

    /// Who gets the messages of a revision instead, as they are on the wire.
    #[doc(hidden)]
    fn relay(&self, revision: Revision) -> Option<&dyn Relay<S>> {
        let _ = revision;
        None
    }
}

/// The future of a request's result.
pub type Handling<'a, S> = BoxFuture<'a, Result<HandlerResult<<S as Side>::Result>, ErrorObject>>;

/// The impl for the handlers of one side.
macro_rules! handler {
    ($handler:ident of $side:ident: $request:ident, $notification:ident) => {
        impl<H: $handler<Context<$side>> + 'static> Handler<$side> for H {
            fn handle_request<'a>(
                &'a self,
                request: hub::$request,
                context: &'a Context<$side>,
            ) -> Handling<'a, $side> {
                match request {
                    hub::$request::Unknown(request) => Box::pin(async move {
                        let result = self.unknown_request(request, context).await;
                        result.map(HandlerResult::Custom)
                    }),
                    request => Box::pin(async move {
                        let result = $handler::handle_request(self, request, context).await;
                        result.map(HandlerResult::Declared)
                    }),
                }
            }

            fn handle_notification<'a>(
                &'a self,
                notification: hub::$notification,
                context: &'a Context<$side>,
            ) -> BoxFuture<'a, ()> {
                Box::pin($handler::handle_notification(self, notification, context))
            }
        }
    };
}

handler!(ServerHandler of ServerSide: ClientRequest, ClientNotification);
handler!(ClientHandler of ClientSide: InputRequest, ServerNotification);
