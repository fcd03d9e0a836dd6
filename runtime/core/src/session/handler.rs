//! The handlers of both sides, and the middleware around them.

use std::fmt;
use std::future::{Future, ready};
use std::sync::{Arc, Weak};

use mcp_adapters::handlers::{ClientHandler, ServerHandler};
use mcp_adapters::mcp_wire::{ErrorObject, Extra, RawJson};
use mcp_adapters::{Revision, hub};
use mcp_runtime_util::BoxFuture;

use super::context::Context;
use super::extension_events::ExtensionEvents;
use super::ordered_queue::Ticket;
use crate::side::{ClientSide, ServerSide, Side};

/// The result of a handler.
#[derive(Debug, Clone)]
pub enum HandlerResult<R> {
    /// The result of a method that the protocol declares.
    Declared(R),
    /// The result of a custom method.
    Custom(RawJson),
}

/// Handles the requests and notifications of the peer of one side. A session calls its handler through this trait.
///
/// The router of `mcp-runtime-router` implements it, and so does every [`ServerHandler`] and [`ClientHandler`].
pub trait Handler<S: Side>: Send + Sync + 'static {
    /// Handles a request. If it requires input from the client, it is handled again with the input responses.
    fn handle_request<'a>(&'a self, request: S::Request, context: &'a Context<S>) -> Handling<'a, S>;

    /// Handles a notification. By default it is ignored.
    fn handle_notification<'a>(&'a self, notification: S::Notification, context: &'a Context<S>) -> BoxFuture<'a, ()> {
        let _ = (notification, context);
        Box::pin(ready(()))
    }

    /// Whether input can be requested from the client while a request is handled, or by its result.
    #[doc(hidden)]
    fn needs_round(&self, request: &S::Request) -> bool {
        let _ = request;
        true
    }

    /// Whether the result of a request can require input from the client. If not, the request isn't kept to be handled
    /// again.
    #[doc(hidden)]
    fn may_request_input(&self, request: &S::Request) -> bool {
        let _ = request;
        true
    }

    /// Returns the additions of extensions to a subscription, for the members that a client has added to its filter.
    #[doc(hidden)]
    fn extend<'a>(&'a self, filter: Extra, context: &'a Context<S>) -> Extending<'a> {
        let _ = (filter, context);
        Box::pin(ready(Ok(ExtensionEvents::default())))
    }

    /// Returns the relay that gets the messages of a revision instead of this handler, as they are on the wire.
    #[doc(hidden)]
    fn relay(&self, revision: Revision) -> Option<&dyn Relay<S>> {
        let _ = revision;
        None
    }
}

/// The future of a request's result.
pub type Handling<'a, S> = BoxFuture<'a, Result<HandlerResult<<S as Side>::Result>, ErrorObject>>;

/// The future of the additions of extensions to a subscription.
pub type Extending<'a> = BoxFuture<'a, Result<ExtensionEvents, ErrorObject>>;

/// A request or notification of the peer as it is on the wire.
#[derive(Debug)]
pub struct RawMessage {
    /// Its method, as named in the peer's revision.
    pub method: String,
    /// The whole message.
    pub json: Vec<u8>,
}

/// The response to a request that was passed on, and its position among the messages to the peer.
pub struct RawAnswer {
    /// The result, in the peer's revision.
    pub result: Result<RawJson, ErrorObject>,
    /// The position; without one, the response is sent as soon as it is ready.
    pub ticket: Option<Ticket>,
}

impl From<ErrorObject> for RawAnswer {
    fn from(error: ErrorObject) -> Self {
        let (result, ticket) = (Err(error), None);
        Self { result, ticket }
    }
}

/// Passes on the messages of the peer of one side.
///
/// The functions are called in the order in which the messages arrive, and shouldn't block. The returned futures run
/// later, concurrently.
pub trait Relay<S: Side>: Send + Sync {
    /// Passes a request on. The future is dropped if the peer cancels the request.
    fn pass_request(&self, request: RawMessage, context: Context<S>) -> BoxFuture<'static, RawAnswer>;

