//! A server with one tool, on its own standard input and output.

use mcp_runtime::{Args, Options, Router, Structured, transport::stdio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Location {
    /// A city, such as Bern.
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
}

async fn weather(Args(location): Args<Location>) -> Result<Structured<Weather>, String> {
    let measured = (location.city == "Bern").then_some(Structured(Weather { celsius: 21.5 }));
    measured.ok_or_else(|| format!("no measurement for {}", location.city))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let router = Router::new("weather", "1.0").tool("weather", "Get the current weather of a city", weather);
    let transport = stdio()?;
    router.serve(Options::default(), transport).ended().await;
    Ok(())
}
