//! Sending the events of another instance's stream to the client.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_adapters::mcp_wire::{ErrorResponse, RequestId};
use mcp_runtime_core::internal::{internal_error, to_json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::super::store::{LogAppend, LogEntry, LogId, Note, Recipient, StoreError};
use super::super::stream::{EventId, ResumeError};
use super::shared::SharedSession;

/// The interval in which a quiet log is read, and its owner is checked.
const INTERVAL: Duration = Duration::from_secs(1);
/// The number of successive checks that an instance has to fail until it is considered dead: an instance that has only
/// lost the store for a short time isn't.
const DEAD_AFTER: u32 = 2;
/// The maximum number of events that wait for the client.
const CAPACITY: usize = 16;

/// The events of a log, with their numbers.
pub(crate) type LoggedEvents = mpsc::Receiver<(u64, Bytes)>;

impl SharedSession {
    /// Reads the log of a stream after the last event that the client has, until the log or the session ends.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        last: &EventId,
        ended: CancellationToken,
    ) -> Result<Result<LoggedEvents, ResumeError>, StoreError> {
        let log = self.log_of(last.engine, last.stream);
        let entries = self.instances.read(&log, last.event).await?;
        if entries.is_empty() {
            return Ok(Err(ResumeError::NoSuchEvent));
        }
        if entries.iter().all(|entry| entry.number <= last.event || entry.is_end)
            && entries.iter().any(|entry| entry.is_end)
        {
            return Ok(Err(ResumeError::NothingLeft));
        }
        let (events, receiver) = mpsc::channel(CAPACITY);
        let follower = Follower {
            session: self.clone(),
            log,
            next: last.event.saturating_add(1),
            unanswered: String::new(),
            events,
            ended,
        };
        tokio::spawn(follower.run(entries));
        Ok(Ok(receiver))
    }
}

struct Follower {
    session: Arc<SharedSession>,
    log: LogId,
    /// The number of the next event.
    next: u64,
    /// The requests without a response, in the form of the log.
    unanswered: String,
    events: mpsc::Sender<(u64, Bytes)>,
    /// Cancelled when the session ends here.
    ended: CancellationToken,
}

impl Follower {
    async fn run(mut self, entries: Vec<LogEntry>) {
        if let Err(error) = self.send_all(entries).await {
            // The client connects again.
            tracing::error!(error, "a stream of another instance can't be read");
        }
    }

    async fn send_all(&mut self, mut entries: Vec<LogEntry>) -> Result<(), StoreError> {
        let mut found_dead = 0;
        loop {
            let has_more = !entries.is_empty();
            for entry in entries {
                if entry.number >= self.next && !self.send(&entry).await {
                    return Ok(());
                }
                self.unanswered = entry.unanswered;
                if entry.is_end {
                    return Ok(());
                }
            }
            if has_more {
                found_dead = 0;
            } else if self
                .session
                .instances
                .is_alive(&self.log.session, self.log.engine)
                .await?
            {
                found_dead = 0;
                self.wait().await;
            } else {
                found_dead += 1;
                match found_dead < DEAD_AFTER {
                    true => self.wait().await,
                    false => self.refuse_rest().await?,
                }
            }
            if self.events.is_closed() || self.ended.is_cancelled() {
                return Ok(());
            }
            entries = self.session.instances.read(&self.log, self.next).await?;
        }
    }

    /// Sends an entry; `false` if the client no longer reads.
    async fn send(&mut self, entry: &LogEntry) -> bool {
        if entry.number > self.next || (entry.json.is_none() && entry.number > 0 && !entry.is_end) {
            tracing::warn!(log = ?self.log, number = self.next, "events that the client doesn't have are no longer logged");
        }
        self.next = entry.number + 1;
        match &entry.json {
            Some(json) => self.events.send((entry.number, json.clone())).await.is_ok(),
            None => true,
        }
    }

    /// Waits for another event, and notifies the engine of the log of the client's position.
    async fn wait(&self) {
        let logged = self.session.logged_elsewhere.notified();
        let note = Note::Reading {
            engine: self.log.engine,
            stream: self.log.stream,
            next: self.next,
            reader: self.session.engine,
        };
        self.session.notify(Recipient::Engine(self.log.engine), &note).await;
        tokio::select! {
            () = logged => {}
            () = tokio::time::sleep(INTERVAL) => {}
            () = self.events.closed() => {}
            () = self.ended.cancelled() => {}
        }
    }

    /// Ends the log of an instance that has died, with an error response to each request that it hadn't answered.
    async fn refuse_rest(&self) -> Result<(), StoreError> {
        let mut unanswered: Vec<RequestId> = serde_json::from_str(&self.unanswered).unwrap_or_default();
        let mut appends = Vec::new();
        let mut append = |json, unanswered: &[RequestId], is_end| {
            let entry = LogEntry {
                number: self.next + appends.len() as u64,
                json,
                unanswered: serde_json::to_string(unanswered).unwrap_or_default(),
                is_end,
            };
            appends.push(LogAppend {
                log: self.log.clone(),
                entry,
                oldest: 0,
            });
        };
        while let Some(id) = unanswered.pop() {
            let error = internal_error("The instance of the server that handled the request has died");
            append(
                Some(to_json(&ErrorResponse::new(Some(id), error)).into()),
                &unanswered,
                false,
            );
        }
        append(None, &[], true);
        self.session.instances.append(&appends.iter().collect::<Vec<_>>()).await
    }
}
