//! The handler of requests that a router can't answer itself.

use std::collections::HashSet;
use std::fmt;
use std::mem::discriminant;
use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, error_code};
use mcp_adapters::{Revision, hub};
use mcp_runtime_core::internal::{Handling, internal_error, missing_capability, to_value};
use mcp_runtime_core::{Context, Handler, ServerSide};
use serde_json::Value;

use super::list::{leave_out, next_cursor};
use super::target::Answer;

/// The prefix of cursors in the fallback's list, which is appended to the router's list.
const CURSOR: &str = "fallback:";

/// A handler whose type is erased.
#[derive(Clone)]
pub(super) struct Fallback {
    pub(super) capabilities: hub::ServerCapabilities,
    /// `capabilities` as JSON.
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

    /// Whether the fallback declares the capability that a method needs.
    pub(super) fn has(&self, method: &str) -> bool {
        let entry = Revision::HUB.method(method);
        entry.is_none_or(|entry| missing_capability(&self.declared, Revision::HUB, entry).is_none())
    }

    /// Handles a request that the router can't answer itself.
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

    /// The parameters of a request to the fallback for a page, if the cursor is one of the fallback's list.
    pub(super) fn page(params: &hub::PaginatedRequestParams) -> Option<hub::PaginatedRequestParams> {
        let cursor = params.cursor.as_deref()?.strip_prefix(CURSOR)?;
        let mut params = params.clone();
        params.cursor = (!cursor.is_empty()).then(|| cursor.to_owned());
        Some(params)
    }

    /// Requests a page of the fallback's list of the same kind as the router's page `own`; `None` if the fallback
    /// doesn't have the list. What the router has under the same name or URI, one of `keys`, is left out. The next cursor
    /// of the page gets the prefix [`CURSOR`].
    pub(super) async fn list(
        &self,
        request: hub::ClientRequest,
        (own, keys): (&hub::ServerResult, &HashSet<String>),
        context: &Context<ServerSide>,
    ) -> Result<Option<hub::ServerResult>, ErrorObject> {
        let mut page = match self.handle(request, context).await {
            Ok(Answer::Declared(page)) if discriminant(&page) == discriminant(own) => page,
            Ok(_) => return Err(internal_error("the fallback gave the result of another method")),
            Err(error) if error.code == error_code::METHOD_NOT_FOUND => return Ok(None),
            Err(error) => return Err(error),
        };
        leave_out(&mut page, keys);
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
