//! Limits of time, and of concurrent calls.

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_core::{Context, HandlerResult, Middleware, Next, ServerSide};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::is_call;

/// Ends calls that take too long with an internal error, and drops the future of the function. The time that it waits,
/// for example for the answer of a client with a session, counts toward the limit.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimit(Duration);

impl TimeLimit {
    /// A limit of the time of each call.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self(limit)
    }
}

impl Middleware<ServerSide> for TimeLimit {
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        if !is_call(&request) {
            return next.request(request, context).await;
        }
        let handled = timeout(self.0, next.request(request, context)).await;
        handled.unwrap_or_else(|_| Err(internal_error(format!("the call took longer than {:?}", self.0))))
    }
}

/// Limits the number of concurrent calls; further calls wait. Clones share the limit, so several routes can have one
/// together.
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit(Arc<Semaphore>);

impl ConcurrencyLimit {
    /// A limit of the number of concurrent calls, which is at least 1.
    #[must_use]
    pub fn new(calls: usize) -> Self {
        Self(Arc::new(Semaphore::new(calls.clamp(1, Semaphore::MAX_PERMITS))))
    }
}

impl Middleware<ServerSide> for ConcurrencyLimit {
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        // The semaphore is never closed.
        let _permit = match is_call(&request) {
            true => self.0.acquire().await.ok(),
            false => None,
        };
        next.request(request, context).await
    }
}
