//! Our client and our server over real sockets, at every revision.
#![cfg(all(feature = "http-client", feature = "http-server", feature = "router"))]

use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::transport::http::server::{HttpServer, router};
use mcp_runtime::{
    CallServer, ClientHandler, ClientSide, Context, Options, Revision, Router, Structured, connect, hub,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
}

struct Quiet;

impl ClientHandler<Context<ClientSide>> for Quiet {}

fn weather() -> Router {
    Router::new("weather", "1.0").tool("weather", "Tells the weather", |place: Place, context| async move {
        context
            .progress(1.0, None, None)
            .await
            .map_err(|error| error.to_string())?;
        match place.city.as_str() {
            "Bern" => Ok(Structured(Weather { celsius: 21.5 })),
            city => Err(format!("nobody has measured in {city}")),
        }
    })
}

#[tokio::test]
async fn a_session_over_http_works_at_every_revision() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = router(HttpServer::default(), |transport, _| {
        weather().serve(Options::default(), transport);
    });
    let server = tokio::spawn(async move { axum::serve(listener, app).await });
    for revision in Revision::ALL {
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        let transport = HttpClient::new(&url, HttpOptions::default()).unwrap();
        let info = hub::Implementation::new("client", "1.0");
        let session = connect(Quiet, info, hub::ClientCapabilities::default(), options, transport);
        let session = session.await.unwrap();
        assert_eq!(session.peer().revision(), Some(revision));
        let (progress, mut made) = tokio::sync::mpsc::channel(4);
        let peer = session.peer().clone().with_progress(progress);
        assert_eq!(peer.list_tools(None).await.unwrap().tools.len(), 1);
        let params = hub::CallToolRequestParams::new("weather").with_arguments(json!({"city": "Bern"}));
        let result = peer.call_tool(params).await.unwrap();
        assert!(
            serde_json::to_string(&result.content).unwrap().contains("21.5"),
            "{result:?}"
        );
        assert!(made.try_recv().is_ok(), "progress at {revision}");
        let params = hub::CallToolRequestParams::new("weather").with_arguments(json!({"city": "Rome"}));
        assert_eq!(peer.call_tool(params).await.unwrap().is_error, Some(true));
        session.close().await;
    }
    server.abort();
}
