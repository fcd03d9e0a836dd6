//! The server, which runs on a port and as a function.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_runtime::router::{Answer, Call};
use mcp_runtime::{Args, CallError, Router, hub};
use schemars::JsonSchema;
use serde::Deserialize;

/// A city, which a header of the request repeats.
#[derive(Deserialize, JsonSchema)]
struct Place {
    #[schemars(extend("x-mcp-header" = "City"))]
    city: String,
}

/// A user.
#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
}

/// Reports progress, and returns the weather.
async fn weather(Args(Place { city }): Args<Place>, call: Call) -> Result<String, CallError> {
    call.progress(0.5, Some(1.0), None).await?;
    Ok(format!("sunny in {city}"))
}

/// Asks for the user's name.
async fn greet(call: Call) -> Result<String, CallError> {
    match call.elicit("Who are you?").await? {
        Answer::Accepted(Person { name }) => Ok(format!("Hello, {name}")),
        Answer::Declined | Answer::Cancelled => Ok("Hello".to_owned()),
    }
}

/// Notifies the client that the list of tools has changed.
async fn change(call: Call) -> Result<&'static str, CallError> {
    call.peer()
        .notify(hub::ToolListChangedNotification::default().into())
        .await?;
    Ok("changed")
}

/// The state of a call that never ends on its own.
#[derive(Default)]
struct Lasting {
    began: AtomicBool,
    ended: AtomicBool,
}

/// Records that the call's future was dropped.
struct Ends(Arc<Lasting>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Relaxed);
    }
}

/// Returns the server.
#[must_use]
pub fn router() -> Router {
    let lasting = Arc::<Lasting>::default();
    let of_status = Arc::clone(&lasting);
    Router::new("web", "1.0")
        .tool("weather", "Get the current weather of a city", weather)
        .tool("greet", "Greets the user", greet)
        .tool("change", "Notifies that the list of tools has changed", change)
        .tool("last", "Runs until it is cancelled", move || {
            let ends = Ends(Arc::clone(&lasting));
            async move {
                ends.0.began.store(true, Ordering::Relaxed);
                pending::<&str>().await
            }
        })
        .tool("status", "Get the state of the call of last", move || {
            match (
                of_status.began.load(Ordering::Relaxed),
                of_status.ended.load(Ordering::Relaxed),
            ) {
                (false, _) => "not begun",
                (true, false) => "begun",
                (true, true) => "ended",
            }
        })
}
