//! Tools with views, and a host that shows one.

use mcp_runtime::apps::mcp_ext_apps::{
    ClientNotification, ClientRequest, EXTENSION, McpUiHostCapabilities, McpUiHostContext, McpUiInitializeResult,
    McpUiToolMeta, McpUiToolVisibility,
};
use mcp_runtime::apps::{
    Apps, FromView, HostViews, MIME_TYPE, Permission, ReadViews, ShowsViews, ToView, ToolView, ViewError,
    content_security_policy, tool_input, tool_result, try_ui_resource, ui_resource,
};
use mcp_runtime::mcp_wire::{Message, RawJson, Validate, from_str};
use mcp_runtime::router::{Blob, Call, resource, tool};
use mcp_runtime::transport::channel;
use mcp_runtime::{Client, ClientSession, Options, Revision, Router, hub};
use serde_json::{Value, json};

const VIEW: &str = "ui://weather/chart";

fn server() -> Router {
    let chart = ui_resource(VIEW, "chart")
        .connects_to(["https://api.example.com"])
        .loads_from(["https://cdn.example.com", "https://*.example.org"])
        .permission(Permission::Geolocation)
        .border(true);
    let text = hub::Resource::new("text", "ui://weather/text").with_mime_type("text/html");
    let shown = |call: Call| if call.shows_views() { "see the chart" } else { "sunny" };
    Router::new("weather", "1.0")
        .extension(Apps)
        .with(chart.html("<title>Chart</title>"))
        .with(resource(text, || "<title>No view</title>"))
        .with(tool("weather", "The weather", shown).ui(VIEW))
        .with(tool("reload", "For the view", || "sunny").ui_only(VIEW))
        .with(tool("wrong", "Its resource isn't a view", || "sunny").ui("ui://weather/text"))
        .with(tool("plain", "Has no view", || "sunny"))
}

async fn connected(client: Client, revision: Revision) -> ClientSession {
    let (ours, theirs) = channel(16);
    let all = Options {
        supported: Revision::ALL.into(),
        ..Options::default()
    };
    server().serve(all, theirs);
    let options = Options {
        supported: [revision].into(),
        ..Options::default()
    };
    client.options(options).connect(ours).await.unwrap()
}

async fn named(client: &ClientSession, name: &str) -> hub::Tool {
    let tools = client.list_tools().await.unwrap();
    tools.into_iter().find(|tool| tool.name == name).unwrap()
}

#[tokio::test]
async fn a_host_reads_the_view_of_a_tool_and_its_content_security_policy() {
    let mut shown = 0;
    for revision in Revision::ALL {
        let host = connected(Client::new("host", "1.0").views(), revision).await;
        let weather = named(&host, "weather").await;
        // A revision whose tools have no metadata has no views.
        let Some(meta) = &weather.meta else {
            assert_eq!(host.peer().view_of(&weather).await.unwrap(), None);
            continue;
        };
        shown += 1;
        let meta: McpUiToolMeta = meta.get("ui").unwrap().decode_as().unwrap();
        meta.validate().unwrap();
        assert_eq!((meta.resource_uri.as_deref(), meta.visibility), (Some(VIEW), None));
        let reload = named(&host, "reload").await.meta.unwrap().get("ui").unwrap();
        let reload: McpUiToolMeta = reload.decode_as().unwrap();
        assert_eq!(reload.visibility, Some(vec![McpUiToolVisibility::App]));

        let view = host.peer().view_of(&weather).await.unwrap().unwrap();
        assert_eq!(view.html, "<title>Chart</title>");
        view.meta.validate().unwrap();
        assert!(view.meta.permissions.as_ref().unwrap().geolocation.is_some());
        let policy = view.policy();
        assert!(policy.contains("connect-src https://api.example.com;"), "{policy}");
        assert!(
            policy.contains("script-src 'unsafe-inline' https://cdn.example.com https://*.example.org;"),
            "{policy}"
        );
        assert!(policy.contains("frame-src 'none';"), "{policy}");
        let listed = host.list_resources().await.unwrap();
        let listed = listed.iter().find(|resource| resource.uri == VIEW).unwrap();
        assert_eq!(listed.mime_type.as_deref(), Some(MIME_TYPE));
        assert!(listed.meta.as_ref().unwrap().get("ui").is_some());

        assert_eq!(host.peer().view_of(&named(&host, "plain").await).await.unwrap(), None);
        let wrong = host.peer().view_of(&named(&host, "wrong").await).await;
        assert!(matches!(wrong, Err(ViewError::NotAView { .. })), "{wrong:?}");
    }
    assert!(shown > 1);
}

