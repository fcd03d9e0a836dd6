//! The calls of this side that wait for their responses.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::validator::Violation;
use mcp_adapters::mcp_wire::{RawJson, RequestId};
use mcp_runtime_util::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::negotiated::Progress;
use super::ordered_queue::{OrderedQueue, Ticket};
use super::tolerance::violation;
use crate::error::CallError;

/// The calls of this side that wait for their responses.
#[derive(Debug)]
pub struct PendingCalls {
    calls: Mutex<HashMap<i64, PendingCall>>,
    next_id: AtomicI64,
}

/// The outcome of a call.
pub type CallResult = Result<RawJson, CallError>;

/// The outcome of a call, and the violations of the response.
#[derive(Debug)]
pub struct Reply {
    pub result: CallResult,
    pub violations: Vec<Violation>,
    /// Its position among the messages that are passed on, for a call that was.
    pub ticket: Option<Ticket>,
}

#[derive(Debug)]
struct PendingCall {
    reply: oneshot::Sender<Reply>,
    /// `None` for a call whose progress is passed on.
    progress: Option<mpsc::Sender<Progress>>,
    /// The queue of the reply.
    line: Option<Arc<OrderedQueue>>,
}

impl PendingCalls {
    /// No calls. The first one will have this id.
    pub fn starting_at(id: i64) -> Self {
        Self {
            calls: Mutex::default(),
            next_id: AtomicI64::new(id),
        }
    }

    /// An id that no other call of the session has.
    pub fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a call. Its response and its progress come through the channels.
    pub fn insert(&self, id: i64) -> (oneshot::Receiver<Reply>, mpsc::Receiver<Progress>) {
        let (reply, replied) = oneshot::channel();
        let (progress, progressed) = mpsc::channel(16);
        let call = PendingCall {
            reply,
            progress: Some(progress),
            line: None,
        };
        self.calls.lock().insert(id, call);
        (replied, progressed)
    }

    /// Adds a call that is passed on. Its reply joins the queue when it comes.
    pub fn insert_passed(&self, id: i64, line: Arc<OrderedQueue>) -> oneshot::Receiver<Reply> {
        let (reply, replied) = oneshot::channel();
        let call = PendingCall {
            reply,
            progress: None,
            line: Some(line),
        };
        self.calls.lock().insert(id, call);
        replied
    }

    /// Whether the progress of a call is reported to its caller.
    pub fn reports_progress(&self, id: &RequestId) -> bool {
        let RequestId::Integer(id) = id else { return false };
        let calls = self.calls.lock();
        calls.get(id).is_some_and(|call| call.progress.is_some())
    }

    /// Removes a call; `false` if it wasn't pending any more.
    pub fn remove(&self, id: i64) -> bool {
        self.calls.lock().remove(&id).is_some()
    }

    /// Removes all calls. Their callers get an error.
    pub fn clear(&self) {
        self.calls.lock().clear();
    }

    /// Hands a response to its caller, with the violations that are known; `false` if no call has this id.
    pub fn resolve(&self, id: &RequestId, result: CallResult, mut violations: Vec<Violation>) -> bool {
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
        // The caller may have gone in this moment.
        let ticket = call.line.as_ref().map(OrderedQueue::join);
        let _ = call.reply.send(Reply {
            result,
            violations,
            ticket,
        });
        true
    }

    /// Hands progress to the caller that asked for it.
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
