//! The client for all revisions, with sessions that outlive a request.

mod authorization;
mod connection;
mod exchange;
mod http_client;
mod legacy;
mod opening;
mod options;
mod renewal;
mod state;
mod stream;

pub use self::authorization::{Attempts, Authorization, AuthorizationFuture, Authorize};
pub use self::http_client::{HttpClient, HttpReceiver, HttpSender};
pub use self::options::{HttpExchange, HttpOptions};
use super::{body, classify, deliver, error, events, pending_response, poster, response, stateless, tools};
/// The HTTP library, for header functions and custom clients.
pub use reqwest;
