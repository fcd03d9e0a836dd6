//! Outgoing calls, from request to result.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::mcp_wire::json_schema::Violation;
use mcp_adapters::mcp_wire::{Call, Message, Notice, Object, RawJson, Reader, RequestId, UnknownMethod};
use mcp_adapters::{FromPeer, FromResult, PeerTypes, Revision, session_messages};
use mcp_runtime_util::task;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::erased::DynSender;
use super::json_edit::with_meta;
use super::negotiated::{Negotiated, Progress};
use super::notifications::check_custom;
use super::ordered_queue::{OrderedQueue, ReservedTicket, Ticket};
use super::pending::{InPlace, ReadInPlace, Reply};
use super::state::SessionState;
use super::tolerance::{corrects_decoded, read_tolerantly, tolerate};
use crate::error::{CallError, TransportError};
use crate::message::{Outgoing, Purpose, to_json};
use crate::side::Side;

impl<S: Side> SessionState<S> {
    /// Calls a method of the peer, with a given id or the next one.
    pub async fn call(
        self: &Arc<Self>,
        negotiated: &Negotiated,
        (id, request): (Option<i64>, S::RequestOut),
        purpose: Purpose,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Result<S::ResultIn, CallError> {
        let method = negotiated.method(S::method_out(&request)).to_owned();
        self.check_call(negotiated, &method)?;
        check_direction::<S>(negotiated, &method)?;
        let ended_by = S::ended_by(&request);
        let id = id.unwrap_or_else(|| self.pending.next_id());
        let call = Call {
            id: RequestId::Integer(id),
            request,
        };
        let Some(json) = self.encode(negotiated, &method, Message::Request(call))? else {
            return Err(CallError::Unrepresentable(method));
        };
        let json = with_request_meta(negotiated, json)?;
        self.check_call_params(negotiated, &method, &json)?;
        let cache = self.cache().zip(ended_by);
        let cache = cache.and_then(|(cache, ended_by)| Some((cache, cache.key(&json, ended_by)?)));
        if let Some(fresh) = cache.as_ref().and_then(|(cache, key)| cache.get(key)) {
            return Ok(fresh);
        }
        let read = self.reader_in_place(negotiated, &method);
        let exchanged = self.exchange(negotiated, id, json, purpose, progress, read);
        let Reply {
            result,
            in_place,
            mut violations,
            ..
        } = exchanged.await?;
        let finish = |read: FromResult<S::ResultIn>, length: usize| {
            self.report_losses(&method, &read.losses);
            if let Some((cache, key)) = cache {
                cache.insert(key, &read.result, length);
            }
            read.result
        };
        if let Some(in_place) = in_place {
            return Ok(finish(in_place.result, in_place.length));
        }
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                self.check_violations(&method, violations)?;
                return Err(self.error_from_peer(negotiated, &method, id, error));
            }
        };
        let revision = negotiated.revision;
        if let Some((member, kind)) = session_messages::unusual_kind(revision, &method, &mut Reader::new(result.text()))
        {
            let reason = format!("its `{member}` is {kind:?}, which isn't supported");
            return Err(CallError::InvalidResult(reason));
        }
        let tolerated = tolerate(revision.tolerances(&method), &result).map(|(tolerated, more)| {
            violations.extend(more);
            tolerated
        });
        self.validate_result(revision, &method, &result, violations)?;
        let length = result.text().len();
        let decoded = read_tolerantly(
            (negotiated, &method),
            tolerated.as_ref().unwrap_or(&result),
            |result| S::decode_result(revision, &method, result, negotiated.conversion()),
            |error| match error {
                FromPeer::Invalid(error) => Some(error),
                FromPeer::Unrepresentable(_) => None,
            },
        );
        let decoded = match decoded {
            // The peer's revision has this kind of result, but the hub doesn't.
            Err(FromPeer::Unrepresentable(error)) if error.path().segments().is_empty() => {
                return S::undeclared_in(result).ok_or_else(|| error.into());
            }
            decoded => decoded?,
        };
        match decoded {
            Some(read) => Ok(finish(read, length)),
            None => Err(CallError::InvalidResult(format!(
                "{method} isn't a method of the peer's revision"
            ))),
        }
    }

    /// Returns a function that decodes the result of a call in place, unless its text is needed for validation.
    fn reader_in_place(&self, negotiated: &Negotiated, method: &str) -> Option<ReadInPlace<S::ResultIn>> {
        if self.validates() {
            return None;
        }
        let (revision, conversion, method) = (negotiated.revision, negotiated.conversion(), method.to_owned());
        Some(Box::new(move |reader| {
            if session_messages::unusual_kind(revision, &method, reader).is_some() {
                return None;
            }
            let start = reader.position();
            let result = S::read_result(revision, &method, reader, conversion).ok()??;
            let text = &reader.text()[start..reader.position()];
            let length = text.len();
            (!corrects_decoded(revision.tolerances(&method), text)).then(|| Box::new(InPlace { result, length }))
        }))
    }

    /// Calls a method of the peer that no revision declares.
    pub async fn call_custom(
        self: &Arc<Self>,
        negotiated: &Negotiated,
        method: &str,
        request: impl Object,
        purpose: Purpose,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Result<RawJson, CallError> {
        check_custom(method)?;
        check_direction::<S>(negotiated, method)?;
        self.check_session(negotiated, method)?;
        let id = self.pending.next_id();
        let json = with_request_meta(negotiated, request_json(id, request))?;
        let exchanged = self.exchange(negotiated, id, json, purpose, progress, None).await?;
        let Reply { result, violations, .. } = exchanged;
        self.check_violations(method, violations)?;
        result.map_err(|error| self.error_from_peer(negotiated, method, id, error))
    }

    /// Sends a request of the session itself, and returns its result and the violations of the response.
    pub async fn call_json(
        self: &Arc<Self>,
        negotiated: &Negotiated,
        method: &str,
        request: UnknownMethod,
    ) -> Result<(RawJson, Vec<Violation>), CallError> {
        let id = self.pending.next_id();
        let json = with_request_meta(negotiated, request_json(id, request))?;
        let exchanged = self.exchange(negotiated, id, json, Purpose::Unsolicited, None, None);
        let Reply { result, violations, .. } = exchanged.await?;
        match result {
            Ok(result) => Ok((result, violations)),
            Err(error) => {
                self.check_violations(method, violations)?;
                Err(error)
            }
        }
    }

    /// Sends a request and waits for its response.
    async fn exchange(
        self: &Arc<Self>,
        negotiated: &Negotiated,
        id: i64,
        mut json: Vec<u8>,
        purpose: Purpose,
        progress: Option<mpsc::Sender<Progress>>,
        read: Option<ReadInPlace<S::ResultIn>>,
    ) -> Result<Reply<S::ResultIn>, CallError> {
        if let Some(key) = negotiated
            .revision
            .lifecycle()
            .meta_progress
            .filter(|_| progress.is_some())
        {
            let edited = with_meta(json, &[(key, &id.to_string())]);
            json = edited.map_err(|error| CallError::Unrepresentable(error.to_string()))?;
        }
        let (reported, progress) = progress.map(CallProgress::channel).unzip();
        let replied = self.pending.insert(id, read, reported);
        let guard = CancelOnDrop::new(self, negotiated.revision, id);
        if self.ended.is_cancelled() {
            return Err(self.closed());
        }
        let sending = self.sender.send(Outgoing { json, purpose });
        let reply = self.wait(sending, replied, progress).await;
        if !matches!(reply, Err(CallError::TimedOut(_))) {
            guard.disarm();
        }
        reply
    }

    /// Passes on a request that is already encoded when its turn comes, and waits for the reply. The reply gets a
    /// position in `line`.
    pub async fn pass_call(
        self: &Arc<Self>,
        id: i64,
        json: Vec<u8>,
        purpose: Purpose,
        ticket: Ticket,
        line: Arc<OrderedQueue>,
        cancellation: Arc<ReservedTicket>,
    ) -> Result<Reply<S::ResultIn>, CallError> {
        let replied = self.pending.insert_passed(id, line);
        let mut guard = CancelOnDrop::new(self, self.negotiated().revision, id);
        guard.ticket = Some(cancellation);
        if self.ended.is_cancelled() {
            return Err(self.closed());
        }
        let sending = async {
            ticket.wait_turn().await;
            let sent = self.send(json, purpose).await;
            drop(ticket);
            sent
        };
        // The progress of such calls isn't reported here.
        let reply = self.wait(sending, replied, None).await;
        if !matches!(reply, Err(CallError::TimedOut(_))) {
            guard.disarm();
        }
        reply
    }

    /// Sends the request and waits for the response. Progress restarts the timeout, up to a limit. When the session ends,
    /// the pending call is dropped.
    async fn wait(
        &self,
        sending: impl Future<Output = Result<(), TransportError>>,
        mut replied: oneshot::Receiver<Reply<S::ResultIn>>,
        mut progress: Option<CallProgress>,
    ) -> Result<Reply<S::ResultIn>, CallError> {
        let limits = &self.options.limits;
        let clock = self.clock();
        let mut timeout = limits.call_timeout.min(limits.call_timeout_max);
        let mut is_late = false;
        let mut sending = pin!(sending);
        let mut is_sent = false;
        loop {
            tokio::select! {
                // Progress that came before the response is reported before it.
                biased;
                Some(()) = report(&mut progress), if !is_late => {
                    let elapsed = clock.elapsed();
                    timeout = elapsed.saturating_add(limits.call_timeout).min(limits.call_timeout_max);
                    is_late = elapsed >= limits.call_timeout_max;
                }
                reply = &mut replied => return reply.map_err(|_| self.closed()),
                sent = &mut sending, if !is_sent => {
                    sent.map_err(|error| self.send_error(error))?;
                    is_sent = true;
                }
                // The timeout also applies while the peer doesn't read.
                () = clock.wait_until(timeout) => return Err(CallError::TimedOut(clock.elapsed())),
            }
        }
    }
}

