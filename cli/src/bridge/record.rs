//! A transcript of the messages on both sides of the bridge.

use std::fs::File;
use std::io::{LineWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_adapters::mcp_wire::{MessageHeader, OpenJson, RequestId, from_slice};
use mcp_adapters::{Revision, hello};
use mcp_runtime::transport::{Incoming, Outgoing, Receiver, Restart, Sender, Transport, TransportError};
use serde::Serialize;

use super::create;
use crate::error::CommandError;

/// The side of the bridge.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Client,
    Server,
}

/// A message in the transcript.
#[derive(Serialize)]
struct Entry<'m> {
    /// Seconds since 1970.
    time: f64,
    /// The number of the connection.
    session: u64,
    side: Side,
    direction: Direction,
    revision: Option<Revision>,
    message: &'m OpenJson,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    /// By the bridge.
    Received,
    Sent,
}

/// Writes a transcript.
pub struct Recorder {
    file: Mutex<LineWriter<File>>,
    sessions: AtomicU64,
}

impl Recorder {
    pub fn create(file: &Path) -> Result<Self, CommandError> {
        Ok(Self {
            file: Mutex::new(LineWriter::new(create(file)?)),
            sessions: AtomicU64::new(1),
        })
    }
}

/// One connection in the transcript.
struct Connection {
    recorder: Arc<Recorder>,
    session: u64,
    side: Side,
    negotiated: OnceLock<Revision>,
}

impl Connection {
    fn write(&self, direction: Direction, json: &[u8]) {
        // What isn't JSON isn't passed on.
        let Ok(message) = from_slice(json) else { return };
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let entry = Entry {
            time: since.map_or(0.0, |since| since.as_secs_f64()),
            session: self.session,
            side: self.side,
            direction,
            revision: self.revision_of(json),
            message: &message,
        };
        let Ok(line) = serde_json::to_string(&entry) else {
            return;
        };
        let line = line.replace(['\n', '\r'], " ");
        let mut file = self.recorder.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writeln!(file, "{line}") {
            tracing::warn!(%error, "a message isn't written to the transcript");
        }
    }

    /// The revision that a message names, or else that of the session.
    fn revision_of(&self, json: &[u8]) -> Option<Revision> {
        let header = MessageHeader::from_slice(json).ok()?;
        if let Some((revision, _)) = hello::stamped_version::<Revision>(&header).ok().flatten() {
            // The response doesn't name it.
            let _ = self.negotiated.set(revision);
            return Some(revision);
        }
        hello::requested_version(&header).unwrap_or_else(|| self.negotiated.get().copied())
    }
}

/// A transport whose messages are written to a transcript, if there is one.
pub struct Recorded<T> {
    inner: T,
    connection: Option<Arc<Connection>>,
}

impl<T> Recorded<T> {
    pub fn new(inner: T, side: Side, recorder: Option<Arc<Recorder>>) -> Self {
        let connection = recorder.map(|recorder| {
            Arc::new(Connection {
                session: recorder.sessions.fetch_add(1, Ordering::Relaxed),
                recorder,
                side,
                negotiated: OnceLock::new(),
            })
        });
        Self { inner, connection }
    }
}

impl<T: Transport> Transport for Recorded<T> {
    type Sender = Recorded<T::Sender>;
    type Receiver = Recorded<T::Receiver>;

    fn split(self) -> (Self::Sender, Self::Receiver) {
        let (sender, receiver) = self.inner.split();
        let connection = self.connection.clone();
        let sender = Recorded {
            inner: sender,
            connection,
        };
        let receiver = Recorded {
            inner: receiver,
            connection: self.connection,
        };
        (sender, receiver)
    }

    fn restart(&mut self) -> Option<Restart<Self>> {
        let (restart, connection) = (self.inner.restart()?, self.connection.clone());
        Some(Box::new(move || {
            let inner = restart()?;
            Ok(Self { inner, connection })
        }))
    }
}

impl<T: Sender> Sender for Recorded<T> {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        if let Some(connection) = &self.connection {
            connection.write(Direction::Sent, &message.json);
        }
        self.inner.send(message).await
    }

    fn unanswered(&self, ids: &[RequestId]) {
        self.inner.unanswered(ids);
    }

    fn negotiated(&self, revision: Revision) {
        if let Some(connection) = &self.connection {
            // A session has one revision.
            let _ = connection.negotiated.set(revision);
        }
        self.inner.negotiated(revision);
    }

    fn first_request_id(&self) -> i64 {
        self.inner.first_request_id()
    }

    fn suspended(&self) -> Duration {
        self.inner.suspended()
    }

    fn notifies(&self) -> bool {
        self.inner.notifies()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

impl<T: Receiver> Receiver for Recorded<T> {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        let received = self.inner.receive().await;
        if let (Some(connection), Ok(Some(Incoming::Message { json, .. }))) = (&self.connection, &received) {
            connection.write(Direction::Received, json);
        }
        received
    }

    fn half_closes(&self) -> bool {
        self.inner.half_closes()
    }
}
