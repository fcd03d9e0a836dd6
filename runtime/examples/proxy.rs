//! A proxy that uses only the types and conversions: `proxy CLIENT-REVISION SERVER-REVISION COMMAND…`.
//!
//! A client of one revision is on the standard input and output, and the command is a server of another. Both revisions
//! start with `initialize`. Each message is converted to the revision of the other side, and losses are reported on the
//! standard error. The proxy has no session, so it sends no messages of its own; `mcp-rev bridge` does more.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use mcp_adapters::mcp_wire::RawJson;
use mcp_adapters::{Policy, Revision, translate};
use serde_json::{Value, json};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// One direction of the proxy.
struct Way<'a> {
    from: Revision,
    to: Revision,
    /// The methods of the requests that went in this direction and have no response yet, by their ids.
    asked: &'a Mutex<HashMap<String, String>>,
    /// Those that went in the other direction.
    answered: &'a Mutex<HashMap<String, String>>,
}

impl Way<'_> {
    /// Passes on messages until there are no more.
    fn pass(&self, from: impl BufRead, mut to: impl Write) -> Result<(), AnyError> {
        for line in from.lines() {
            let message = self.message(serde_json::from_str(&line?)?)?;
            writeln!(to, "{message}")?;
            to.flush()?;
        }
        Ok(())
    }

    fn message(&self, mut message: Value) -> Result<Value, AnyError> {
        let id = message["id"].to_string();
        if let Some(name) = message["method"].as_str().map(str::to_owned) {
            let method = self.from.method(&name).ok_or("the revision has no such method")?;
            if message.get("id").is_some() {
                self.asked.lock().map_err(|_| "the other way failed")?.insert(id, name);
            }
            let message = self.value(method.definition, &message)?;
            return Ok(self.with_version(message, "params"));
        }
        let asked = self.answered.lock().map_err(|_| "the other way failed")?.remove(&id);
        let method = asked.and_then(|name| self.from.method(&name));
        if let (Some(method), Some(result)) = (method, message.get("result")) {
            message["result"] = match method.results.first() {
                Some(definition) => self.value(definition, result)?,
                None => result.clone(),
            };
        }
        Ok(self.with_version(message, "result"))
    }

    /// Converts a value to the revision of the other side.
    fn value(&self, definition: &str, value: &Value) -> Result<Value, AnyError> {
        let name = definition.rsplit('/').next().unwrap_or_default();
        let value = RawJson::from(value);
        let translated = translate(self.from, self.to, name, value.text().as_bytes(), Policy::Conform)
            .map_err(|error| error.reason())?;
        for loss in &translated.losses {
            eprintln!("{name}: {loss}");
        }
        Ok(translated.value.parse()?)
    }

    /// Replaces the protocol version in a message by that of the other side, if the message names one.
    fn with_version(&self, mut message: Value, member: &str) -> Value {
        if let Some(version) = message.pointer_mut(&format!("/{member}/protocolVersion")) {
            *version = json!(self.to.as_str());
        }
        message
    }
}

fn main() -> Result<(), AnyError> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || {
        arguments
            .next()
            .ok_or("usage: proxy CLIENT-REVISION SERVER-REVISION COMMAND…")
    };
    let (client, server): (Revision, Revision) = (next()?.parse()?, next()?.parse()?);
    let mut child = Command::new(next()?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (input, output) = (input.ok_or("no input")?, output.ok_or("no output")?);
    let (of_client, of_server) = (Mutex::default(), Mutex::default());
    let there = Way {
        from: client,
        to: server,
        asked: &of_client,
        answered: &of_server,
    };
    let back = Way {
        from: server,
        to: client,
        asked: &of_server,
        answered: &of_client,
    };
    thread::scope(|scope| {
        let there = scope.spawn(move || there.pass(io::stdin().lock(), input));
        let back = scope.spawn(move || back.pass(BufReader::new(output), io::stdout()));
        let ended = |way: thread::ScopedJoinHandle<'_, Result<(), AnyError>>| way.join().map_err(|_| "it panicked")?;
        ended(there).and(ended(back))
    })?;
    child.wait()?;
    Ok(())
}
