//! What a function of the router knows about the call that it answers.

use std::ops::Deref;
use std::sync::Arc;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::OpenJson;

use super::Router;
use super::subscriber::Subscriber;
use crate::error::CallError;
use crate::session::Context;
use crate::side::ServerSide;

/// What a function of the router knows about the call that it answers: the [`Context`], and what the router adds to it.
#[derive(Debug, Clone)]
pub struct Call {
    context: Context<ServerSide>,
    router: Router,
    subscriber: Arc<Subscriber>,
}

impl Call {
    pub(super) fn new(context: &Context<ServerSide>, router: &Router, subscriber: &Arc<Subscriber>) -> Self {
        Self {
            context: context.clone(),
            router: router.clone(),
            subscriber: Arc::clone(subscriber),
        }
    }

    /// The router, for adding to it and removing from it.
    #[must_use]
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Sends the client a log message, if it is severe enough for the level that the client has set. Until it sets one,
    /// it gets every message.
    ///
    /// # Errors
    /// When the client can't be told.
    pub async fn log(&self, level: hub::LoggingLevel, data: impl Into<OpenJson>) -> Result<(), CallError> {
        if !self.subscriber.wants(&level) {
            return Ok(());
        }
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