    /// Passes a notification on.
    fn pass_notification(&self, notification: RawMessage, context: Context<S>) -> BoxFuture<'static, ()>;
}

/// Implements [`Handler`] for the handlers of one side.
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

/// Code that runs around the handling of each request and notification of the peer: for metrics, authorization or rate
/// limits.
///
/// A server adds it with `Router::layer`, a client with [`Layered::layer`]. A request that isn't passed on to `next`
/// isn't handled. A request that requires input from a stateless client is handled once per round; a result that
/// requires input passes through the middleware like any other.
///
/// ```
/// use std::time::Instant;
///
/// use mcp_runtime::{Context, ErrorObject, HandlerResult, Middleware, Next, Router, Side};
///
/// struct Timing;
///
/// impl<S: Side> Middleware<S> for Timing {
///     async fn request(
///         &self,
///         request: S::Request,
///         context: Context<S>,
///         next: Next<S>,
///     ) -> Result<HandlerResult<S::Result>, ErrorObject> {
///         let (method, begun) = (S::method(&request).to_owned(), Instant::now());
///         let result = next.request(request, context).await;
///         println!("{method} took {:?}", begun.elapsed());
///         result
///     }
/// }
///
/// let router = Router::new("timed", "1.0").tool("ping", "Answers", || "pong").layer(Timing);
/// ```
pub trait Middleware<S: Side>: Send + Sync + 'static {
    /// Handles a request, usually by passing it on.
    fn request(
        &self,
        request: S::Request,
        context: Context<S>,
        next: Next<S>,
    ) -> impl Future<Output = Result<HandlerResult<S::Result>, ErrorObject>> + Send {
        next.request(request, context)
    }

    /// Handles a notification, usually by passing it on.
    fn notification(
        &self,
        notification: S::Notification,
        context: Context<S>,
        next: Next<S>,
    ) -> impl Future<Output = ()> + Send {
        next.notification(notification, context)
    }
}

/// Middleware whose type is erased.
pub trait Layer<S: Side>: Send + Sync + 'static {
    /// [`Middleware::request`].
    fn request(self: Arc<Self>, request: S::Request, context: Context<S>, next: Next<S>) -> Handling<'static, S>;

    /// [`Middleware::notification`].
    fn notification(
        self: Arc<Self>,
        notification: S::Notification,
        context: Context<S>,
        next: Next<S>,
    ) -> BoxFuture<'static, ()>;
}

impl<S: Side, M: Middleware<S>> Layer<S> for M {
    fn request(self: Arc<Self>, request: S::Request, context: Context<S>, next: Next<S>) -> Handling<'static, S> {
        Box::pin(async move { Middleware::request(&*self, request, context, next).await })
    }

    fn notification(
        self: Arc<Self>,
        notification: S::Notification,
        context: Context<S>,
        next: Next<S>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(async move { Middleware::notification(&*self, notification, context, next).await })
    }
}

/// A handler with its middleware. Every [`ServerHandler`](crate::ServerHandler) and
/// [`ClientHandler`](crate::ClientHandler) can be converted into one.
///
/// ```
/// use mcp_runtime::{ClientSide, Layered, Middleware};
///
/// struct Nothing;
///
/// impl Middleware<ClientSide> for Nothing {}
///
/// // `connect` takes it in the place of the handler.
/// let client = Layered::<ClientSide>::from(()).layer(Nothing);
/// ```
pub struct Layered<S: Side> {
    handler: Arc<dyn Handler<S>>,
    /// The middleware, innermost first.
    layers: Arc<[Arc<dyn Layer<S>>]>,
}

impl<H: Handler<ClientSide>> From<H> for Layered<ClientSide> {
    fn from(handler: H) -> Self {
        Self::new(handler)
    }
}

impl<S: Side> Clone for Layered<S> {
    fn clone(&self) -> Self {
        Self {
            handler: Arc::clone(&self.handler),
            layers: Arc::clone(&self.layers),
        }
    }
}

impl<S: Side> Layered<S> {
    pub(super) fn new(handler: impl Handler<S>) -> Self {
        Self {
            handler: Arc::new(handler),
            layers: Arc::default(),
        }
    }

