//! Clients over HTTP: one of every revision, and one of stateless revisions that needs no more than a function which sends HTTP requests.

#[cfg(feature = "client")]
mod authorization;
mod awaited;
mod body;
mod caller;
mod classify;
mod deliver;
mod error;
mod events;
#[cfg(all(feature = "fetch", target_family = "wasm", target_os = "unknown"))]
mod fetch;
mod poster;
mod response;
#[cfg(feature = "client")]
mod session;
mod sse;
mod stateless;
mod tools;

#[cfg(feature = "client")]
pub use self::authorization::{Attempts, Authorization, AuthorizationError, AuthorizationFuture, Authorize};
pub use self::caller::HttpCaller;
pub use self::error::{HttpError, SessionExpired};
#[cfg(all(feature = "fetch", target_family = "wasm", target_os = "unknown"))]
pub use self::fetch::{FetchBody, FetchError, fetch};
#[cfg(feature = "client")]
pub use self::session::{HttpClient, HttpExchange, HttpOptions, HttpReceiver, HttpSender};
/// The HTTP library, for header functions and custom clients.
#[cfg(feature = "client")]
pub use reqwest;
