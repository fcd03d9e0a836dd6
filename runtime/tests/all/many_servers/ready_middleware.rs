//! The ready-made middleware, around a router and around one route.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::middleware::{Cache, ConcurrencyLimit, Logging, RateLimit, TimeLimit};
use mcp_runtime::router::tool;
use mcp_runtime::transport::channel;
use mcp_runtime::{Client, ClientSession, Options, Router, Structured};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;

use crate::common::stateless;

async fn session(router: Router, principal: &str) -> ClientSession {
    let (server, transport) = channel(16);
    drop(router.serve(Options::default(), server));
    let options = Options {
        supported: vec![stateless()],
        ..Options::default()
    };
    let client = Client::new("app", "1.0").options(options);
    client
        .connect(transport.principal(principal))
        .await
        .expect("it connects")
}

#[tokio::test]
async fn a_time_limit_on_a_route_ends_only_calls_of_that_route() {
    let slow = tool("slow", "Never ends", std::future::pending::<()>);
    let quick = TimeLimit::new(Duration::from_millis(5));
    let router = Router::new("clock", "1.0")
        .with(slow.layer(quick))
        .tool("time", "Tells the time", || "noon");
    let session = session(router, "ada").await;
    let error = session.call_tool("slow", ()).await.unwrap_err().to_string();
    assert!(error.contains("the call took longer than 5ms"), "{error}");
    assert!(session.call_tool("time", ()).await.is_ok());
}

#[tokio::test]
async fn a_concurrency_limit_bounds_the_calls_handled_at_once() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (gate, counted) = (Arc::new(Notify::new()), Arc::clone(&most));
    let opened = Arc::clone(&gate);
    let work = move || {
        let (running, most, gate) = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&gate));
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            gate.notified().await;
            running.fetch_sub(1, Ordering::SeqCst);
        }
    };
    let router = Router::new("work", "1.0")
        .tool("work", "Works", work)
        .layer(ConcurrencyLimit::new(2));
    let session = session(router, "ada").await;
    let calls = async {
        tokio::join!(
            session.call_tool("work", ()),
            session.call_tool("work", ()),
            session.call_tool("work", ())
        )
    };
    let opening = async {
        loop {
            opened.notify_one();
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        (one, two, three) = calls => assert!(one.is_ok() && two.is_ok() && three.is_ok()),
        () = opening => {}
    }
    assert_eq!(counted.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn each_principal_has_its_own_rate_limit_and_lists_are_exempt() {
    let router = Router::new("clock", "1.0")
        .tool("time", "Tells the time", || "noon")
        .layer(RateLimit::new(1, Duration::from_secs(3600)))
        .layer(Logging);
    let (ada, bob) = (session(router.clone(), "ada").await, session(router, "bob").await);
    assert!(ada.call_tool("time", ()).await.is_ok());
    let error = ada.call_tool("time", ()).await.unwrap_err();
    let error = error.error_object().expect("the server refuses");
    let wait = error
        .data
        .as_ref()
        .and_then(|data| data.get("retryAfterMs")?.parse::<u64>().ok());
    assert!(wait.is_some_and(|wait| wait > 3_000_000), "{error:?}");
    assert!(bob.call_tool("time", ()).await.is_ok());
    assert_eq!(ada.list_tools().await.unwrap().len(), 1);
}

#[tokio::test]
async fn successful_results_are_cached_per_principal_and_arguments() {
    #[derive(Deserialize, JsonSchema)]
    struct City {
        city: String,
    }
    let called = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&called);
    let weather = tool(
        "weather",
        "Gets the weather",
        move |mcp_runtime::Args(city): mcp_runtime::Args<City>| {
            count.fetch_add(1, Ordering::SeqCst);
            (city.city != "Atlantis")
                .then_some("sunny")
                .ok_or("there is no such city")
        },
    );
    let router = Router::new("weather", "1.0").with(weather.layer(Cache::new(Duration::from_secs(60))));
    let (ada, bob) = (session(router.clone(), "ada").await, session(router, "bob").await);
    for (session, city, calls) in [
        (&ada, "Bern", 1),
        (&ada, "Bern", 1),
        (&ada, "Basel", 2),
        (&bob, "Bern", 3),
        (&ada, "Atlantis", 4),
        (&ada, "Atlantis", 5),
    ] {
        session.call_tool("weather", json!({"city": city})).await.unwrap();
        assert_eq!(called.load(Ordering::SeqCst), calls, "{city}");
    }
}

#[tokio::test]
async fn the_cache_evicts_results_over_its_size_limit() {
    #[derive(Deserialize, JsonSchema)]
    struct Text {
        text: String,
    }
    let called = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&called);
    let echo = tool(
        "echo",
        "Gives its text back",
        move |mcp_runtime::Args(Text { text }): mcp_runtime::Args<Text>| {
            count.fetch_add(1, Ordering::SeqCst);
            text
        },
    );
    let cache = Cache::new(Duration::MAX).bytes(1_000);
    let session = session(Router::new("echo", "1.0").with(echo.layer(cache)), "ada").await;
    // The limit holds two of these, with their arguments.
    let text = |letter: char| letter.to_string().repeat(150);
    let large = "x".repeat(1_000);
    for (text, calls) in [
        (text('a'), 1),
        (text('b'), 2),
        (text('a'), 2),
        (large.clone(), 3),
        (large, 4),
        (text('b'), 4),
        (text('c'), 5),
        (text('c'), 5),
        (text('a'), 6),
    ] {
        session.call_tool("echo", json!({"text": text})).await.unwrap();
        assert_eq!(called.load(Ordering::SeqCst), calls, "{text}");
    }
}

