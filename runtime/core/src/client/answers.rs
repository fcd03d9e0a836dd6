//! The functions of a client, as the handler of its sessions.

use mcp_adapters::handlers::ClientHandler;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, error_code};

use crate::future::BoxFuture;
use crate::session::Context;
use crate::side::ClientSide;

/// A function that answers a request of a server.
type Answer<P, R> = Box<dyn Fn(P) -> BoxFuture<'static, Result<R, ErrorObject>> + Send + Sync>;

/// The functions; where there is none, the server gets an error.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) form: Option<Answer<hub::ElicitRequestFormParams, hub::ElicitResult>>,
    pub(super) url: Option<Answer<hub::ElicitRequestUrlParams, hub::ElicitResult>>,
    pub(super) message: Option<Answer<hub::CreateMessageRequestParams, hub::CreateMessageResult>>,
    pub(super) roots: Option<Box<dyn Fn() -> Vec<hub::Root> + Send + Sync>>,
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
            _ => Err(unanswered("the user can't be asked this way")),
        }
    }

    async fn create_message(
        &self,
        params: hub::CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        match &self.message {
            Some(answer) => answer(params).await,
            None => Err(unanswered("there is no language model")),
        }
    }

    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        _: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        match &self.roots {
            Some(roots) => Ok(hub::ListRootsResult::new(roots())),
            None => Err(unanswered("there are no roots")),
        }
    }
}

/// The error for what this client hasn't declared.
fn unanswered(why: &str) -> ErrorObject {
    ErrorObject::new(error_code::METHOD_NOT_FOUND, why)
}
