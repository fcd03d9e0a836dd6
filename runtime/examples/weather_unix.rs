//! The weather server on a Unix socket: `weather_unix serve PATH` runs until an interrupt, and `weather_unix call PATH
//! CITY` calls it.

#[cfg(unix)]
mod unix {
    use std::error::Error;

    use mcp_runtime::transport::unix::{UnixListener, connect, serve};
    use mcp_runtime::{Args, Client, Options, Router};
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    #[derive(Deserialize, JsonSchema)]
    struct Location {
        /// A city, such as Bern.
        city: String,
    }

    fn weather(Args(location): Args<Location>) -> Result<&'static str, String> {
        let measured = (location.city == "Bern").then_some("21.5 °C");
        measured.ok_or_else(|| format!("no measurement for {}", location.city))
    }

    async fn server(path: &str) -> Result<(), Box<dyn Error>> {
        let router = Router::new("weather", "1.0").tool("weather", "Get the current weather of a city", weather);
        let listener = UnixListener::bind(path).await?;
        println!("{}", listener.path().display());
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        tokio::spawn(async move {
            let _ = tokio::signal::ctrl_c().await;
            stop.cancel();
        });
        // All sessions share the router's state.
        let start = move |client| router.clone().serve(Options::default(), client);
        serve(listener, start).shutdown(shutdown).await;
        Ok(())
    }

    async fn client(path: &str, city: &str) -> Result<(), Box<dyn Error>> {
        let session = Client::new("weather-client", "1.0")
            .connect(connect(path).await?)
            .await?;
        let result = session.call_tool("weather", json!({"city": city})).await?;
        println!("{}", serde_json::to_string(&result.content)?);
        session.close().await;
        Ok(())
    }

    #[tokio::main(flavor = "current_thread")]
    pub async fn main() -> Result<(), Box<dyn Error>> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match arguments[..] {
            ["serve", path] => server(path).await,
            ["call", path, city] => client(path, city).await,
            _ => Err("usage: weather_unix serve PATH | weather_unix call PATH CITY".into()),
        }
    }
}

#[cfg(unix)]
use unix::main;

#[cfg(not(unix))]
fn main() {}
