//! Tower layers around the calls of a router.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context as TaskContext, Poll};

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_core::{Context, HandlerResult, Middleware, Next, ServerSide};
use mcp_runtime_util::BoxFuture;
use tokio::sync::Mutex;
use tower_layer::Layer;
use tower_service::Service;

/// A call, as the request of a tower service.
#[derive(Debug)]
#[non_exhaustive]
pub struct TowerCall {
    /// The request.
    pub request: hub::ClientRequest,
    /// Its context.
    pub context: Context<ServerSide>,
    next: Next<ServerSide>,
}

/// The innermost service below a tower layer, which handles calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct TowerService;

impl Service<TowerCall> for TowerService {
    type Response = HandlerResult<hub::ServerResult>;
    type Error = ErrorObject;
    type Future = BoxFuture<'static, Result<Self::Response, ErrorObject>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), ErrorObject>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: TowerCall) -> Self::Future {
        Box::pin(async move { call.next.request(call.request, call.context).await })
    }
}

/// A tower layer as middleware. One service handles all calls, so layers with state, such as limits, count them
/// together. An error of a layer, such as that of a timeout, becomes an internal error for the client, unless it is an
/// `ErrorObject`.
///
/// ```
/// use mcp_runtime::Router;
/// use mcp_runtime::middleware::{TowerLayer, TowerService};
///
/// // Any layer of tower, such as `tower::limit::ConcurrencyLimitLayer::new(8)`; this one does nothing.
/// let layer = tower_layer::layer_fn(|service: TowerService| service);
/// let router = Router::new("wiki", "1.0").layer(TowerLayer::new(&layer));
/// ```
pub struct TowerLayer<S>(Mutex<S>);

impl<S> TowerLayer<S> {
    /// Middleware with the service that a layer makes.
    pub fn new<L: Layer<TowerService, Service = S>>(layer: &L) -> Self {
        Self(Mutex::new(layer.layer(TowerService)))
    }
}

impl<S> Middleware<ServerSide> for TowerLayer<S>
where
    S: Service<TowerCall, Response = HandlerResult<hub::ServerResult>> + Send + 'static,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send,
    S::Future: Send,
{
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        let call = TowerCall { request, context, next };
        let handled = {
            let mut service = self.0.lock().await;
            match poll_fn(|context| service.poll_ready(context)).await {
                Ok(()) => service.call(call),
                Err(error) => return Err(refusal(error)),
            }
        };
        handled.await.map_err(refusal)
    }
}

fn refusal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ErrorObject {
    match error.into().downcast::<ErrorObject>() {
        Ok(error) => *error,
        Err(error) => internal_error(error),
    }
}

impl<S> fmt::Debug for TowerLayer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TowerLayer").finish_non_exhaustive()
    }
}
