//! Logging of each request.

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::{Context, HandlerResult, Middleware, Next, ServerSide, Side};
use mcp_runtime_util::Instant;

/// Logs each request to `tracing` once it is handled: its method, the name or URI, the principal, the time it took, and
/// its outcome. Arguments and results aren't logged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Logging;

impl Middleware<ServerSide> for Logging {
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        let method = ServerSide::method(&request).to_owned();
        let target = ServerSide::target(&request).map(|(_, name)| name.to_owned());
        let principal = context.principal().map(|principal| principal.0.clone());
        let begun = Instant::now();
        let result = next.request(request, context).await;
        let elapsed = begun.elapsed();
        match &result {
            Ok(HandlerResult::Declared(result)) if ServerSide::has_failed(result) => {
                tracing::info!(method, target, principal, ?elapsed, "a tool has failed");
            }
            Ok(_) => tracing::info!(method, target, principal, ?elapsed, "handled"),
            Err(error) => tracing::info!(method, target, principal, ?elapsed, code = error.code, "refused"),
        }
        result
    }
}
