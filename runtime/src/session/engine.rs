//! The task that receives, and the tasks that handle what it received.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_adapters::mcp_wire::{
    Batch, DecodeError, DecodeErrorKind, ErrorObject, ErrorResponse, Message, RequestId, Response, error_code,
};
use mcp_adapters::{Loss, Revision, Translated, hub, negotiate};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::{Pending, encode, report_unsent};
use super::handler::Handler;
use super::hearing::{Heard, hear_in_order};
use super::opening::Glimpse;
use super::shared::Shared;
use crate::context::Context;
use crate::peer::{Peer, PeerInfo};
use crate::side::{Common, MessageIn, Side};
use crate::transport::{Incoming, Purpose, Receiver, TransportError};

/// What a server says when a session begins.
#[derive(Debug, Clone)]
pub struct Welcome {
    pub implementation: hub::Implementation,
    pub capabilities: hub::ServerCapabilities,
    pub instructions: Option<String>,
}

/// What belongs to a message and isn't in it as the handler gets it.
struct Aside {
    token: Option<hub::ProgressToken>,
    /// Why nobody gets it, if it is too bad for that.
    refusal: Option<ErrorObject>,
}

/// The receiving side of a session.
pub struct Engine<S: Side> {
    shared: Arc<Shared<S>>,
    handler: Arc<dyn Handler<S>>,
    /// Only a server welcomes.
    welcome: Option<Welcome>,
    handling: Mutex<HashMap<RequestId, CancellationToken>>,
    /// For each request that is handled.
    permits: Arc<Semaphore>,
    /// For each request from when it comes until its answer is sent, so that a peer that doesn't read is not answered
    /// without end.
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    /// Nothing new is heard once the session is closing.
    heard: Mutex<Option<mpsc::Sender<Heard<S>>>>,
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
        let (heard, hearing) = mpsc::channel(limits.notifications.max(1));
        let tasks = TaskTracker::new();
        tasks.spawn(hear_in_order(Arc::clone(&shared), Arc::clone(&handler), hearing));
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
            tasks: tasks.clone(),
            heard: Mutex::new(Some(heard)),
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
                    let taking = engine.take_incoming(received);
                    tokio::pin!(taking);
                    tokio::select! {
                        biased;
                        goes_on = &mut taking => if !goes_on { break false },
                        () = closing.cancelled() => {
                            // The peer may not read, and this must end all the same.
                            break tokio::time::timeout(limits.closing, taking).await.unwrap_or(true);
                        }
                    }
                }
            }
        };
        tasks.close();
        if is_closing {
            engine.heard().take();
            // What is in flight is answered; what takes too long is not.
            let answers = async {
                tokio::select! {
                    () = tasks.wait() => {}
                    // Handlers may wait for answers of the peer, which nobody would receive otherwise.
                    () = async { while engine.take_incoming(receiver.receive().await).await {} }, if peer_answers => {}
                }
            };
            if tokio::time::timeout(limits.closing, answers).await.is_err() {
                tracing::debug!("some handlers did not end in time");
            }
            shared.sender.close().await;
        }
        shared.end();
    }

    /// Takes what was received; `false` once nothing more will be.
    async fn take_incoming(self: &Arc<Self>, received: Result<Option<Incoming>, TransportError>) -> bool {
        match received {
            Ok(Some(Incoming::Message(json))) => self.take(&json).await,
            Ok(Some(Incoming::Refused(error))) => self.refuse(None, error).await,
            Ok(None) => return false,
            Err(error) => {
                tracing::debug!(%error, "the transport failed");
                return false;
            }
        }
        true
    }

    /// Takes what the peer sent: a message, or several where its revision has batches.
    async fn take(self: &Arc<Self>, json: &[u8]) {
        let glimpse = Glimpse::of(json);
        let revision = self.revision_of(&glimpse);
        match S::receive(revision, json) {
            Ok(Batch::One(message)) => {
                let aside = self.aside(revision, json, &glimpse);
                if let Some(answer) = self.take_message(message, aside).await {
                    answer.send(&self.shared, &self.tasks).await;
                }
            }
            Ok(Batch::Many(messages)) => {
                let asides = Glimpse::each(json).map(|(json, glimpse)| self.aside(revision, json, &glimpse));
                self.take_batch(messages.into_iter().zip(asides).collect()).await;
            }
            Err(_) if serde_json::from_slice::<&serde_json::value::RawValue>(json).is_err() => {
                self.refuse(None, ErrorObject::new(error_code::PARSE_ERROR, "not JSON"))
                    .await;
            }
            Err(error) => self.take_malformed(&glimpse, &error).await,
        }
    }

    /// The revision that a message is read by: before one is negotiated, the one that it asks for itself.
    fn revision_of(&self, glimpse: &Glimpse<'_>) -> Revision {
        let requested = || glimpse.requested()?.parse::<Revision>().ok();
        self.shared
            .revision()
            .or_else(requested)
            .unwrap_or_else(|| self.shared.spoken())
    }

    fn aside(&self, revision: Revision, json: &[u8], glimpse: &Glimpse<'_>) -> Aside {
        let refused = |method| {
            self.shared.judge_call(revision, method, json)?;
            self.shared.may_be_asked_this(method, json)
        };
        Aside {
            token: glimpse.progress_token(),
            refusal: glimpse.method().and_then(|method| refused(method).err()),
        }
    }

    /// Answers in one array what came in one array.
    async fn take_batch(self: &Arc<Self>, messages: Vec<(Translated<MessageIn<S>>, Aside)>) {
        let mut pending = Vec::new();
        for (message, aside) in messages {
            pending.extend(self.take_message(message, aside).await);
        }
        let is_ready = pending.iter().all(Pending::is_ready);
        let shared = Arc::clone(&self.shared);
        let sending = async move {
            let mut answers = Vec::new();
            let mut ids = Vec::new();
            let mut places = Vec::new();
            for answer in pending {
                let (id, json, place) = answer.finish().await;
                places.extend(place);
                if let Some(json) = json {
                    ids.extend(id);
                    answers.push(json);
                }
            }
            if !answers.is_empty() {
                let json = [b"[", answers.join(&b","[..]).as_slice(), b"]"].concat();
                report_unsent(shared.send(json, Purpose::Answer(ids)).await);
            }
        };
        if is_ready {
            sending.await;
        } else {
            self.tasks.spawn(sending);
        }
    }

    async fn take_message(self: &Arc<Self>, message: Translated<MessageIn<S>>, aside: Aside) -> Option<Pending> {
        let (message, losses) = match message {
            Translated::Message { message, losses } => (message, losses),
            Translated::Refused(response) => {
                return Some(Pending::ready(response.id.clone(), encode(&response)));
            }
            Translated::Dropped { losses, reason } => {
                tracing::debug!(%reason, "a notification can't be represented");
                self.shared.report("", &losses);
                return None;
            }
        };
        match (message, aside.refusal) {
            (Message::Request(call), Some(error)) => {
                let refused = ErrorResponse::new(Some(call.id.clone()), error);
                Some(Pending::ready(Some(call.id), encode(&refused)))
            }
            (Message::Notification(_), Some(_)) => None,
            (Message::Request(call), None) => {
                self.shared.report(S::method(&call.request), &losses);
                Some(self.take_request(call.id, call.request, aside.token, losses))
            }
            (Message::Notification(notice), None) => {
                self.shared
                    .report(S::notification_method(&notice.notification), &losses);
                self.take_notification(notice.notification, losses).await;
                None
            }
            (Message::Response(response), _) => {
                if !self.shared.answered(&response.id, Ok(response.result)) {
                    tracing::debug!(id = %response.id, "an answer to nothing");
                }
                None
            }
            (Message::Error(response), _) => {
                let known = response.id.as_ref();
                if !known.is_some_and(|id| self.shared.answered(id, Err(response.error.clone()))) {
                    tracing::debug!(code = response.error.code, "an error about nothing that was asked");
                }
                None
            }
        }
    }

    async fn take_notification(&self, notification: S::Notification, losses: Vec<Loss>) {
        match S::common(notification) {
            Common::Cancelled(params) => {
                let token = params.request_id.and_then(|id| self.handling().get(&id).cloned());
                if let Some(token) = token {
                    token.cancel();
                }
            }
            Common::Progress(params) => self.shared.progressed(params),
            Common::Other(notification) => {
                let heard = self.heard().clone();
                if let Some(heard) = heard {
                    // In order, and with backpressure. The receiver lives as long as the session.
                    let _ = heard.send((notification, losses)).await;
                }
            }
        }
    }

    fn take_request(
        self: &Arc<Self>,
        id: RequestId,
        request: S::Request,
        token: Option<hub::ProgressToken>,
        losses: Vec<Loss>,
    ) -> Pending {
        let refused = |error: ErrorObject| {
            let response = ErrorResponse::new(Some(id.clone()), error);
            Pending::ready(Some(id.clone()), encode(&response))
        };
        if S::is_ping(&request) {
            return self.answered_at_once(&id, Ok(S::empty_result()));
        }
        if let (Some(params), Some(welcome)) = (S::opening(&request), &self.welcome) {
            let opened = self.open(params, welcome);
            return self.answered_at_once(&id, opened);
        }
        if self.shared.revision().is_none() {
            let what = "the session has not begun: send `initialize` first";
            return refused(ErrorObject::new(error_code::INVALID_REQUEST, what));
        }
        let method = S::method(&request);
        if let Err(error) = self.shared.may_be_asked(method) {
            return refused(error);
        }
        if self.heard().is_none() {
            return refused(ErrorObject::new(error_code::INTERNAL_ERROR, "the session is closing"));
        }
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return refused(ErrorObject::new(
                error_code::INTERNAL_ERROR,
                "too many requests are in flight",
            ));
        };
        let cancelled = CancellationToken::new();
        {
            let mut handling = self.handling();
            if handling.contains_key(&id) {
                drop(handling);
                return refused(ErrorObject::new(
                    error_code::INVALID_REQUEST,
                    "a request with this id is still being handled",
                ));
            }
            handling.insert(id.clone(), cancelled.clone());
        }
        let context = Context {
            peer: Peer::new(Arc::clone(&self.shared), Some(id.clone())),
            id: Some(id.clone()),
            token,
            cancelled,
            losses,
        };
        let engine = Arc::clone(self);
        Pending::later(
            Some(id),
            self.tasks
                .spawn(async move { (engine.handle(request, context).await, place) }),
        )
    }

    fn answered_at_once(&self, id: &RequestId, answer: Result<S::Result, ErrorObject>) -> Pending {
        Pending::ready(Some(id.clone()), self.encode_answer("", id, answer))
    }

    /// Negotiates, and says what this server is.
    fn open(&self, params: &hub::InitializeRequestParams, welcome: &Welcome) -> Result<S::Result, ErrorObject> {
        let supported = &self.shared.options.supported;
        let Some(revision) = negotiate(&params.protocol_version, supported) else {
            return Err(ErrorObject::new(
                error_code::INTERNAL_ERROR,
                "the server supports no revision",
            ));
        };
        let info = PeerInfo {
            implementation: params.client_info.clone(),
            capabilities: serde_json::to_value(&params.capabilities).unwrap_or_default(),
            instructions: None,
        };
        if !self.shared.negotiated(revision, info) {
            return Err(ErrorObject::new(
                error_code::INVALID_REQUEST,
                "the session has begun before",
            ));
        }
        let mut result = hub::InitializeResult::new(
            revision.as_str(),
            welcome.capabilities.clone(),
            welcome.implementation.clone(),
        );
        result.instructions = welcome.instructions.clone();
        S::opened(result).ok_or_else(|| ErrorObject::new(error_code::METHOD_NOT_FOUND, "this side is no server"))
    }

    /// Has the handler answer a request, unless the peer cancels it.
    async fn handle(self: Arc<Self>, request: S::Request, context: Context<S>) -> Option<Vec<u8>> {
        let id = context.id.clone()?;
        let method = S::method(&request).to_owned();
        let cancelled = context.cancelled.clone();
        let engine = Arc::clone(&self);
        // A task of its own, so that a panic ends this call alone.
        let permits = Arc::clone(&self.permits);
        let mut task = tokio::spawn(async move {
            // The semaphore is never closed.
            let _permit = permits.acquire_owned().await;
            engine.handler.answer(request, &context).await
        });
        let answer = tokio::select! {
            biased;
            answer = &mut task => Some(answer),
            () = cancelled.cancelled() => None,
            () = self.shared.ended.cancelled() => None,
        };
        self.handling().remove(&id);
        let answer = match answer {
            None => {
                task.abort();
                return None;
            }
            Some(Ok(answer)) => answer,
            Some(Err(error)) => {
                tracing::error!(method, %error, "a handler failed");
                Err(ErrorObject::new(error_code::INTERNAL_ERROR, "internal error"))
            }
        };
        Some(self.encode_answer(&method, &id, answer))
    }

    fn encode_answer(&self, method: &str, id: &RequestId, answer: Result<S::Result, ErrorObject>) -> Vec<u8> {
        let result = answer.and_then(|result| {
            S::encode_result(self.shared.spoken(), result).map_err(|error| {
                tracing::debug!(method, %error, "the peer's revision can't represent the result");
                ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string())
            })
        });
        match result {
            Ok((result, losses)) => {
                self.shared.report(method, &losses);
                encode(&Response::new(id.clone(), result))
            }
            Err(error) => encode(&ErrorResponse::new(Some(id.clone()), error)),
        }
    }

    /// Answers what is no message of the peer's revision.
    async fn take_malformed(&self, glimpse: &Glimpse<'_>, error: &DecodeError) {
        let id = glimpse.id();
        if let (Some(id), false) = (&id, glimpse.method().is_some()) {
            // A malformed answer: the call that waits for it must not wait for ever.
            let reason = ErrorObject::new(
                error_code::INVALID_REQUEST,
                format!("the peer's answer is malformed: {error}"),
            );
            if self.shared.answered(id, Err(reason)) {
                return;
            }
        }
        let code = match error.kind() {
            DecodeErrorKind::Syntax => error_code::PARSE_ERROR,
            _ if glimpse.method().is_some() && id.is_some() && error.path().segments().len() > 1 => {
                error_code::INVALID_PARAMS
            }
            _ => error_code::INVALID_REQUEST,
        };
        if glimpse.method().is_some() && id.is_none() && code != error_code::PARSE_ERROR {
            tracing::debug!(%error, "a notification is malformed");
            return;
        }
        self.refuse(id, ErrorObject::new(code, error.to_string())).await;
    }

    async fn refuse(&self, id: Option<RequestId>, error: ErrorObject) {
        tracing::debug!(code = error.code, message = error.message, "refused");
        let ids = id.iter().cloned().collect();
        let json = encode(&ErrorResponse::new(id, error));
        report_unsent(self.shared.send(json, Purpose::Answer(ids)).await);
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Heard<S>>>> {
        // Nor while this one is.
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handling(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        // Nothing panics while the lock is held.
        self.handling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
