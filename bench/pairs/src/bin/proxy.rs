//! A proxy with only the types: it starts the server named in its argument, passes on each message, and adds a prefix
//! to the descriptions of tools.

use std::collections::HashSet;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mcp_types_2025_11_25::mcp_wire::{self, Message, RawJson, RequestId};
use mcp_types_2025_11_25::{ClientMessage, ClientRequest, ListToolsResult, ServerMessage};

/// The ids of requests for lists of tools that are in flight.
type Lists = Arc<Mutex<HashSet<RequestId>>>;

fn from_client(line: &str, lists: &Lists) -> Result<String, Box<dyn Error>> {
    let message: ClientMessage = mcp_wire::from_str(line)?;
    if let Message::Request(call) = &message
        && let ClientRequest::ListTools(_) = call.request
    {
        let mut lists = lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.insert(call.id.clone());
    }
    Ok(mcp_wire::to_string(&message)?)
}

fn from_server(line: &str, lists: &Lists) -> Result<String, Box<dyn Error>> {
    let mut message: ServerMessage = mcp_wire::from_str(line)?;
    if let Message::Response(response) = &mut message
        && lists
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&response.id)
    {
        let mut list: ListToolsResult = response.result.decode_as()?;
        for tool in &mut list.tools {
            let description = tool.description.take().unwrap_or_default();
            tool.description = Some(format!("[proxied] {description}"));
        }
        response.result = RawJson::from_encode(&list)?;
    }
    Ok(mcp_wire::to_string(&message)?)
}

/// Passes on messages until the input ends.
fn pass(
    from: impl BufRead,
    mut to: impl Write,
    change: impl Fn(&str) -> Result<String, Box<dyn Error>>,
) -> io::Result<()> {
    for line in from.lines() {
        match change(&line?) {
            Ok(line) => writeln!(to, "{line}").and_then(|()| to.flush())?,
            Err(error) => eprintln!("a message is left out: {error}"),
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args_os().nth(1).ok_or("name a server")?;
    let mut server = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = server.stdin.take().ok_or("no input")?;
    let output = BufReader::new(server.stdout.take().ok_or("no output")?);
    let lists = Lists::default();
    let of_client = Arc::clone(&lists);
    thread::spawn(move || pass(io::stdin().lock(), input, |line| from_client(line, &of_client)));
    pass(output, io::stdout(), |line| from_server(line, &lists))?;
    server.wait()?;
    Ok(())
}
