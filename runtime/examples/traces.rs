//! A server that exports its spans with OpenTelemetry: here to the standard output, or to a collector with
//! `opentelemetry-otlp` instead of `opentelemetry-stdout`. A client in the same process calls its tool within a trace,
//! which the server continues.

use std::collections::HashMap;

use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallServer, Context, ErrorObject, HandlerResult, Middleware, Next, Options, Router, ServerSide, connect, hub,
};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Adds the spans of requests to the traces of their callers.
struct ContinueTraces;

impl Middleware<ServerSide> for ContinueTraces {
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        let member = |name: &str| Some((name.to_owned(), context.meta()?.get(name)?.parse().ok()?));
        let caller: HashMap<String, String> = ["traceparent", "tracestate"].into_iter().filter_map(member).collect();
        let caller = TraceContextPropagator::new().extract(&caller);
        if let Err(error) = tracing::Span::current().set_parent(caller) {
            tracing::warn!(%error, "the span isn't in the caller's trace");
        }
        next.request(request, context).await
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let exporter = opentelemetry_stdout::SpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter).build();
    // With context activation, a span starts when it is entered, and can't get a parent after that.
    let traces = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("ping"))
        .with_context_activation(false);
    tracing_subscriber::registry().with(traces).init();

    let (ours, theirs) = channel(16);
    let router = Router::new("ping", "1.0")
        .tool("ping", "Answers", || "pong")
        .layer(ContinueTraces);
    let server = router.serve(Options::default(), theirs);

    let info = hub::Implementation::new("client", "1.0");
    let client = connect((), info, hub::ClientCapabilities::default(), Options::default(), ours).await?;
    let mut call = hub::CallToolRequestParams::new("ping");
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    call.meta.extra.insert("traceparent", serde_json::json!(traceparent));
    client.peer().call_tool(call).await?;
    client.close().await;
    server.ended().await;
    Ok(provider.shutdown()?)
}