/// The progress of a call on its way to the caller.
struct CallProgress {
    reported: mpsc::Receiver<Progress>,
    caller: mpsc::Sender<Progress>,
}

impl CallProgress {
    /// Returns it with the sender for what the peer reports.
    fn channel(caller: mpsc::Sender<Progress>) -> (mpsc::Sender<Progress>, Self) {
        let (sender, reported) = mpsc::channel(16);
        (sender, Self { reported, caller })
    }
}

/// Waits for progress, and reports it to the caller. `None` if there will be none.
async fn report(progress: &mut Option<CallProgress>) -> Option<()> {
    let CallProgress { reported, caller } = progress.as_mut()?;
    let update = reported.recv().await?;
    // A caller that doesn't read its progress misses some of it; the call doesn't wait for the caller.
    let _ = caller.try_send(update);
    Some(())
}

/// Cancels a call when its future is dropped before the response comes.
#[derive(Debug)]
pub struct CancelOnDrop<S: Side> {
    state: Arc<SessionState<S>>,
    revision: Revision,
    id: Option<i64>,
    /// The position of the cancellation among the messages that are passed on.
    ticket: Option<Arc<ReservedTicket>>,
}

impl<S: Side> CancelOnDrop<S> {
    pub fn new(state: &Arc<SessionState<S>>, revision: Revision, id: i64) -> Self {
        let (state, id) = (Arc::clone(state), Some(id));
        Self {
            state,
            revision,
            id,
            ticket: None,
        }
    }

