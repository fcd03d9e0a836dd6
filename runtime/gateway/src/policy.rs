//! Policies that decide on the calls through a gateway.

use std::future::Future;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::{Context, ServerSide};
use mcp_runtime_util::BoxFuture;

/// A call that the gateway passes on.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Routed<'c> {
    /// The name of its server.
    pub server: &'c str,
    /// Its context: the client, the principal, and what the transport reports.
    pub context: &'c Context<ServerSide>,
}

/// A policy for the calls of tools, prompts, resources and completions: it allows, refuses or changes them, and changes
/// their results.
///
/// ```
/// use mcp_runtime::gateway::{Policy, Routed};
/// use mcp_runtime::{ErrorObject, error_code, hub};
///
/// struct ReadOnly;
///
/// impl Policy for ReadOnly {
///     async fn request(&self, call: Routed<'_>, request: &mut hub::ClientRequest) -> Result<(), ErrorObject> {
///         match request {
///             hub::ClientRequest::CallTool(call) if call.params.name.starts_with("delete") => {
///                 Err(ErrorObject::new(error_code::INVALID_REQUEST, "nothing is deleted here"))
///             }
///             _ => Ok(()),
///         }
///     }
/// }
/// ```
pub trait Policy: Send + Sync + 'static {
    /// Decides on a request, whose names are those of its server, and can change it. With an error, the server doesn't
    /// get it.
    fn request(
        &self,
        call: Routed<'_>,
        request: &mut hub::ClientRequest,
    ) -> impl Future<Output = Result<(), ErrorObject>> + Send {
        let _ = (call, request);
        async { Ok(()) }
    }

    /// Decides on a result, and can change it. With an error, the client doesn't get it.
    fn result(
        &self,
        call: Routed<'_>,
        result: &mut hub::ServerResult,
    ) -> impl Future<Output = Result<(), ErrorObject>> + Send {
        let _ = (call, result);
        async { Ok(()) }
    }
}

/// A policy whose type is erased.
pub trait ErasedPolicy: Send + Sync {
    fn request<'a>(
        &'a self,
        call: Routed<'a>,
        request: &'a mut hub::ClientRequest,
    ) -> BoxFuture<'a, Result<(), ErrorObject>>;

    fn result<'a>(
        &'a self,
        call: Routed<'a>,
        result: &'a mut hub::ServerResult,
    ) -> BoxFuture<'a, Result<(), ErrorObject>>;
}

impl<P: Policy> ErasedPolicy for P {
    fn request<'a>(
        &'a self,
        call: Routed<'a>,
        request: &'a mut hub::ClientRequest,
    ) -> BoxFuture<'a, Result<(), ErrorObject>> {
        Box::pin(Policy::request(self, call, request))
    }

    fn result<'a>(
        &'a self,
        call: Routed<'a>,
        result: &'a mut hub::ServerResult,
    ) -> BoxFuture<'a, Result<(), ErrorObject>> {
        Box::pin(Policy::result(self, call, result))
    }
}
