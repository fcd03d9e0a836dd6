//! The `tracing` spans of sessions and messages. Their fields have the names of
//! [OpenTelemetry's semantic conventions for MCP](https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/).

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RequestId;
use tracing::field::{Empty, display};
use tracing::{Span, info_span};

use crate::side::Side;

/// The span of a session.
pub fn session_span<S: Side>() -> Span {
    let side = if S::IS_SERVER { "server" } else { "client" };
    info_span!(
        "mcp.session",
        "mcp.side" = side,
        "mcp.protocol.version" = Empty,
        "mcp.peer.name" = Empty
    )
}

/// The span in which a request of the peer is handled.
pub fn request_span<S: Side>(
    session: &Span,
    method: &str,
    id: Option<&RequestId>,
    revision: Revision,
    request: &S::Request,
) -> Span {
    let span = info_span!(
        parent: session,
        "mcp.request",
        "otel.name" = method,
        "otel.kind" = "server",
        "mcp.method.name" = method,
        "mcp.protocol.version" = revision.as_str(),
        "jsonrpc.request.id" = id.map(display),
        "gen_ai.tool.name" = Empty,
        "gen_ai.prompt.name" = Empty,
        "mcp.resource.uri" = Empty,
        "error.type" = Empty,
    );
    if let Some((field, name)) = S::target(request).filter(|_| !span.is_disabled()) {
        span.record(field, name);
        if field != "mcp.resource.uri" {
            span.record("otel.name", display(format_args!("{method} {name}")));
        }
    }
    span
}

/// The span in which a notification of the peer is handled.
pub fn notification_span(session: &Span, method: &str, revision: Revision) -> Span {
    info_span!(
        parent: session,
        "mcp.notification",
        "otel.name" = method,
        "otel.kind" = "server",
        "mcp.method.name" = method,
        "mcp.protocol.version" = revision.as_str(),
    )
}
