//! Clients over HTTP: one for all revisions, and one for stateless revisions that only needs a function that sends HTTP
//! requests.

mod body;
mod caller;
mod classify;
mod deliver;
mod error;
mod events;
#[cfg(all(feature = "fetch", target_family = "wasm", target_os = "unknown"))]
mod fetch;
mod pending_response;
mod poster;
mod response;
#[cfg(feature = "client")]
mod session;
mod sse;
mod stateless;
mod tools;

pub use self::caller::HttpCaller;
pub use self::error::{AuthorizationError, HttpError, SessionExpired};
#[cfg(all(feature = "fetch", target_family = "wasm", target_os = "unknown"))]
pub use self::fetch::{FetchBody, FetchError, fetch};
#[cfg(feature = "client")]
pub use self::session::{
    Attempts, Authorization, AuthorizationFuture, Authorize, HttpClient, HttpExchange, HttpOptions, HttpReceiver,
    HttpSender, reqwest,
};
