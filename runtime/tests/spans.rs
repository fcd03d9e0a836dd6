//! The spans in which handlers run, and the warnings that sessions log. These tests are a separate program, because
//! `tracing` caches for the whole process which subscribers are interested in which events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_runtime::router::{Call, resource};
use mcp_runtime::transport::channel;
use mcp_runtime::{CallError, CallServer, Options, Revision, Router, UnknownMethod, connect, hub};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context as LayerContext, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

/// A span: its name, that of its parent, and its fields.
#[derive(Debug, Clone, Default, PartialEq)]
struct Seen {
    name: String,
    parent: Option<String>,
    fields: BTreeMap<&'static str, String>,
    /// The number of events that were logged in it.
    events: usize,
}

impl Visit for Seen {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// The spans so far, by their ids.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<BTreeMap<u64, Seen>>>);

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: LayerContext<'_, S>) {
        let span = context.span(id).unwrap();
        let mut seen = Seen {
            name: span.name().to_owned(),
            parent: span.parent().map(|parent| parent.name().to_owned()),
            ..Seen::default()
        };
        attributes.record(&mut seen);
        self.0.lock().unwrap().insert(id.into_u64(), seen);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: LayerContext<'_, S>) {
        values.record(self.0.lock().unwrap().get_mut(&id.into_u64()).unwrap());
    }

    fn on_event(&self, event: &tracing::Event<'_>, context: LayerContext<'_, S>) {
        if event.metadata().target() != "spans" {
            return;
        }
        let id = context.event_span(event).map(|span| span.id().into_u64());
        let mut spans = self.0.lock().unwrap();
        if let Some(seen) = id.and_then(|id| spans.get_mut(&id)) {
            seen.events += 1;
        }
    }
}

#[tokio::test]
async fn sessions_and_requests_have_spans_and_handlers_run_in_them() {
    let spans = Spans::default();
    let _subscriber = tracing::subscriber::set_default(Registry::default().with(spans.clone()));
    let router = Router::new("server", "1.0")
        .tool("add", "Adds", || async {
            tracing::info!("in a tool");
            "added"
        })
        .tool("fail", "Fails", || Err::<(), _>("failed"))
        .with(resource(hub::Resource::new("News", "test://news"), || "news"));
    let (ours, theirs) = channel(16);
    let options = Options {
        supported: vec![Revision::HUB],
        ..Options::default()
    };
    let _served = router.serve(options.clone(), theirs);
    let info = hub::Implementation::new("client", "1.0");
    let capabilities = hub::ClientCapabilities::default();
    let session = connect((), info, capabilities, options, ours).await.unwrap();
    let peer = session.peer();
    assert!(peer.info().unwrap().server_capabilities().resources.is_some());
    for tool in ["add", "fail"] {
        peer.call_tool(hub::CallToolRequestParams::new(tool)).await.unwrap();
    }
    peer.read_resource(hub::ReadResourceRequestParams::new("test://news"))
        .await
        .unwrap();
    peer.read_resource(hub::ReadResourceRequestParams::new("test://olds"))
        .await
        .unwrap_err();
    peer.call_unknown(UnknownMethod::new("example/unknown"))
        .await
        .unwrap_err();

    let spans: Vec<Seen> = spans.0.lock().unwrap().values().cloned().collect();
    let session = |side: &str| {
        spans
            .iter()
            .find(|span| span.fields.get("mcp.side").is_some_and(|it| it == side))
            .unwrap()
    };
    assert_eq!(session("client").fields["mcp.peer.name"], "server");
    assert_eq!(session("client").fields["mcp.protocol.version"], Revision::HUB.as_str());
    assert_eq!(session("server").name, "mcp.session");

    let requests: Vec<&Seen> = spans.iter().filter(|span| span.name == "mcp.request").collect();
    let named = |name: &str| {
        *requests
            .iter()
            .find(|span| span.fields["otel.name"] == name)
            .unwrap_or_else(|| panic!("{requests:?}"))
    };
    let add = named("tools/call add");
    assert_eq!(add.parent.as_deref(), Some("mcp.session"));
    assert_eq!(add.events, 1);
    for (field, value) in [
        ("otel.kind", "server"),
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", Revision::HUB.as_str()),
        ("gen_ai.tool.name", "add"),
    ] {
        assert_eq!(add.fields[field], value);
    }
    assert!(
        add.fields.contains_key("jsonrpc.request.id") && !add.fields.contains_key("error.type"),
        "{add:?}"
    );
    assert_eq!(named("tools/call fail").fields["error.type"], "tool_error");
    let reads: Vec<_> = requests
        .iter()
        .filter(|span| span.fields["otel.name"] == "resources/read")
        .collect();
    assert_eq!(reads[0].fields["mcp.resource.uri"], "test://news");
    assert_eq!(
        reads[1].fields["error.type"],
        hub::error_code::RESOURCE_NOT_FOUND.to_string()
    );
    assert!(named("example/unknown").fields.contains_key("error.type"));
}

