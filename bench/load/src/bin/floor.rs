//! The least that a server over standard streams can do: it reads, finds the id of each request, and writes the request back as
//! the result. `calls` measures other servers beside it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use serde::Deserialize;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
}

fn main() -> io::Result<()> {
    // Without the buffers of the standard streams: what came together is answered by one write.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (mut chunk, mut rest, mut answers) = (vec![0; CHUNK], Vec::new(), Vec::new());
    loop {
        let read = input.read(&mut chunk)?;
        if read == 0 {
            return Ok(());
        }
        rest.extend_from_slice(chunk.get(..read).unwrap_or_default());
        let mut done = 0;
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else { break };
            done += line.len() + 1;
            if let Message { id: Some(id) } = serde_json::from_slice(line)? {
                write!(answers, r#"{{"jsonrpc":"2.0","id":{id},"result":"#)?;
                answers.extend_from_slice(line);
                answers.extend_from_slice(b"}\n");
            }
        }
        rest.drain(..done);
        output.write_all(&answers)?;
        answers.clear();
    }
}
