//! The commands that are clients of a server.

mod arguments;
mod authorization;
mod call;
mod complete;
mod connection;
mod content;
mod handler;
mod input_requests;
mod inspect;
mod listen;
mod ping;
mod progress;
mod prompt;
mod read;
mod request;
mod set_level;
mod target;
mod tool;

use std::future::Future;
use std::io;

use mcp_runtime::{Capable, ClientSession, ClientSide, Peer};
use serde::Serialize;
use tokio::sync::mpsc;

use self::connection::connect;
use self::handler::Client;
use crate::args::{ClientArgs, Format, ServerArgs};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

pub use self::authorization::{data_file, http_options};
pub use self::call::{call, call_with};
pub use self::complete::complete;
pub use self::connection::{connect_watched, log, show_messages};
pub use self::content::shown;
pub use self::inspect::{inspect, inspect_with, interface_of, snapshot};
pub use self::listen::listen;
pub use self::ping::{ping, ping_with};
pub use self::prompt::{prompt, prompt_with};
pub use self::read::{read, read_with};
pub use self::request::{request, request_with};
pub use self::set_level::{set_level, set_level_with};
pub use self::target::{command_of, connect as connect_to, missing_server, servers_of, without_servers};
pub use self::tool::{tool, tool_with};

/// Runs a command to its end.
pub fn block_on<T>(command: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(command);
    // Don't wait for a prompt on the terminal that the user hasn't answered.
    runtime.shutdown_background();
    done
}

/// The destination and format of the results of commands.
pub struct ResultWriter<'a> {
    pub format: Format,
    pub output: &'a mut dyn Paint,
}

impl ResultWriter<'_> {
    /// Writes a result as one JSON value, or as text.
    fn write<T: Serialize>(
        &mut self,
        result: &T,
        text: impl FnOnce(&T, &mut dyn Paint) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.format {
            Format::Json => writeln!(self.output, "{}", serde_json::to_string(result)?),
            Format::Text => text(result, self.output),
        }
    }
}

/// Uses a server in a session whose requests don't lead to input requests.
fn in_session<T>(
    server: &ServerArgs,
    handler: impl Capable,
    using: impl AsyncFnOnce(&Peer<ClientSide>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    block_on(async {
        let session = connect(server, handler, None, server.timeout(false)).await?;
        let used = using(session.peer()).await;
        session.close().await;
        used
    })
}

/// Starts a session with a server that can request input before it responds.
pub async fn begin(args: &ClientArgs) -> Result<ClientSession, CommandError> {
    let client = Client::new(args)?;
    connect(&args.server, client, args.log.clone(), args.server.timeout(true)).await
}

/// Uses a session, and shows the progress of its requests.
pub async fn with_progress<T>(
    peer: &Peer<ClientSide>,
    using: impl AsyncFnOnce(&Peer<ClientSide>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let (progress, shown) = mpsc::channel(16);
    let showing = tokio::spawn(progress::show_progress(shown));
    let peer = peer.clone().with_progress(progress);
    let used = using(&peer).await;
    drop(peer);
    // All progress has been shown when the last handle of the peer is dropped.
    let _ = showing.await;
    used
}

/// Uses a server that can request input before it responds, and shows the progress of its requests.
fn with_server(
    args: &ClientArgs,
    mut output: impl Paint,
    using: impl AsyncFnOnce(&Peer<ClientSide>, &mut ResultWriter<'_>) -> Result<Summary, CommandError>,
) -> Result<Summary, CommandError> {
    block_on(async {
        let session = begin(args).await?;
        let format = args.format;
        let shown = &mut ResultWriter {
            format,
            output: &mut output,
        };
        let used = with_progress(session.peer(), async |peer| using(peer, shown).await).await;
        session.close().await;
        output.flush()?;
        used
    })
}