#[tokio::test]
async fn a_tower_layer_wraps_all_calls_of_a_tool() {
    use mcp_runtime::middleware::{TowerCall, TowerLayer, TowerService};
    use std::task::{Context, Poll};
    use tower_service::Service;

    /// Lets one call pass, and refuses all later ones.
    struct Once {
        inner: TowerService,
        is_used: bool,
    }

    impl Service<TowerCall> for Once {
        type Response = <TowerService as Service<TowerCall>>::Response;
        type Error = Box<dyn std::error::Error + Send + Sync>;
        type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
            match self.is_used {
                true => Poll::Ready(Err("it was used".into())),
                false => Poll::Ready(Ok(())),
            }
        }

        fn call(&mut self, call: TowerCall) -> Self::Future {
            self.is_used = true;
            let called = self.inner.call(call);
            Box::pin(async move { Ok(called.await?) })
        }
    }

    let once = tower_layer::layer_fn(|inner| Once { inner, is_used: false });
    let time = tool("time", "Tells the time", || "noon").layer(TowerLayer::new(&once));
    let session = session(Router::new("clock", "1.0").with(time), "ada").await;
    assert!(session.call_tool("time", ()).await.is_ok());
    let error = session.call_tool("time", ()).await.unwrap_err().to_string();
    assert!(error.contains("it was used"), "{error}");
}

#[tokio::test]
async fn a_custom_method_takes_and_returns_types_and_can_fail_with_any_error() {
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    struct Vote {
        page: String,
    }
    fn vote(mcp_runtime::Args(vote): mcp_runtime::Args<Vote>) -> Result<Structured<Vote>, std::num::ParseIntError> {
        let page: u32 = vote.page.parse()?;
        Ok(Structured(Vote {
            page: (page + 1).to_string(),
        }))
    }
    let router = Router::new("wiki", "1.0").custom_method("example/vote", vote);
    let session = session(router, "ada").await;
    let next: Vote = session
        .peer()
        .call_method("example/vote", json!({"page": "1"}))
        .await
        .unwrap();
    assert_eq!(next.page, "2");
    let failed = session
        .peer()
        .call_method::<Vote>("example/vote", json!({"page": "one"}))
        .await;
    assert!(failed.unwrap_err().to_string().contains("invalid digit"));
}

/// Tells the time,
/// as the server's clock has it.
#[mcp_runtime::tool(title = "Time", read_only, open_world = false)]
async fn time(_call: mcp_runtime::router::Call) -> &'static str {
    "noon"
}

#[tokio::test]
async fn the_tool_attribute_uses_the_name_and_documentation_of_the_function() {
    let session = session(Router::new("clock", "1.0").with(time::tool()), "ada").await;
    let tools = session.list_tools().await.unwrap();
    assert_eq!(tools[0].name, "time");
    let description = "Tells the time,\nas the server's clock has it.";
    assert_eq!(tools[0].description.as_deref(), Some(description));
    assert_eq!(tools[0].title.as_deref(), Some("Time"));
    let hints = json!({"readOnlyHint": true, "openWorldHint": false});
    assert_eq!(json!(tools[0].annotations), hints);
    assert!(session.call_tool("time", ()).await.is_ok());
}

/// Makes a tool whose documentation, visibility and title are parameters of a macro.
macro_rules! described {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident, $second:expr, $title:literal) => {
        $(#[$attribute])*
        #[doc = $second]
        #[mcp_runtime::tool(title = $title)]
        $visibility fn $name() -> &'static str {
            ""
        }
    };
}

#[deny(deprecated)]
mod inner {
    described!(
        /// From a macro,
        pub(super) fn described,
        concat!("and", " evaluated."),
        "Made"
    );

    /// Returns the time.
    #[deprecated(note = "clients have clocks")]
    #[mcp_runtime::tool]
    pub(super) fn old_time() -> &'static str {
        "noon"
    }
}

#[tokio::test]
async fn the_tool_attribute_reads_documentation_in_macros_and_accepts_deprecated_functions() {
    let router = Router::new("clock", "1.0")
        .with(inner::described::tool())
        .with(inner::old_time::tool());
    let session = session(router, "ada").await;
    let tools = session.list_tools().await.unwrap();
    assert_eq!(tools[0].description.as_deref(), Some("From a macro,\nand evaluated."));
    assert_eq!(tools[0].title.as_deref(), Some("Made"));
    assert_eq!(tools[1].name, "old_time");
}
