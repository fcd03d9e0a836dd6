//! Extractors of parts of a request's context.

use http::HeaderMap;
use http::request::Parts;
use mcp_adapters::mcp_wire::RawObject;
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_core::transport::Principal;
use mcp_runtime_core::{CallError, Context, Peer, ServerSide};
use tokio_util::sync::CancellationToken;

use super::{FromCall, Signature};
use crate::call::{Call, Input};
use crate::tool_error::ToolError;

impl FromCall for Call {
    fn declare(signature: &mut Signature) {
        signature.logs();
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(call.clone())
    }
}

impl FromCall for Peer<ServerSide> {
    fn declare(signature: &mut Signature) {
        signature.logs();
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(call.peer().clone())
    }
}

/// The `_meta` of the request, unchanged; empty if it has none.
///
/// Its members can include `traceparent` and `tracestate`, the [trace context](https://www.w3.org/TR/trace-context/) of
/// the caller.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meta(pub RawObject);

impl FromCall for Meta {
    const MAY_REQUEST_INPUT: bool = false;

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(call.meta().cloned().map(Self).unwrap_or_default())
    }
}

/// The name of the called tool or prompt, without the prefixes of routers that it was nested in. In the functions of
/// [`Router::tools`](crate::Router::tools) and [`Router::prompts`](crate::Router::prompts), it identifies the listed
/// tool or prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name(pub String);

impl FromCall for Name {
    const MAY_REQUEST_INPUT: bool = false;

    fn declare(signature: &mut Signature) {
        signature.limit("Name", &["tool", "prompt"]);
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Self(call.name().to_owned()))
    }
}

/// The headers of the HTTP request that carried the call; empty with other transports.
impl FromCall for HeaderMap {
    const MAY_REQUEST_INPUT: bool = false;

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        let request = call.extensions().get::<Parts>();
        Ok(request.map(|request| request.headers.clone()).unwrap_or_default())
    }
}

/// A value that the transport attached to the request (see [`Context::extensions`]), or else one that middleware of the
/// HTTP server put into the extensions of the HTTP request, such as the user. If there is no value of the type `T`, the
/// response is an internal error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extension<T>(pub T);

impl<T: Clone> Extension<T> {
    fn of(context: &Context<ServerSide>) -> Option<Self>
    where
        T: Send + Sync + 'static,
    {
        let extensions = context.extensions();
        let of_request = || extensions.get::<Parts>()?.extensions.get();
        extensions.get().or_else(of_request).cloned().map(Self)
    }
}

impl<T: Clone + Send + Sync + 'static> FromCall for Extension<T> {
    const MAY_REQUEST_INPUT: bool = false;

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Self::of(call).ok_or_else(|| {
            let what = format!("the request has no extension {}", std::any::type_name::<T>());
            ToolError::Protocol(internal_error(what))
        })
    }
}

impl<T: Clone + Send + Sync + 'static> FromCall for Option<Extension<T>> {
    const MAY_REQUEST_INPUT: bool = false;

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Extension::of(call))
    }
}

/// The principal on whose behalf the client calls (see [`Context::principal`]). If there is none, the response is an
/// internal error.
impl FromCall for Principal {
    const MAY_REQUEST_INPUT: bool = false;

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        let principal = call.principal().cloned();
        principal.ok_or_else(|| ToolError::Protocol(internal_error("the request has no principal")))
    }
}

impl FromCall for Option<Principal> {
    const MAY_REQUEST_INPUT: bool = false;

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(call.principal().cloned())
    }
}

/// Reports the progress of the call.
#[derive(Debug, Clone)]
pub struct ProgressReporter(Call);

impl ProgressReporter {
    /// Sends the client a progress notification, if it asked for progress; see [`Context::progress`].
    ///
    /// # Errors
    /// When it can't be sent.
    pub async fn report(&self, progress: f64, total: Option<f64>, message: Option<String>) -> Result<(), CallError> {
        self.0.progress(progress, total, message).await
    }
}

impl FromCall for ProgressReporter {
    const MAY_REQUEST_INPUT: bool = false;

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Self(call.clone()))
    }
}

/// A token that is cancelled when the client cancels the request. The function's future is dropped then, so the token
/// is for tasks that the function has spawned.
impl FromCall for CancellationToken {
    const MAY_REQUEST_INPUT: bool = false;

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(call.cancelled().clone())
    }
}

/// The URI of the resource that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uri(pub String);

impl FromCall for Uri {
    const MAY_REQUEST_INPUT: bool = false;

    fn declare(signature: &mut Signature) {
        signature.limit("Uri", &["resource", "resource template"]);
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        match call.input() {
            Some(Input::Resource { uri, .. }) => Ok(Self(uri.clone())),
            _ => Err(ToolError::Protocol(internal_error("the call doesn't read a resource"))),
        }
    }
}
