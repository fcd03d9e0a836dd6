//! The commands that are clients of a server.

mod arguments;
mod asking;
mod authorization;
mod call;
mod complete;
mod connection;
mod content;
mod handler;
mod inspect;
mod listen;
mod ping;
mod prompt;
mod read;
mod request;
mod set_level;
mod tool;

use std::future::Future;

use mcp_runtime::{ClientSide, Peer};
use tokio::sync::mpsc;

use self::connection::connect;
use self::handler::Client;
use crate::args::ClientArgs;
use crate::error::CommandError;

pub use self::authorization::http_options;
pub use self::call::call;
pub use self::complete::complete;
pub use self::connection::{connect_watched, log, show_messages};
pub use self::inspect::{inspect, interface_of, snapshot};
pub use self::listen::listen;
pub use self::ping::ping;
pub use self::prompt::prompt;
pub use self::read::read;
pub use self::request::request;
pub use self::set_level::set_level;
pub use self::tool::tool;

/// Runs a command to its end.
pub fn block_on<T>(command: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(command);
    // A question on the terminal that nobody has answered isn't waited for.
    runtime.shutdown_background();
    done
}

/// Uses a server that may ask something before it answers, and shows the progress of its answers.
fn with_server<T>(
    args: &ClientArgs,
    using: impl AsyncFnOnce(Peer<ClientSide>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    block_on(async {
        let client = Client::new(args)?;
        let session = connect(&args.server, client, args.log.clone(), args.server.timeout(true)).await?;
        let (progress, shown) = mpsc::channel(16);
        let showing = tokio::spawn(handler::show_progress(shown));
        let used = using(session.peer().clone().with_progress(progress)).await;
        // All progress has been shown when the last handle of the peer is gone.
        let _ = showing.await;
        session.close().await;
        used
    })
}