#[tokio::test]
async fn a_host_reads_a_view_that_is_sent_as_base64() {
    let encoded = |uri: &'static str, bytes: &'static [u8]| {
        let view = hub::Resource::new("view", uri).with_mime_type(MIME_TYPE);
        resource(view, move || Blob(bytes.to_vec()))
    };
    let router = server()
        .with(encoded("ui://weather/blob", b"<title>Chart</title>"))
        .with(encoded("ui://weather/bytes", b"\xff"))
        .with(tool("blob", "Its view is base64", || "sunny").ui("ui://weather/blob"))
        .with(tool("bytes", "Its view isn't text", || "sunny").ui("ui://weather/bytes"));
    let (ours, theirs) = channel(16);
    router.serve(Options::default(), theirs);
    let host = Client::new("host", "1.0").views().connect(ours).await.unwrap();
    let view = host.peer().view_of(&named(&host, "blob").await).await.unwrap().unwrap();
    assert_eq!(view.html, "<title>Chart</title>");
    let wrong = host.peer().view_of(&named(&host, "bytes").await).await;
    assert!(matches!(wrong, Err(ViewError::NotAView { .. })), "{wrong:?}");
}

#[tokio::test]
async fn a_tool_learns_whether_the_client_shows_views() {
    for (client, said) in [
        (Client::new("host", "1.0").views(), "see the chart"),
        (Client::new("shell", "1.0"), "sunny"),
        // It declares the extension without the MIME type of views.
        (Client::new("old", "1.0").extension(&EXTENSION), "sunny"),
    ] {
        let client = connected(client, Revision::HUB).await;
        let declared = client.peer().info().unwrap().server_capabilities().extensions.unwrap();
        assert!(declared.contains_key(EXTENSION.id));
        let result = client.call_tool("weather", ()).await.unwrap();
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(result["content"][0]["text"], said);
    }
}

#[test]
fn the_content_security_policy_ignores_domains_that_are_not_plain_origins() {
    let hostile = [
        "*",
        "https:",
        "https://a.com; script-src *",
        "'self'",
        "data:",
        "javascript://a",
        "https://a.com/path'",
        "https://",
    ];
    let asked = mcp_runtime::apps::mcp_ext_apps::McpUiResourceCsp::default()
        .with_connect_domains(hostile.map(str::to_owned).to_vec())
        .with_resource_domains(hostile.map(str::to_owned).to_vec());
    assert_eq!(content_security_policy(Some(&asked)), content_security_policy(None));
}

#[test]
fn view_uris_must_use_the_ui_scheme() {
    let refused = try_ui_resource("https://example.com/chart", "chart").unwrap_err();
    assert!(refused.to_string().contains("begins with `ui://`"), "{refused}");
}

/// Exchanges the messages of a host and a view one by one, as their types.
#[tokio::test]
async fn messages_between_host_and_view_decode_and_validate() {
    let host = connected(Client::new("host", "1.0").views(), Revision::HUB).await;
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "ui/initialize",
        "params": {"protocolVersion": "2026-01-26", "appInfo": {"name": "chart", "version": "1.0"}, "appCapabilities": {}},
    });
    let message: FromView = from_str(&initialize.to_string()).unwrap();
    let Message::Request(call) = message else { panic!() };
    let ClientRequest::Initialize(request) = call.request else {
        panic!()
    };
    request.validate().unwrap();
    let result = McpUiInitializeResult::new(
        request.params.protocol_version,
        McpUiHostCapabilities::default(),
        McpUiHostContext::default(),
        from_str(r#"{"name": "host", "version": "1.0"}"#).unwrap(),
    );
    result.validate().unwrap();

    let initialized = json!({"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}});
    let message: FromView = from_str(&initialized.to_string()).unwrap();
    let Message::Notification(notice) = message else {
        panic!()
    };
    assert!(matches!(notice.notification, ClientNotification::Initialized(_)));

    // A request of the protocol is passed on to the server.
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "reload"}});
    let message: FromView = from_str(&call.to_string()).unwrap();
    let Message::Request(call) = message else { panic!() };
    let ClientRequest::Unknown(request) = call.request else {
        panic!()
    };
    assert_eq!(request.method, "tools/call");
    let result = host.call_tool("reload", ()).await.unwrap();

    let input = tool_input(Some(json!({"city": "Bern"}).into()));
    input.validate().unwrap();
    let result = tool_result(&result).unwrap();
    result.validate().unwrap();
    let json = RawJson::from_encode(&result).unwrap();
    let message = json!({"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": json.get("params").unwrap().parse::<Value>().unwrap()});
    assert_eq!(message["params"]["content"][0]["text"], "sunny");
    let message: ToView = from_str(&message.to_string()).unwrap();
    assert!(matches!(message, Message::Notification(_)));
}
