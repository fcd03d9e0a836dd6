//! The logs of streams, from which other instances send events to clients that resume there.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use mcp_adapters::mcp_wire::RequestId;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::super::store::{Instances, LogAppend, LogEntry, LogId, Note, Recipient};

/// The maximum number of entries that are appended at once, and the maximum bytes of their messages, if there are
/// several.
const BATCH: usize = 256;
const APPEND_BYTES: usize = 1 << 20;
/// The maximum bytes that wait while the store fails. Beyond this limit, entries are logged without their messages.
const WAITING_BYTES: usize = 64 << 20;
/// The maximum number of entries that wait while the store fails. Beyond this limit, only the ends of logs wait.
const WAITING_ENTRIES: usize = 1 << 16;
const RETRY: Duration = Duration::from_millis(500);

/// A stream whose events may be sent only after they are logged.
pub(super) trait Logged: fmt::Debug + Send + Sync {
    /// Records that the events up to this number are logged, and may be sent. Returns the engine whose instance sends
    /// them to the client and waits for one, if there is such an instance.
    fn logged(&self, number: u64) -> Option<u32>;
}

/// The log of a stream whose events may have to be sent by other instances.
#[derive(Debug)]
pub(super) struct StreamLog {
    id: LogId,
    queue: LogQueue,
    stream: Weak<dyn Logged>,
    /// The requests of the stream that have no response yet.
    unanswered: Vec<RequestId>,
    /// Whether a client has read the stream. Until then, nothing is logged.
    is_open: bool,
}

impl StreamLog {
    pub(super) fn new(id: LogId, queue: LogQueue, stream: Weak<dyn Logged>, unanswered: Vec<RequestId>) -> Self {
        Self {
            id,
            queue,
            stream,
            unanswered,
            is_open: false,
        }
    }

    /// Starts the log with its entry 0; `false` if it has already started.
    pub(super) fn open(&mut self) -> bool {
        if self.is_open {
            return false;
        }
        self.is_open = true;
        self.append(0, None, false, 0);
        true
    }

    /// Appends an event.
    pub(super) fn event(&mut self, number: u64, json: &Bytes, oldest: u64) {
        self.append(number, Some(json.clone()), false, oldest);
    }

    /// Ends the log.
    pub(super) fn end(&mut self, number: u64, oldest: u64) {
        self.unanswered.clear();
        self.append(number, None, true, oldest);
    }

    /// Announces that the next event is the response to these requests.
    pub(super) fn answered(&mut self, ids: &[RequestId]) {
        self.unanswered.retain(|id| !ids.contains(id));
    }

    fn append(&mut self, number: u64, json: Option<Bytes>, is_end: bool, oldest: u64) {
        if !self.is_open {
            return;
        }
        let entry = LogEntry {
            number,
            json,
            unanswered: serde_json::to_string(&self.unanswered).unwrap_or_default(),
            is_end,
        };
        let append = LogAppend {
            log: self.id.clone(),
            entry,
            oldest,
        };
        // Fails only if the writer has ended, which happens only with the runtime.
        let _ = self.queue.0.send((append, self.stream.clone()));
    }
}

/// The queue of entries to be appended to logs.
#[derive(Debug, Clone)]
pub(crate) struct LogQueue(mpsc::UnboundedSender<Queued>);

type Queued = (LogAppend, Weak<dyn Logged>);

impl LogQueue {
    /// Creates a queue, and starts the task that writes its entries.
    pub(crate) fn start(instances: Arc<dyn Instances>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let writer = Writer {
            instances,
            waiting: VecDeque::new(),
            bytes: 0,
            retry: None,
        };
        tokio::spawn(writer.run(receiver));
        Self(sender)
    }
}

/// Appends entries in order. Their events may be sent after they are logged or, while the store fails, without that.
struct Writer {
    instances: Arc<dyn Instances>,
    waiting: VecDeque<Queued>,
    /// The bytes of the messages that wait.
    bytes: usize,
    /// The time at which the store is tried again, if it has failed.
    retry: Option<Instant>,
}

impl Writer {
    async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Queued>) {
        let mut batch = Vec::new();
        loop {
            let received = queue.recv_many(&mut batch, BATCH);
            let received = match self.retry {
                None => Ok(received.await),
                Some(retry) => timeout_at(retry, received).await,
            };
            if received == Ok(0) {
                return;
            }
            for queued in batch.drain(..) {
                self.hold(queued);
            }
            if self.retry.is_none_or(|retry| retry <= Instant::now()) {
                self.append().await;
            }
        }
    }

    /// Adds an entry to the waiting ones, within limits while the store fails.
    fn hold(&mut self, (mut append, stream): Queued) {
        if self.retry.is_some() {
            let _ = logged(&append, &stream);
            if self.bytes + bytes(&append) > WAITING_BYTES {
                append.entry.json = None;
            }
            if self.waiting.len() > WAITING_ENTRIES && !append.entry.is_end {
                return;
            }
        }
        self.bytes += bytes(&append);
        self.waiting.push_back((append, stream));
    }

    /// Appends the waiting entries, until the store fails.
    async fn append(&mut self) {
        while !self.waiting.is_empty() {
            let mut size = 0;
            let fits = |(append, _): &&Queued| {
                let is_first = size == 0;
                size += 1 + bytes(append);
                is_first || size <= APPEND_BYTES
            };
            let appends: Vec<&LogAppend> = self
                .waiting
                .iter()
                .take(BATCH)
                .take_while(fits)
                .map(|(append, _)| append)
                .collect();
            let count = appends.len();
            if let Err(error) = self.instances.append(&appends).await {
                if self.retry.is_none() {
                    tracing::error!(
                        error,
                        "events aren't logged, and their clients can't resume on other instances"
                    );
                    for (append, stream) in &self.waiting {
                        let _ = logged(append, stream);
                    }
                }
                self.retry = Some(Instant::now() + RETRY);
                return;
            }
            for _ in 0..count {
                let Some((append, stream)) = self.waiting.pop_front() else {
                    break;
                };
                self.bytes -= bytes(&append);
                if let Some(reader) = logged(&append, &stream) {
                    Note::Logged
                        .send(&*self.instances, &append.log.session, Recipient::Engine(reader))
                        .await;
                }
            }
        }
        if self.retry.take().is_some() {
            tracing::info!("events are logged again");
        }
    }
}

/// Allows an event to be sent. Returns the engine whose instance has to be notified of it.
fn logged(append: &LogAppend, stream: &Weak<dyn Logged>) -> Option<u32> {
    stream.upgrade()?.logged(append.entry.number)
}

fn bytes(append: &LogAppend) -> usize {
    append.entry.json.as_ref().map_or(0, Bytes::len)
}
