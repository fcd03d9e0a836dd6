//! The context of a call to a function of the router.

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson};

use crate::error::CallError;
use crate::future::BoxFuture;
use crate::session::Context;
use crate::side::ServerSide;

/// A function of the router.
pub(super) type Function<A, T> = Arc<dyn Fn(A, Call) -> BoxFuture<'static, Result<T, ErrorObject>> + Send + Sync>;

/// The context of a call to a function of the router: the [`Context`] of the request, and the router.
#[derive(Debug, Clone)]
pub struct Call {
    context: Context<ServerSide>,
    /// The router, whose type is erased because it is made of functions that take a `Call`.
    router: Arc<dyn Any + Send + Sync>,
}

impl Call {
    pub(super) fn new(context: Context<ServerSide>, router: Arc<dyn Any + Send + Sync>) -> Self {
        Self { context, router }
    }

    pub(super) fn any_router(&self) -> &(dyn Any + Send + Sync) {
        &*self.router
    }

    /// Sends the client a log message, if the client wants messages of this level. In a session, it gets every message until
    /// it sets a level. A stateless client gets those of the level that its request names, and none if it names none.
    ///
    /// # Errors
    /// When it can't be sent.
    pub async fn log(&self, level: hub::LoggingLevel, data: impl Into<OpenJson>) -> Result<(), CallError> {
        let params = hub::LoggingMessageNotificationParams::new(level, data);
        self.peer().notify_logging_message(params).await
    }
}

impl Deref for Call {
    type Target = Context<ServerSide>;

    fn deref(&self) -> &Context<ServerSide> {
        &self.context
    }
}
