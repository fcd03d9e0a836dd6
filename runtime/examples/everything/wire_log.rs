//! A log file with every message as it was on the wire.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mcp_runtime::transport::{Inspect, MessageDirection, Transport, inspect};

/// A log file with every message as it was on the wire, if there is one.
#[derive(Clone)]
pub struct WireLog {
    file: Option<Arc<Mutex<File>>>,
    sessions: Arc<AtomicU64>,
}

impl WireLog {
    pub fn open(path: Option<&Path>) -> io::Result<Self> {
        let open = |path| File::options().create(true).append(true).open(path);
        let file = path.map(open).transpose()?;
        Ok(Self {
            file: file.map(|file| Arc::new(Mutex::new(file))),
            sessions: Arc::new(AtomicU64::new(1)),
        })
    }

    /// Logs the messages of a new session.
    pub fn watch<T: Transport>(&self, transport: T) -> Inspect<T> {
        let session = self.sessions.fetch_add(1, Ordering::Relaxed);
        let file = self.file.clone();
        inspect(transport, move |way, json| {
            let Some(file) = &file else { return };
            let way = match way {
                MessageDirection::Received => "in",
                MessageDirection::Sent => "out",
            };
            let message = String::from_utf8_lossy(json);
            let message = message.trim();
            let line = format!("{{\"session\":{session},\"way\":\"{way}\",\"message\":{message}}}\n");
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = file.write_all(line.as_bytes()) {
                eprintln!("the log can't be written: {error}");
            }
        })
    }
}
