//! The handler of what a router doesn't have.

use std::fmt;
use std::sync::Arc;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::mcp_wire::{ErrorObject, error_code};
use mcp_adapters::{Revision, hub};
use serde_json::Value;

use super::handled::{FromHandled, Handled};
use super::list::List;
use crate::error::internal_error;
use crate::future::BoxFuture;
use crate::session::{Context, missing_capability};
use crate::side::ServerSide;

/// The prefix of a cursor of the fallback's list, which follows the router's.
const CURSOR: &str = "fallback:";

type Handle = Arc<
    dyn Fn(hub::ClientRequest, Context<ServerSide>) -> BoxFuture<'static, Result<Handled, ErrorObject>> + Send + Sync,
>;

/// A handler whose type is erased.
#[derive(Clone)]
pub(super) struct Fallback {
    pub(super) capabilities: hub::ServerCapabilities,
    /// The same as JSON.
    declared: Value,
    handle: Handle,
}

impl Fallback {
    pub(super) fn new<H: ServerHandler<Context<ServerSide>> + 'static>(
        capabilities: hub::ServerCapabilities,
        handler: H,
    ) -> Self {
        let handler = Arc::new(handler);
        Self {
            declared: serde_json::to_value(&capabilities).unwrap_or_default(),
            capabilities,
            handle: Arc::new(move |request, context| {
                let handler = Arc::clone(&handler);
                Box::pin(async move {
                    match request {
                        hub::ClientRequest::Unknown(request) => {
                            handler.unknown_request(request, &context).await.map(Handled::Custom)
                        }
                        request => handler.handle_request(request, &context).await.map(Handled::Declared),
                    }
                })
            }),
        }
    }

    /// Whether it declares the capability that a method needs.
    pub(super) fn has(&self, method: &str) -> bool {
        let entry = Revision::HUB.method(method);
        entry.is_none_or(|entry| missing_capability(&self.declared, Revision::HUB, entry).is_none())
    }

    /// Handles a request that the router knows nothing of.
    pub(super) async fn handle<T: FromHandled>(
        &self,
        request: hub::ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<T, ErrorObject> {
        let result = (self.handle)(request, context.clone()).await?;
        T::from_handled(result).ok_or_else(|| internal_error("the fallback gives the result of another method"))
    }

    /// The cursor of the first page of the fallback's list.
    pub(super) fn first_cursor() -> String {
        CURSOR.to_owned()
    }

    /// The parameters with which the fallback is asked for a page, if the cursor is one of its list.
    pub(super) fn page(params: &hub::PaginatedRequestParams) -> Option<hub::PaginatedRequestParams> {
        let cursor = params.cursor.as_deref()?.strip_prefix(CURSOR)?;
        let mut params = params.clone();
        params.cursor = (!cursor.is_empty()).then(|| cursor.to_owned());
        Some(params)
    }

    /// A page of its list, whose next cursor is for the router's client; `None` if it doesn't have the list.
    pub(super) async fn list<L: List>(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<Option<L>, ErrorObject> {
        match self.handle::<L>(L::request(params), context).await {
            Ok(mut page) => {
                let next = page.next();
                *next = next.take().map(|cursor| format!("{CURSOR}{cursor}"));
                Ok(Some(page))
            }
            Err(error) if error.code == error_code::METHOD_NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback").finish_non_exhaustive()
    }
}
