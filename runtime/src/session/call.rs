//! Calls of the peer, from the request to the result.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use mcp_adapters::mcp_wire::validator::Violation;
use mcp_adapters::mcp_wire::{Call, Message, Object, OpenJson, RequestId};
use mcp_adapters::{Revision, hub};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::answer::encode;
use super::edit::with_progress_token;
use super::shared::Shared;
use super::tolerance::{Outcome, Reply, fault, read_as};
use crate::error::CallError;
use crate::peer::Progress;
use crate::side::Side;
use crate::transport::{Purpose, TransportError};

/// A call that waits for its answer.
pub struct Waiting {
    reply: oneshot::Sender<Reply>,
    progress: mpsc::Sender<Progress>,
}

impl<S: Side> Shared<S> {
    /// Calls a method of the peer.
    pub async fn call(
        self: &Arc<Self>,
        request: S::RequestOut,
        purpose: Purpose,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Result<S::ResultIn, CallError> {
        let method = S::method_out(&request).to_owned();
        self.may_ask(&method)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let call = Call {
            id: RequestId::Integer(id),
            request,
        };
        let Some(json) = self.encode(&method, Message::Request(call))? else {
            return Err(CallError::Unrepresentable(method));
        };
        self.may_ask_this(&method, &json)?;
        let Reply { outcome, mut faults } = self.exchange(id, json, purpose, progress).await?;
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                self.judge_answer(&method, faults)?;
                return Err(error);
            }
        };
        let revision = self.revision_of(&result);
        let read = read_as(revision.tolerances(&method), &result).map(|(read, more)| {
            faults.extend(more);
            read
        });
        self.judge_result(revision, &method, &result, faults)?;
        let result = S::decode_result(revision, &method, read.as_ref().unwrap_or(&result))?;
        let Some(result) = result else {
            return Err(CallError::InvalidResult(format!(
                "{method} isn't a method of the peer's revision"
            )));
        };
        self.report(&method, &result.losses);
        Ok(result.result)
    }

    /// Calls a method of the peer that no revision declares.
    pub async fn call_custom(
        self: &Arc<Self>,
        method: &str,
        request: impl Object,
        purpose: Purpose,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Result<OpenJson, CallError> {
        self.check_custom(method)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let json = encode(&Call {
            id: RequestId::Integer(id),
            request,
        });
        let Reply { outcome, faults } = self.exchange(id, json, purpose, progress).await?;
        self.judge_answer(method, faults)?;
        outcome
    }

    /// Sends a request and waits for its answer.
    async fn exchange(
        self: &Arc<Self>,
        id: i64,
        mut json: Vec<u8>,
        purpose: Purpose,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Result<Reply, CallError> {
        if progress.is_some() {
            let edited = with_progress_token(&json, id);
            json = edited.map_err(|error| CallError::Unrepresentable(error.to_string()))?;
        }
        let (reply, replied) = oneshot::channel();
        let (made, mut making) = mpsc::channel(16);
        self.waiting().insert(id, Waiting { reply, progress: made });
        let guard = Abandoned {
            shared: self,
            id: Some(id),
        };
        if self.ended.is_cancelled() {
            return Err(self.closed());
        }
        let sending = self.send(json, purpose);
        let reply = self.wait(sending, replied, &mut making, progress).await;
        if matches!(reply, Err(CallError::TimedOut(_))) {
            drop(guard);
        } else {
            guard.settle();
        }
        reply
    }

    /// The revision that a result is read by: before one is negotiated, the one that the result names itself.
    fn revision_of(&self, result: &OpenJson) -> Revision {
        let named = || {
            let named: Revision = result.get("protocolVersion")?.parse::<String>().ok()?.parse().ok()?;
            named.facts().initializes.then_some(named)
        };
        self.revision().or_else(named).unwrap_or_else(|| self.spoken())
    }

    /// Sends and waits for an answer; progress begins the wait anew, up to a limit.
    async fn wait(
        &self,
        sending: impl Future<Output = Result<(), TransportError>>,
        mut replied: oneshot::Receiver<Reply>,
        making: &mut mpsc::Receiver<Progress>,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Result<Reply, CallError> {
        let limits = &self.options.limits;
        let begun = Instant::now();
        let mut heard = begun;
        let mut sending = pin!(sending);
        let mut is_sent = false;
        loop {
            let left = limits.answer_at_most.saturating_sub(begun.elapsed());
            let patience = left.min(limits.answer.saturating_sub(heard.elapsed()));
            tokio::select! {
                // What was told before the answer is heard before it.
                biased;
                Some(made) = making.recv(), if !left.is_zero() => {
                    heard = Instant::now();
                    if let Some(progress) = &progress {
                        // Who doesn't look at progress misses some of it, and nothing waits for that.
                        let _ = progress.try_send(made);
                    }
                }
                reply = &mut replied => return reply.map_err(|_| self.closed()),
                sent = &mut sending, if !is_sent => {
                    sent.map_err(|error| self.unsent(error))?;
                    is_sent = true;
                }
                // A peer that doesn't read makes the call wait as one that doesn't answer.
                () = tokio::time::sleep(patience) => return Err(CallError::TimedOut(begun.elapsed())),
                () = self.ended.cancelled() => return Err(self.closed()),
            }
        }
    }

    /// Hands an answer, whose faults are known, to the call that waits for it; `false` if none does.
    pub fn answered(&self, id: &RequestId, outcome: Outcome, mut faults: Vec<Violation>) -> bool {
        let number = match id {
            RequestId::Integer(number) => *number,
            RequestId::String(text) => match text.parse::<i64>() {
                Ok(number) if number.to_string() == *text => {
                    faults.push(fault(
                        "id",
                        &format!("{number}, as in the request"),
                        &format!("{text:?}"),
                    ));
                    number
                }
                _ => return false,
            },
        };
        match self.waiting().remove(&number) {
            Some(waiting) => {
                // The caller may have gone in this moment.
                let _ = waiting.reply.send(Reply { outcome, faults });
                true
            }
            None => false,
        }
    }

    /// Hands progress to the call that it is about.
    pub fn progressed(&self, params: hub::ProgressNotificationParams) {
        let hub::ProgressToken::Integer(id) = params.progress_token else {
            return;
        };
        if let Some(waiting) = self.waiting().get(&id) {
            let _ = waiting.progress.try_send(Progress {
                progress: params.progress.as_f64(),
                total: params.total.map(|total| total.as_f64()),
                message: params.message,
            });
        }
    }

    /// Gives every call that waits an error, because no answer will come.
    pub fn abandon_calls(&self) {
        self.waiting().clear();
    }

    pub(super) fn waiting(&self) -> MutexGuard<'_, HashMap<i64, Waiting>> {
        // Nothing panics while the lock is held.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call whose caller may go before the answer comes: then the peer is told.
struct Abandoned<'s, S: Side> {
    shared: &'s Arc<Shared<S>>,
    id: Option<i64>,
}

impl<S: Side> Abandoned<'_, S> {
    /// The answer is there, or none will come.
    fn settle(mut self) {
        if let Some(id) = self.id.take() {
            self.shared.waiting().remove(&id);
        }
    }
}

impl<S: Side> Drop for Abandoned<'_, S> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        if self.shared.waiting().remove(&id).is_none() || self.shared.ended.is_cancelled() {
            return;
        }
        if self.shared.revision().is_none() {
            // The request that begins the session can't be cancelled.
            return;
        }
        let shared = Arc::clone(self.shared);
        // A peer that reads nothing can't be told of ever more calls.
        let Ok(place) = Arc::clone(&shared.cancelling).try_acquire_owned() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _place = place;
                let id = RequestId::Integer(id);
                let notification = S::cancelled(id, "the caller no longer waits".to_owned());
                if let Err(error) = shared.tell(notification, Purpose::Own).await {
                    tracing::debug!(%error, "the peer wasn't told of a cancelled call");
                }
            });
        }
    }
}
