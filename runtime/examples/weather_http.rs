//! The weather server over HTTP, on a local port that it prints.

use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::{Args, Router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// A city, such as Bern.
    city: String,
}

fn weather(Args(place): Args<Place>) -> String {
    format!("In {}, the sun shines", place.city)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather of a city", weather);
    serve(listener, HttpServer::new(weather)).await;
    Ok(())
}