    /// Marks the call as finished, so that it isn't cancelled.
    fn disarm(mut self) {
        if let Some(id) = self.id.take() {
            self.state.pending.remove(id);
        }
    }
}

impl<S: Side> Drop for CancelOnDrop<S> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        if !self.state.pending.remove(id) || self.state.ended.is_cancelled() {
            return;
        }
        if self.state.revision().is_none() {
            // The protocol doesn't allow cancelling the request that starts the session.
            return;
        }
        let (state, revision) = (Arc::clone(&self.state), self.revision);
        // A peer that reads nothing must not make the queue of cancellations grow without bound.
        let Ok(permit) = Arc::clone(&state.cancelling).try_acquire_owned() else {
            return;
        };
        let ticket = self.ticket.take().map(|ticket| ticket.take(&state.passing));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(task(async move {
                let _permit = permit;
                if let Some(ticket) = &ticket {
                    ticket.wait_turn().await;
                }
                let cancellation =
                    session_messages::cancellation(revision, &RequestId::Integer(id), "the caller no longer waits");
                let Some((method, params)) = cancellation else { return };
                let notification = UnknownMethod::new(method).with_params(params);
                let json = to_json(&Notice { notification });
                if let Err(error) = state.send(json, Purpose::Unsolicited).await {
                    tracing::debug!(%error, "the cancellation of a call wasn't sent");
                }
            }));
        }
    }
}

