//! A server with one tool, on its own standard input and output.

use mcp_runtime::transport::stdio;
use mcp_runtime::{Options, Router, Structured};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// A city, such as Bern.
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let router = Router::new("weather", "1.0").tool("weather", "Tells the weather", |place: Place, _| async move {
        match place.city.as_str() {
            "Bern" => Ok(Structured(Weather { celsius: 21.5 })),
            city => Err(format!("nobody has measured in {city}")),
        }
    });
    router
        .serve(Options::default(), stdio::own(stdio::Limits::default())?)
        .ended()
        .await;
    Ok(())
}