    /// Adds middleware around the handler and the existing middleware. The last one added is the outermost.
    #[must_use]
    pub fn layer(self, middleware: impl Middleware<S>) -> Self {
        self.layers(&[Arc::new(middleware)])
    }

    /// Adds several layers of middleware. The last one is the outermost.
    pub fn layers(mut self, layers: &[Arc<dyn Layer<S>>]) -> Self {
        self.layers = self.layers.iter().chain(layers).cloned().collect();
        self
    }

    pub(super) fn handle_request<'a>(&'a self, request: S::Request, context: &'a Context<S>) -> Handling<'a, S> {
        match self.layers.is_empty() {
            true => self.handler.handle_request(request, context),
            false => Box::pin(self.outermost().request(request, context.clone())),
        }
    }

    pub(super) fn handle_notification<'a>(
        &'a self,
        notification: S::Notification,
        context: &'a Context<S>,
    ) -> BoxFuture<'a, ()> {
        match self.layers.is_empty() {
            true => self.handler.handle_notification(notification, context),
            false => Box::pin(self.outermost().notification(notification, context.clone())),
        }
    }

    pub(super) fn extend<'a>(&'a self, filter: Extra, context: &'a Context<S>) -> Extending<'a> {
        self.handler.extend(filter, context)
    }

    pub(super) fn relay(&self, revision: Revision) -> Option<&dyn Relay<S>> {
        self.handler.relay(revision)
    }

    /// Returns a weak reference to the handler and its middleware.
    pub(super) fn downgrade(&self) -> WeakLayered<S> {
        WeakLayered {
            handler: Arc::downgrade(&self.handler),
            layers: Arc::downgrade(&self.layers),
        }
    }

    fn outermost(&self) -> Next<S> {
        Next::new(Arc::clone(&self.handler), Arc::clone(&self.layers))
    }
}

/// A weak reference to a handler with its middleware.
pub struct WeakLayered<S: Side> {
    handler: Weak<dyn Handler<S>>,
    layers: Weak<[Arc<dyn Layer<S>>]>,
}

impl<S: Side> WeakLayered<S> {
    pub(super) fn upgrade(&self) -> Option<Layered<S>> {
        let (handler, layers) = (self.handler.upgrade()?, self.layers.upgrade()?);
        Some(Layered { handler, layers })
    }
}

impl<S: Side> fmt::Debug for Layered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered")
            .field("layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}

/// The rest of the chain after a middleware: further middleware, and then the handler.
pub struct Next<S: Side> {
    handler: Arc<dyn Handler<S>>,
    layers: Arc<[Arc<dyn Layer<S>>]>,
    /// The number of remaining layers, counted from the innermost.
    left: usize,
}

impl<S: Side> Next<S> {
    /// Creates the whole chain: all layers, and then the handler.
    pub fn new(handler: Arc<dyn Handler<S>>, layers: Arc<[Arc<dyn Layer<S>>]>) -> Self {
        let left = layers.len();
        Self { handler, layers, left }
    }

    /// Handles a request.
    ///
    /// # Errors
    /// The error for the response to the peer.
    pub async fn request(
        mut self,
        request: S::Request,
        context: Context<S>,
    ) -> Result<HandlerResult<S::Result>, ErrorObject> {
        match self.inner() {
            Some(layer) => layer.request(request, context, self).await,
            None => self.handler.handle_request(request, &context).await,
        }
    }

    /// Handles a notification.
    pub async fn notification(mut self, notification: S::Notification, context: Context<S>) {
        match self.inner() {
            Some(layer) => layer.notification(notification, context, self).await,
            None => self.handler.handle_notification(notification, &context).await,
        }
    }

    /// Takes the outermost of the remaining layers.
    fn inner(&mut self) -> Option<Arc<dyn Layer<S>>> {
        self.left = self.left.checked_sub(1)?;
        self.layers.get(self.left).cloned()
    }
}

impl<S: Side> fmt::Debug for Next<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("left", &self.left).finish_non_exhaustive()
    }
}
