//! The client of every revision, whose sessions last longer than a request.

mod connection;
mod exchange;
mod http_client;
mod legacy;
mod opening;
mod options;
mod renewal;
mod state;
mod stream;

pub use self::http_client::{HttpClient, HttpReceiver, HttpSender};
pub use self::options::{HttpExchange, HttpOptions};
use super::{authorization, awaited, body, classify, deliver, error, events, poster, response, stateless, tools};
