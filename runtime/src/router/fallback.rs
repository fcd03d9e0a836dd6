//! The handler of what a router doesn't have.

use std::fmt;
use std::sync::Arc;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, UnknownMethod};

use crate::error::internal;
use crate::future::BoxFuture;
use crate::session::Context;
use crate::side::ServerSide;

/// The prefix of a cursor of the fallback's list, which follows the router's.
const CURSOR: &str = "fallback:";

type Handle<T, R> = Arc<dyn Fn(T, Context<ServerSide>) -> BoxFuture<'static, Result<R, ErrorObject>> + Send + Sync>;

/// A handler whose type is erased.
#[derive(Clone)]
pub(super) struct Fallback {
    pub(super) capabilities: hub::ServerCapabilities,
    request: Handle<hub::ClientRequest, hub::ServerResult>,
    unknown: Handle<UnknownMethod, OpenJson>,
}

impl Fallback {
    pub(super) fn new<H: ServerHandler<Context<ServerSide>> + 'static>(
        capabilities: hub::ServerCapabilities,
        handler: H,
    ) -> Self {
        let handler = Arc::new(handler);
        let of_unknown = Arc::clone(&handler);
        Self {
            capabilities,
            request: Arc::new(move |request, context| {
                let handler = Arc::clone(&handler);
                Box::pin(async move { handler.handle_request(request, &context).await })
            }),
            unknown: Arc::new(move |request, context| {
                let handler = Arc::clone(&of_unknown);
                Box::pin(async move { handler.unknown_request(request, &context).await })
            }),
        }
    }

    /// Handles a request that the router knows nothing of.
    pub(super) async fn handle<T: FromServerResult>(
        &self,
        request: impl Into<hub::ClientRequest>,
        context: &Context<ServerSide>,
    ) -> Result<T, ErrorObject> {
        let result = (self.request)(request.into(), context.clone()).await?;
        T::from_result(result).ok_or_else(|| internal("the fallback gives the result of another method"))
    }

    pub(super) async fn unknown(
        &self,
        request: UnknownMethod,
        context: &Context<ServerSide>,
    ) -> Result<OpenJson, ErrorObject> {
        (self.unknown)(request, context.clone()).await
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

    /// The next cursor of a page of the fallback's list, for the router's client.
    pub(super) fn next_cursor(cursor: Option<String>) -> Option<String> {
        cursor.map(|cursor| format!("{CURSOR}{cursor}"))
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback").finish_non_exhaustive()
    }
}

/// The result of a method.
pub(super) trait FromServerResult: Sized {
    fn from_result(result: hub::ServerResult) -> Option<Self>;
}

/// The impls for results of one kind.
macro_rules! only {
    ($($result:ident: $type:ident)*) => {$(
        impl FromServerResult for hub::$type {
            fn from_result(result: hub::ServerResult) -> Option<Self> {
                match result {
                    hub::ServerResult::$result(result) => Some(result),
                    _ => None,
                }
            }
        }
    )*};
}

/// The impls for results that may ask the client for something.
macro_rules! asking {
    ($($result:ident: $type:ident)*) => {$(
        impl FromServerResult for hub::$type {
            fn from_result(result: hub::ServerResult) -> Option<Self> {
                match result {
                    hub::ServerResult::$result(result) => Some(result.into()),
                    hub::ServerResult::InputRequired(result) => Some(result.into()),
                    _ => None,
                }
            }
        }
    )*};
}

only! {
    Complete: CompleteResult
    ListPrompts: ListPromptsResult
    ListResources: ListResourcesResult
    ListResourceTemplates: ListResourceTemplatesResult
    ListTools: ListToolsResult
}

asking! {
    CallTool: AnyCallToolResult
    GetPrompt: AnyGetPromptResult
    ReadResource: AnyReadResourceResult
}
