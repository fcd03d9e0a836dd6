//! The weather over HTTP, on a port of this machine that it prints.

use mcp_runtime::transport::http::server::{HttpServer, router, serve};
use mcp_runtime::{Options, Router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// A city, such as Bern.
    city: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let app = router(HttpServer::default(), |transport, _| {
        let weather =
            Router::new("weather", "1.0").tool("weather", "Tells the weather", |place: Place, _| async move {
                format!("In {}, the sun shines", place.city)
            });
        weather.serve(Options::default(), transport);
    });
    serve(listener, app).await;
    Ok(())
}
