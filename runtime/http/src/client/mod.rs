//! Clients over HTTP: one of every revision, and one of stateless revisions that needs no more than a function which sends HTTP requests.

#[cfg(feature = "client")]
mod authorization;
mod awaited;
mod body;
mod caller;
mod classify;
#[cfg(feature = "client")]
mod connection;
mod deliver;
mod error;
mod events;
#[cfg(feature = "client")]
mod exchange;
#[cfg(all(feature = "fetch", target_family = "wasm", target_os = "unknown"))]
mod fetch;
#[cfg(feature = "client")]
mod http_client;
#[cfg(feature = "client")]
mod legacy;
#[cfg(feature = "client")]
mod opening;
#[cfg(feature = "client")]
mod options;
mod poster;
#[cfg(feature = "client")]
mod renewal;
mod response;
mod sse;
#[cfg(feature = "client")]
mod state;
mod stateless;
#[cfg(feature = "client")]
mod stream;
mod tools;

#[cfg(feature = "client")]
pub use self::authorization::{Attempts, Authorization, AuthorizationError, AuthorizationFuture, Authorize};
pub use self::caller::HttpCaller;
pub use self::error::{HttpError, SessionExpired};
#[cfg(all(feature = "fetch", target_family = "wasm", target_os = "unknown"))]
pub use self::fetch::{FetchBody, FetchError, fetch};
#[cfg(feature = "client")]
pub use self::http_client::{HttpClient, HttpReceiver, HttpSender};
#[cfg(feature = "client")]
pub use self::options::{HttpExchange, HttpOptions};
/// The HTTP library, for header functions and custom clients.
#[cfg(feature = "client")]
pub use reqwest;
