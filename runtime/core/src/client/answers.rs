//! The functions of a client, combined into a handler for its sessions.

use std::collections::HashMap;
use std::future::{Future, ready};

use mcp_adapters::handlers::ClientHandler;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, error_code};
use mcp_runtime_util::{Awaited, BoxFuture, Immediate};
use serde::de::DeserializeOwned;

use crate::message::params_of;
use crate::session::Context;
use crate::side::{ClientSide, Side};

/// A function that answers a request of a server.
type Answer<P, R> = Box<dyn Fn(P) -> BoxFuture<'static, Result<R, ErrorObject>> + Send + Sync>;

/// The return type of a function that gets notifications: `()`, or a future of `()`.
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` can't handle notifications",
    note = "a notification has no result: return `()`, or a future of `()`"
)]
pub trait NotificationReturns<M> {
    /// Returns a future that completes when the notification is handled.
    fn into_future(self) -> impl Future<Output = ()> + Send + 'static;
}

impl NotificationReturns<Immediate> for () {
    fn into_future(self) -> impl Future<Output = ()> + Send + 'static {
        ready(())
    }
}

impl<F: Future<Output = ()> + Send + 'static> NotificationReturns<Awaited> for F {
    fn into_future(self) -> impl Future<Output = ()> + Send + 'static {
        self
    }
}

/// A function that handles the parameters of a notification. It fails if they aren't of the expected type.
type Listener = Box<dyn Fn(RawJson) -> Result<BoxFuture<'static, ()>, serde_json::Error> + Send + Sync>;

pub(super) fn listener<P, R, M>(function: impl Fn(P) -> R + Send + Sync + 'static) -> Listener
where
    P: DeserializeOwned,
    R: NotificationReturns<M>,
{
    Box::new(move |params| Ok(Box::pin(function(params.parse()?).into_future())))
}

/// The functions; without one for a request, the server gets an error.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) form: Option<Answer<hub::ElicitRequestFormParams, hub::ElicitResult>>,
    pub(super) url: Option<Answer<hub::ElicitRequestUrlParams, hub::ElicitResult>>,
    pub(super) message: Option<Answer<hub::CreateMessageRequestParams, hub::CreateMessageResult>>,
    pub(super) roots: Option<Box<dyn Fn() -> Vec<hub::Root> + Send + Sync>>,
    /// By the method of the notification.
    pub(super) listeners: HashMap<String, Listener>,
}

pub(super) fn boxed<P, R, F>(answer: impl Fn(P) -> F + Send + Sync + 'static) -> Answer<P, R>
where
    F: Future<Output = Result<R, ErrorObject>> + Send + 'static,
{
    Box::new(move |params| Box::pin(answer(params)))
}

impl ClientHandler<Context<ClientSide>> for Answers {
    async fn elicit(
        &self,
        params: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        match (params, &self.form, &self.url) {
            (hub::ElicitRequestParams::Form(params), Some(answer), _) => answer(params).await,
            (hub::ElicitRequestParams::Url(params), _, Some(answer)) => answer(params).await,
            _ => Err(unanswered("the client doesn't support this mode of elicitation")),
        }
    }

    async fn create_message(
        &self,
        params: hub::CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        match &self.message {
            Some(answer) => answer(params).await,
            None => Err(unanswered("the client offers no language model")),
        }
    }

    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        _: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        match &self.roots {
            Some(roots) => Ok(hub::ListRootsResult::new(roots())),
            None => Err(unanswered("the client offers no roots")),
        }
    }

    async fn handle_notification(&self, notification: hub::ServerNotification, _: &Context<ClientSide>) {
        let method = ClientSide::notification_method(&notification);
        let Some(listener) = self.listeners.get(method) else {
            return;
        };
        match listener(params_of(&notification)) {
            Ok(handled) => handled.await,
            Err(error) => tracing::warn!(method, %error, "the function for a notification can't read its parameters"),
        }
    }
}

/// Returns the error for a request that this client hasn't declared.
fn unanswered(why: &str) -> ErrorObject {
    ErrorObject::new(error_code::METHOD_NOT_FOUND, why)
}
