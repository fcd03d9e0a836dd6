//! Middleware that many servers need: limits of time, of concurrent calls and of the rate of each principal, a cache,
//! logging, and tower layers.
//!
//! ```
//! use std::time::Duration;
//!
//! use mcp_runtime::Router;
//! use mcp_runtime::middleware::{ConcurrencyLimit, Logging, RateLimit, TimeLimit};
//! use mcp_runtime::router::tool;
//!
//! let search = tool("search", "Searches", || "nothing").layer(TimeLimit::new(Duration::from_secs(5)));
//! let router = Router::new("wiki", "1.0")
//!     .with(search)
//!     .layer(ConcurrencyLimit::new(64))
//!     .layer(RateLimit::new(100, Duration::from_secs(60)))
//!     .layer(Logging);
//! ```

mod cache;
mod limits;
mod logging;
mod rate;
mod tower;

use mcp_adapters::hub;

pub use self::cache::Cache;
pub use self::limits::{ConcurrencyLimit, TimeLimit};
pub use self::logging::Logging;
pub use self::rate::RateLimit;
pub use self::tower::{TowerCall, TowerLayer, TowerService};

/// Whether limits apply to a request: to calls of tools, and to all other requests except for lists.
fn is_call(request: &hub::ClientRequest) -> bool {
    use hub::ClientRequest as Request;
    !matches!(
        request,
        Request::ListTools(_) | Request::ListPrompts(_) | Request::ListResources(_) | Request::ListResourceTemplates(_)
    )
}
