//! The task that receives.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_adapters::mcp_wire::RequestId;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::budget::Budget;
use super::handler::Handler;
use super::hearing::{Backlog, hear_in_order};
use super::request::Welcome;
use super::shared::Shared;
use super::strays::Strays;
use crate::side::Side;
use crate::transport::{Incoming, Receiver, TransportError};

/// The receiving side of a session.
pub struct Engine<S: Side> {
    pub(super) shared: Arc<Shared<S>>,
    pub(super) handler: Arc<dyn Handler<S>>,
    /// Only a server welcomes.
    pub(super) welcome: Option<Welcome>,
    pub(super) handling: Mutex<HashMap<RequestId, CancellationToken>>,
    /// For each request that is handled.
    pub(super) permits: Arc<Semaphore>,
    /// For each request from when it comes until its answer is sent, so that a peer that doesn't read is not answered
    /// without end.
    pub(super) places: Arc<Semaphore>,
    /// For the text of each request, for as long.
    pub(super) requests: Arc<Budget>,
    /// For each answer from when it is there until it is sent.
    pub(super) unread: Arc<Budget>,
    pub(super) tasks: TaskTracker,
    pub(super) strays: Strays,
    /// Nothing new is heard once the session is closing.
    pub(super) backlog: Arc<Backlog<S>>,
}

impl<S: Side> Engine<S> {
    /// Receives until the peer or somebody else ends the session.
    pub async fn run(
        shared: Arc<Shared<S>>,
        handler: Arc<dyn Handler<S>>,
        welcome: Option<Welcome>,
        mut receiver: impl Receiver,
        closing: CancellationToken,
    ) {
        let limits = shared.options.limits.clone();
        let backlog = Backlog::new(&limits);
        let tasks = TaskTracker::new();
        tasks.spawn(hear_in_order(
            Arc::clone(&shared),
            Arc::clone(&handler),
            Arc::clone(&backlog),
        ));
        let engine = Arc::new(Self {
            shared: Arc::clone(&shared),
            handler,
            welcome,
            handling: Mutex::default(),
            permits: Arc::new(Semaphore::new(limits.in_flight.clamp(1, Semaphore::MAX_PERMITS))),
            places: Arc::new(Semaphore::new(
                limits
                    .in_flight
                    .saturating_add(limits.waiting)
                    .clamp(1, Semaphore::MAX_PERMITS),
            )),
            requests: Budget::new(limits.request_bytes),
            unread: Budget::new(limits.unread_bytes),
            tasks: tasks.clone(),
            strays: Strays::default(),
            backlog,
        });
        let mut peer_answers = true;
        let is_closing = loop {
            tokio::select! {
                () = closing.cancelled() => break true,
                () = shared.ended.cancelled() => break false,
                received = receiver.receive() => {
                    if matches!(received, Ok(None)) && receiver.half_closes() {
                        // The peer has nothing more to say, and may still want its answers.
                        peer_answers = false;
                        shared.abandon_calls();
                        break true;
                    }
                    if !engine.take_incoming(received) {
                        break false;
                    }
                }
            }
        };
        tasks.close();
        engine.backlog.close();
        if is_closing {
            // What is in flight is answered; what takes too long is not.
            let answers = async {
                tokio::select! {
                    () = tasks.wait() => {}
                    // Handlers may wait for answers of the peer, which nobody would receive otherwise.
                    () = async { while engine.take_incoming(receiver.receive().await) {} }, if peer_answers => {}
                }
            };
            if tokio::time::timeout(limits.closing, answers).await.is_err() {
                tracing::debug!("some handlers did not end in time");
            }
            shared.sender.close().await;
        }
        shared.end();
    }

    /// Takes what was received, without waiting for anybody: a handler may need what comes next, and a peer that doesn't
    /// read may be waiting for us to read. `false` once nothing more will be received.
    fn take_incoming(self: &Arc<Self>, received: Result<Option<Incoming>, TransportError>) -> bool {
        match received {
            Ok(Some(Incoming::Message { json, extensions })) => self.take(&json, extensions.into()),
            Ok(Some(Incoming::Refused(error))) => {
                self.send_answers(self.refusal(None, error, &[]).into_iter().collect(), false);
            }
            Ok(Some(Incoming::Failed { id, error })) => {
                // Whoever waited may have gone.
                self.shared.answered(&id, Err(error), Vec::new());
            }
            Ok(Some(Incoming::Renewed)) => self.handling().values().for_each(CancellationToken::cancel),
            Ok(None) => return false,
            Err(error) => {
                tracing::debug!(%error, "the transport failed");
                self.shared.failed(error);
                return false;
            }
        }
        true
    }

    pub(super) fn handling(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        // Nothing panics while the lock is held.
        self.handling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
