//! A server whose tool has a view: a chart of temperatures, which a host of MCP Apps shows.
//!
//!     cargo run --example apps --features apps

use mcp_runtime::apps::{Apps, ToolView, ui_resource};
use mcp_runtime::router::{Args, Structured, tool};
use mcp_runtime::transport::stdio;
use mcp_runtime::{Options, Router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// A city, such as Bern.
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Week {
    city: String,
    /// The temperature of each day in degrees Celsius.
    celsius: Vec<f64>,
}

fn week(Args(place): Args<Place>) -> Structured<Week> {
    let first = f64::from(u8::try_from(place.city.len()).unwrap_or(u8::MAX));
    let days = [0.0, 1.5, 3.0, 2.0, -1.0, -2.5, 0.5];
    Structured(Week {
        city: place.city,
        celsius: days.iter().map(|day| first + day).collect(),
    })
}

/// The server.
pub fn router() -> Router {
    // The document needs nothing else, so its frame can deny it all external access.
    let chart = ui_resource("ui://weather/week", "week").title("Chart of a week");
    Router::new("weather", "1.0")
        .extension(Apps)
        .with(chart.html(include_str!("week.html")))
        .with(tool("week", "The temperatures of a week", week).ui("ui://weather/week"))
}

#[tokio::main]
async fn main() -> Result<(), std::io::Error> {
    router().serve(Options::default(), stdio()?).closed().await;
    Ok(())
}
