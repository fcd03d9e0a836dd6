//! The arguments of `replay`.

use std::path::PathBuf;

use super::{ReportFormat, ServerArgs};
use crate::pointer::Pointer;
use crate::transcript::Side;

/// Play the client of a recorded session with a server, and compare the answers
///
/// Reads a transcript of `mcp-rev bridge --record`. Each session has a connection of its own. What the client has sent is sent again with
/// the same ids, each message after the responses that came before it in the recording. What the server asks is answered as it was then.
/// Each response and each request of the server is compared with the recorded one, by value. Notifications aren't compared.
///
/// The server has its own session ids and ids of requests, and may agree to another revision, which HTTP headers then name. Cursors,
/// states of requests with several rounds, and ids of tasks (`nextCursor`, `requestState`, `taskId`) aren't compared: the client sends
/// those that the server gives now.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev replay [OPTIONS] <FILE> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Exit status:
  0  the server answers as recorded
  1  it doesn't
  2  wrong arguments, or a file that isn't a transcript
  3  no session with the server: it can't be started or reached

Examples:
  mcp-rev bridge --record session.jsonl -- python server.py
  mcp-rev replay session.jsonl -- python server.py
  mcp-rev replay session.jsonl --ignore /result/serverInfo/version --format json https://example.org/mcp"
)]
pub struct ReplayArgs {
    /// The transcript
    #[arg(value_name = "FILE")]
    pub transcript: PathBuf,
    /// The side of the bridge whose sessions are played
    #[arg(long, value_enum, default_value = "server")]
    pub side: Side,
    /// Play only this session; may be given several times. With --revision, only sessions of that revision are played
    #[arg(long = "session", value_name = "NUMBER")]
    pub sessions: Vec<u64>,
    /// A place that isn't compared, such as /result/content/0/text or /error/data; may be given several times
    ///
    /// It is a JSON pointer in a response, or in a request of the server (/params/…). In place of a name or an index, `*` stands for any.
    #[arg(long = "ignore", value_name = "POINTER")]
    pub ignored: Vec<Pointer>,
    /// How to print the report
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
    #[command(flatten)]
    pub server: ServerArgs,
}