/// The warnings so far.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: LayerContext<'_, S>) {
        if *event.metadata().level() == tracing::Level::WARN {
            let mut seen = Seen::default();
            event.record(&mut seen);
            self.0.lock().unwrap().extend(seen.fields.remove("message"));
        }
    }
}

#[tokio::test]
async fn each_side_warns_once_about_a_deprecated_method_used_twice() {
    let warnings = Warnings::default();
    let _subscriber = tracing::subscriber::set_default(Registry::default().with(warnings.clone()));
    let router = Router::new("server", "1.0").tool("log", "Logs", async |call: Call| {
        for step in 1..=2 {
            call.log(hub::LoggingLevel::Info, serde_json::json!(step)).await?;
        }
        Ok::<_, CallError>("logged")
    });
    for (revision, expected) in [(Revision::HUB, 2), (Revision::V2025_11_25, 0)] {
        let options = Options {
            supported: vec![revision],
            log_level: Some(hub::LoggingLevel::Debug),
            ..Options::default()
        };
        let (ours, theirs) = channel(16);
        let _served = router.clone().serve(options.clone(), theirs);
        let info = hub::Implementation::new("client", "1.0");
        let session = connect((), info, hub::ClientCapabilities::default(), options, ours)
            .await
            .unwrap();
        session
            .peer()
            .call_tool(hub::CallToolRequestParams::new("log"))
            .await
            .unwrap();
        session.close().await;
        let warned = std::mem::take(&mut *warnings.0.lock().unwrap());
        assert_eq!(warned.len(), expected, "{warned:?}");
        assert!(
            warned.iter().all(|it| it.contains("deprecates logging (SEP-2577)")),
            "{warned:?}"
        );
    }
}

#[tokio::test]
async fn a_bridge_warns_about_deprecated_input_requests_in_results() {
    use mcp_runtime::bridge::{Bridge, BridgeOptions};
    use mcp_runtime::{CallClient, Client};

    let warnings = Warnings::default();
    let _subscriber = tracing::subscriber::set_default(Registry::default().with(warnings.clone()));
    let router = Router::new("server", "1.0").tool("roots", "Counts the roots", async |call: Call| {
        let roots = call.peer().list_roots(None).await?.roots;
        Ok::<_, CallError>(roots.len().to_string())
    });
    let connect = move || {
        let (ours, theirs) = channel(16);
        drop(router.clone().serve(Options::default(), theirs));
        Ok(ours)
    };
    let (ours, theirs) = channel(16);
    let options = BridgeOptions {
        server: vec![Revision::HUB],
        ..BridgeOptions::default()
    };
    let bridge = Bridge::new(connect, options);
    tokio::spawn(async move { bridge.serve(theirs).await });
    let options = Options {
        supported: vec![Revision::V2025_11_25],
        ..Options::default()
    };
    let client = Client::new("client", "1.0").roots(Vec::new).options(options);
    let session = client.connect(ours).await.unwrap();
    let result = session.call_tool("roots", ()).await.unwrap();
    assert_eq!(serde_json::json!(result.content)[0]["text"], "0");
    // One warning is the server's, the other is the bridge's.
    let warned = std::mem::take(&mut *warnings.0.lock().unwrap());
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert!(
        warned.iter().all(|it| it.contains("deprecates roots (SEP-2577)")),
        "{warned:?}"
    );
}