/// Refuses requests of a server to a stateless client: input requests are sent in results instead.
fn check_direction<S: Side>(negotiated: &Negotiated, method: &str) -> Result<(), CallError> {
    if S::IS_SERVER && negotiated.is_stateless() {
        let reason = format!(
            "servers of revision {} send no requests, such as {method}",
            negotiated.revision
        );
        return Err(CallError::Unrepresentable(reason));
    }
    Ok(())
}

pub fn request_json(id: i64, request: impl Object) -> Vec<u8> {
    to_json(&Call {
        id: RequestId::Integer(id),
        request,
    })
}

/// Adds this side's description of itself to a request, if the peer's revision requires that in each request.
pub fn with_request_meta(negotiated: &Negotiated, json: Vec<u8>) -> Result<Vec<u8>, CallError> {
    if negotiated.request_meta.is_empty() {
        return Ok(json);
    }
    let members = negotiated.request_meta.iter().map(|(key, value)| (*key, value.text()));
    let members: Vec<_> = members.collect();
    with_meta(json, &members).map_err(|error| CallError::Unrepresentable(error.to_string()))
}

/// A clock that measures the time since its creation, excluding the time that the transport has waited for its user.
pub struct Clock<'s> {
    sender: &'s dyn DynSender,
    /// `None` without timers: then no time passes.
    started: Option<Instant>,
    suspended: Duration,
}

impl<S: Side> SessionState<S> {
    /// Starts a clock.
    pub fn clock(&self) -> Clock<'_> {
        let sender = &*self.sender;
        Clock {
            sender,
            started: sender.times_out().then(Instant::now),
            suspended: sender.suspended(),
        }
    }
}

impl Clock<'_> {
    /// Returns the time that has passed.
    pub fn elapsed(&self) -> Duration {
        let Some(started) = self.started else {
            return Duration::ZERO;
        };
        let suspended = self.sender.suspended().saturating_sub(self.suspended);
        started.elapsed().saturating_sub(suspended)
    }

    /// Waits until this time has passed.
    pub async fn wait_until(&self, time: Duration) {
        let Some(started) = self.started else {
            return pending().await;
        };
        loop {
            let suspended = self.sender.suspended();
            let extension = suspended.saturating_sub(self.suspended);
            match started.checked_add(time.saturating_add(extension)) {
                Some(end) => sleep_until(end).await,
                None => pending().await,
            }
            if self.sender.suspended() == suspended {
                return;
            }
        }
    }
}
