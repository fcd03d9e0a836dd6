//! The pending calls of this side, which wait for their responses.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use mcp_adapters::mcp_wire::json_schema::Violation;
use mcp_adapters::mcp_wire::{RawJson, Reader, RequestId, Response};
use mcp_adapters::{FromResult, hub};
use mcp_runtime_util::Mutex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::negotiated::Progress;
use super::ordered_queue::{OrderedQueue, Ticket};
use super::tolerance::violation;
use crate::error::CallError;

/// The pending calls of this side, with results of type `T`.
pub struct PendingCalls<T> {
    calls: Mutex<HashMap<i64, PendingCall<T>>>,
    next_id: AtomicI64,
}

/// The outcome of a call.
pub type CallResult = Result<RawJson, CallError>;

/// The outcome of a call, and the violations of the response.
#[derive(Debug)]
pub struct Reply<T> {
    /// The result as JSON text; `null` if it was decoded in place.
    pub result: CallResult,
    pub in_place: Option<Box<InPlace<T>>>,
    pub violations: Vec<Violation>,
    /// For a call that is passed on, its position among the messages that are passed on.
    pub ticket: Option<Ticket>,
}

/// A result that was decoded directly from the text of its response. It is boxed, because it is large and passes through
/// many hands.
#[derive(Debug)]
pub struct InPlace<T> {
    pub result: FromResult<T>,
    /// Its length in bytes.
    pub length: usize,
}

/// Decodes the result of a call directly from the text of its response. `None` if the result needs the general path.
pub type ReadInPlace<T> = Box<dyn FnOnce(&mut Reader<'_>) -> Option<Box<InPlace<T>>> + Send>;

struct PendingCall<T> {
    reply: oneshot::Sender<Reply<T>>,
    read: Option<ReadInPlace<T>>,
    /// `None` for a call that requested no progress, or whose progress is passed on.
    progress: Option<mpsc::Sender<Progress>>,
    /// The queue that the reply joins, for a call that is passed on.
    line: Option<Arc<OrderedQueue>>,
}

impl<T> PendingCalls<T> {
    /// Creates an empty set of calls. The first one gets this id.
    pub fn starting_at(id: i64) -> Self {
        Self {
            calls: Mutex::default(),
            next_id: AtomicI64::new(id),
        }
    }

    /// Returns a new id for a call, unique in the session.
    pub fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a call, whose result is decoded in place by `read`, if given. The response arrives through the returned
    /// channel.
    pub fn insert(
        &self,
        id: i64,
        read: Option<ReadInPlace<T>>,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> oneshot::Receiver<Reply<T>> {
        let (reply, replied) = oneshot::channel();
        let call = PendingCall {
            reply,
            read,
            progress,
            line: None,
        };
        self.calls.lock().insert(id, call);
        replied
    }

    /// Adds a call that is passed on. Its reply joins the queue when it arrives.
    pub fn insert_passed(&self, id: i64, line: Arc<OrderedQueue>) -> oneshot::Receiver<Reply<T>> {
        let (reply, replied) = oneshot::channel();
        let call = PendingCall {
            reply,
            read: None,
            progress: None,
            line: Some(line),
        };
        self.calls.lock().insert(id, call);
        replied
    }

    /// Whether a call with this id is pending that isn't passed on.
    pub fn has_own(&self, id: &RequestId) -> bool {
        let RequestId::Integer(id) = id else { return false };
        let calls = self.calls.lock();
        calls.get(id).is_some_and(|call| call.line.is_none())
    }

    /// Whether a call is pending.
    pub fn contains(&self, id: i64) -> bool {
        self.calls.lock().contains_key(&id)
    }

    /// Removes a call; `false` if it was no longer pending.
    pub fn remove(&self, id: i64) -> bool {
        self.calls.lock().remove(&id).is_some()
    }

    /// Removes all calls. Their callers get an error.
    pub fn clear(&self) {
        self.calls.lock().clear();
    }

    /// Parses a response in one pass, decoded by the function that its caller has given or as text, and passes it to
    /// the caller; `false` for any other message.
    pub fn resolve_in_place(&self, json: &[u8]) -> bool {
        // The usual case for servers, which rarely send requests.
        if self.calls.lock().is_empty() {
            return false;
        }
        let read = |id: &RequestId, reader: &mut Reader<'_>| {
            let RequestId::Integer(id) = id else { return None };
            let read = self.calls.lock().get_mut(id)?.read.take();
            match read {
                Some(read) => Some((Value::Null.into(), Some(read(reader)?))),
                None => Some((reader.decode().ok()?, None)),
            }
        };
        let Some(response) = Response::read_in_place(json, read) else {
            return false;
        };
        let (text, in_place) = response.result;
        self.reply(&response.id, Ok(text), in_place, Vec::new())
    }

    /// Passes a response to its caller, with the violations found so far; `false` if no call has this id.
    pub fn resolve(&self, id: &RequestId, result: CallResult, violations: Vec<Violation>) -> bool {
        self.reply(id, result, None, violations)
    }

    fn reply(
        &self,
        id: &RequestId,
        result: CallResult,
        in_place: Option<Box<InPlace<T>>>,
        mut violations: Vec<Violation>,
    ) -> bool {
        let number = match id {
            RequestId::Integer(number) => *number,
            RequestId::String(text) => match text.parse::<i64>() {
                Ok(number) if number.to_string() == *text => {
                    violations.push(violation(
                        "id",
                        &format!("{number}, as in the request"),
                        &format!("{text:?}"),
                    ));
                    number
                }
                _ => return false,
            },
        };
        let Some(call) = self.calls.lock().remove(&number) else {
            return false;
        };
        // The caller can have dropped the call in the meantime.
        let ticket = call.line.as_ref().map(OrderedQueue::join);
        let _ = call.reply.send(Reply {
            result,
            in_place,
            violations,
            ticket,
        });
        true
    }

    /// Passes progress to the caller that requested it.
    pub fn report_progress(&self, params: hub::ProgressNotificationParams) {
        let hub::ProgressToken::Integer(id) = params.progress_token else {
            return;
        };
        if let Some(progress) = self.calls.lock().get(&id).and_then(|call| call.progress.as_ref()) {
            let _ = progress.try_send(Progress {
                progress: params.progress.as_f64(),
                total: params.total.map(|total| total.as_f64()),
                message: params.message,
            });
        }
    }
}
