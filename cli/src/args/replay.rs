//! The arguments of `replay`.

use std::path::PathBuf;

use super::{ReportFormat, ServerArgs};
use crate::pointer::Pointer;
use crate::transcript::Side;

/// Replay the client of a recorded session against a server, and compare the responses
///
/// Reads a transcript of `mcp-rev bridge --record`. Each session gets its own connection. The client's messages are
/// sent again with the same ids, each after the responses that preceded it in the recording. Requests of the server get
/// the recorded responses. Each response and each request of the server is compared with the recorded one, by value.
/// Notifications aren't compared.
///
/// The server uses its own session ids and request ids, and can negotiate another revision, which the HTTP headers then
/// name. Cursors, request states and task ids (`nextCursor`, `requestState`, `taskId`) aren't compared: the client
/// sends those that the server returns now.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mcp-rev replay [OPTIONS] <FILE> <URL|--config FILE|-- COMMAND...>",
    after_help = "\
Exit status:
  0  the server responds as recorded
  1  it doesn't, or has ended earlier
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
    /// The side of the bridge whose sessions are replayed
    #[arg(long, value_enum, default_value = "server")]
    pub side: Side,
    /// Replay only this session; may be given several times. With --revision, only sessions of that revision are
    /// replayed
    #[arg(long = "session", value_name = "NUMBER")]
    pub sessions: Vec<u64>,
    /// A value that isn't compared, such as /result/content/0/text or /error/data; may be given several times
    ///
    /// The pointer is a JSON Pointer into a response, or into a request of the server (/params/…). `*` matches any name
    /// or index.
    #[arg(long = "ignore", value_name = "POINTER")]
    pub ignored: Vec<Pointer>,
    /// How to print the report
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
    #[command(flatten)]
    pub server: ServerArgs,
}
