//! Middleware: what happens around the handling of each request and notification of the peer.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_adapters::handlers::{ClientHandler, ServerHandler};
use mcp_adapters::mcp_wire::ErrorObject;

use super::context::Context;
use super::handler::{ForClient, ForServer, Handler, HandlerResult};
use super::relay::Relay;
use crate::future::BoxFuture;
use crate::side::{ClientSide, ServerSide, Side};

/// What happens around the handling of each request and notification that the peer sends: measuring, authorization, rate limits.
///
/// A server adds it with [`Router::layer`](crate::Router::layer), a client with [`Layered::layer`]. A request that isn't passed on
/// to `next` isn't handled. A request that asks a stateless client for input is handled once for each round; the result of a round
/// that asks is passed through like any other.
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
    /// Handles a request, mostly by passing it on.
    fn request(
        &self,
        request: S::Request,
        context: Context<S>,
        next: Next<S>,
    ) -> impl Future<Output = Result<HandlerResult<S::Result>, ErrorObject>> + Send {
        next.request(request, context)
    }

    /// Handles a notification, mostly by passing it on.
    fn notification(
        &self,
        notification: S::Notification,
        context: Context<S>,
        next: Next<S>,
    ) -> impl Future<Output = ()> + Send {
        next.notification(notification, context)
    }
}

type Handled<S> = BoxFuture<'static, Result<HandlerResult<<S as Side>::Result>, ErrorObject>>;

/// Middleware whose type is erased.
pub(crate) trait Layer<S: Side>: Send + Sync + 'static {
    fn request(self: Arc<Self>, request: S::Request, context: Context<S>, next: Next<S>) -> Handled<S>;

    fn notification(
        self: Arc<Self>,
        notification: S::Notification,
        context: Context<S>,
        next: Next<S>,
    ) -> BoxFuture<'static, ()>;
}

impl<S: Side, M: Middleware<S>> Layer<S> for M {
    fn request(self: Arc<Self>, request: S::Request, context: Context<S>, next: Next<S>) -> Handled<S> {
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

/// A handler, with the middleware around it. Every [`ServerHandler`] and [`ClientHandler`] becomes one.
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
    layers: Vec<Arc<dyn Layer<S>>>,
}

impl<H: ServerHandler<Context<ServerSide>> + 'static> From<H> for Layered<ServerSide> {
    fn from(handler: H) -> Self {
        let handler = Arc::new(ForServer(handler));
        Self {
            handler,
            layers: Vec::new(),
        }
    }
}

impl<H: ClientHandler<Context<ClientSide>> + 'static> From<H> for Layered<ClientSide> {
    fn from(handler: H) -> Self {
        let handler = Arc::new(ForClient(handler));
        Self {
            handler,
            layers: Vec::new(),
        }
    }
}

impl<S: Side> Layered<S> {
    /// Adds middleware around what is there: of several, the last is the outermost.
    #[must_use]
    pub fn layer(mut self, middleware: impl Middleware<S>) -> Self {
        self.layers.push(Arc::new(middleware));
        self
    }

    /// Adds several, the last of which is the outermost.
    #[cfg(feature = "router")]
    pub(crate) fn layers(mut self, layers: &[Arc<dyn Layer<S>>]) -> Self {
        self.layers.extend_from_slice(layers);
        self
    }

    /// The handler that the session calls.
    pub(crate) fn into_handler(self) -> Arc<dyn Handler<S>> {
        match self.layers.is_empty() {
            true => self.handler,
            false => Arc::new(LayeredHandler {
                handler: self.handler,
                layers: self.layers.into(),
            }),
        }
    }
}

impl<S: Side> fmt::Debug for Layered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered")
            .field("layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}

/// A handler with middleware.
struct LayeredHandler<S: Side> {
    handler: Arc<dyn Handler<S>>,
    layers: Arc<[Arc<dyn Layer<S>>]>,
}

impl<S: Side> LayeredHandler<S> {
    fn outermost(&self) -> Next<S> {
        Next::new(Arc::clone(&self.handler), Arc::clone(&self.layers))
    }
}

impl<S: Side> Handler<S> for LayeredHandler<S> {
    fn handle_request<'a>(
        &'a self,
        request: S::Request,
        context: &'a Context<S>,
    ) -> BoxFuture<'a, Result<HandlerResult<S::Result>, ErrorObject>> {
        Box::pin(self.outermost().request(request, context.clone()))
    }

    fn handle_notification<'a>(&'a self, notification: S::Notification, context: &'a Context<S>) -> BoxFuture<'a, ()> {
        Box::pin(self.outermost().notification(notification, context.clone()))
    }

    fn relay(&self, revision: mcp_adapters::Revision) -> Option<&dyn Relay<S>> {
        self.handler.relay(revision)
    }
}

/// What comes after a middleware: the next one, or the handler.
pub struct Next<S: Side> {
    handler: Arc<dyn Handler<S>>,
    layers: Arc<[Arc<dyn Layer<S>>]>,
    /// How many layers are left, from the innermost.
    left: usize,
}

impl<S: Side> Next<S> {
    /// All of the layers, and then the handler.
    pub(crate) fn new(handler: Arc<dyn Handler<S>>, layers: Arc<[Arc<dyn Layer<S>>]>) -> Self {
        let left = layers.len();
        Self { handler, layers, left }
    }

    /// Handles a request.
    ///
    /// # Errors
    /// The error with which the peer is answered.
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

    /// Takes the outermost of the layers that are left.
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
