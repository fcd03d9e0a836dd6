//! The handler of what a router doesn't have.

use std::fmt;
use std::mem::discriminant;
use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, error_code};
use mcp_adapters::{Revision, hub};
use mcp_runtime_core::internal::{Handling, internal_error, missing_capability, to_value};
use mcp_runtime_core::{Context, Handler, ServerSide};
use serde_json::Value;

use super::list::next_cursor;
use super::target::Answer;

/// The prefix of a cursor of the fallback's list, which follows the router's.
const CURSOR: &str = "fallback:";

/// A handler whose type is erased.
#[derive(Clone)]
pub(super) struct Fallback {
    pub(super) capabilities: hub::ServerCapabilities,
    /// The same as JSON.
    declared: Value,
    handler: Arc<dyn Handler<ServerSide>>,
}

impl Fallback {
    pub(super) fn new(capabilities: hub::ServerCapabilities, handler: impl Handler<ServerSide>) -> Self {
        Self {
            declared: to_value(&capabilities),
            capabilities,
            handler: Arc::new(handler),
        }
    }

    /// Whether it declares the capability that a method needs.
    pub(super) fn has(&self, method: &str) -> bool {
        let entry = Revision::HUB.method(method);
        entry.is_none_or(|entry| missing_capability(&self.declared, Revision::HUB, entry).is_none())
    }

    /// Handles a request that the router knows nothing of.
    pub(super) fn handle<'a>(
        &'a self,
        request: hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        self.handler.handle_request(request, context)
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

    /// A page of its list, which is that of a page of the router, whose next cursor is for the router's client; `None` if it doesn't have
    /// the list.
    pub(super) async fn list(
        &self,
        request: hub::ClientRequest,
        own: &hub::ServerResult,
        context: &Context<ServerSide>,
    ) -> Result<Option<hub::ServerResult>, ErrorObject> {
        let mut page = match self.handle(request, context).await {
            Ok(Answer::Declared(page)) if discriminant(&page) == discriminant(own) => page,
            Ok(_) => return Err(internal_error("the fallback gives the result of another method")),
            Err(error) if error.code == error_code::METHOD_NOT_FOUND => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(next) = next_cursor(&mut page) {
            *next = next.take().map(|cursor| format!("{CURSOR}{cursor}"));
        }
        Ok(Some(page))
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback").finish_non_exhaustive()
    }
}
