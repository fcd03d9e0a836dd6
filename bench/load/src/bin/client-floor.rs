//! A client that does the minimum, as a reference for `clients`: it writes requests with a prepared text and finds the
//! id of each response, in a loop of blocking writes and reads.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use mcp_load::{Turn, stateless_call};
use serde::Deserialize;

/// The revision of the requests, which have no session.
const REVISION: &str = "2026-07-28";
/// The number of bytes per read.
const CHUNK: usize = 64 * 1024;

#[derive(Deserialize)]
struct Response {
    id: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut server = Command::new(std::env::args_os().nth(1).context("name a server")?);
    server.arg("stdio").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn()?;
    let mut input = server.stdin.take().context("no stdin")?;
    let mut output = server.stdout.take().context("no stdout")?;
    Turn::take_all(async |window, text, end| {
        let request = stateless_call(REVISION, 0, "echo", &text);
        let (head, tail) = request.split_once(r#""id":0"#).context("no id")?;
        let (mut chunk, mut rest, mut requests) = (vec![0; CHUNK], Vec::new(), Vec::new());
        let (mut sent, mut received, mut free) = (0, 0, window);
        loop {
            if Instant::now() < end {
                for _ in 0..free {
                    sent += 1;
                    writeln!(requests, r#"{head}"id":{sent}{tail}"#)?;
                }
                input.write_all(&requests)?;
                requests.clear();
            }
            if received == sent {
                return Ok(received);
            }
            let read = output.read(&mut chunk)?;
            ensure!(read > 0, "the server has ended");
            rest.extend_from_slice(chunk.get(..read).unwrap_or_default());
            free = 0;
            let mut done = 0;
            for line in rest.split_inclusive(|byte| *byte == b'\n') {
                let Some(line) = line.strip_suffix(b"\n") else { break };
                done += line.len() + 1;
                let Response { id } = serde_json::from_slice(line)?;
                ensure!(id <= sent, "a response to no request");
                received += 1;
                free += 1;
            }
            rest.drain(..done);
        }
    })
    .await
}
