//! A proxy with only rmcp's types: it starts the server named in its argument, passes on each message, and adds a
//! prefix to the descriptions of tools.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage, ServerResult};

fn from_client(line: &str) -> serde_json::Result<String> {
    let message: ClientJsonRpcMessage = serde_json::from_str(line)?;
    serde_json::to_string(&message)
}

fn from_server(line: &str) -> serde_json::Result<String> {
    let mut message: ServerJsonRpcMessage = serde_json::from_str(line)?;
    if let JsonRpcMessage::Response(response) = &mut message
        && let ServerResult::ListToolsResult(list) = &mut response.result
    {
        for tool in &mut list.tools {
            let description = tool.description.take().unwrap_or_default();
            tool.description = Some(format!("[proxied] {description}").into());
        }
    }
    serde_json::to_string(&message)
}

/// Passes on messages until the input ends.
fn pass(from: impl BufRead, mut to: impl Write, change: impl Fn(&str) -> serde_json::Result<String>) -> io::Result<()> {
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
    thread::spawn(move || pass(io::stdin().lock(), input, from_client));
    pass(output, io::stdout(), from_server)?;
    server.wait()?;
    Ok(())
}
