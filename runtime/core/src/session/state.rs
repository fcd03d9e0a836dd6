//! The state that the tasks of a session share, with the sending half of its transport and its `tracing` spans.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use mcp_adapters::mcp_wire::{Direction, ErrorObject, Method, RawJson, RequestId};
use mcp_adapters::{Loss, PeerTypes, Revision};
use mcp_runtime_util::{BoxFuture, Mutex};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tracing::field::{Empty, display};
use tracing::{Span, info_span};

use super::cache::Cache;
use super::erased::DynSender;
use super::negotiated::Negotiated;
use super::ordered_queue::OrderedQueue;
use super::pending::PendingCalls;
use super::subscriptions::{SubscribedResources, Subscriptions};
use crate::error::{CallError, TransportError};
use crate::message::{Outgoing, Purpose};
use crate::options::{Options, log_losses};
use crate::side::Side;

/// Whether a method is custom: not declared by the hub. Messages of such a method aren't converted: handlers get them
/// as the peer sent them.
pub fn is_custom(method: &str) -> bool {
    Revision::HUB.method(method).is_none()
}

/// Whether a message of a peer is converted: the hub has its method, possibly under another name.
pub fn is_converted(revision: Revision, method: &str) -> bool {
    // Looking up a name is cheaper than mapping it to another revision, so that comes first.
    !is_custom(method)
        || !is_custom(Revision::HUB.name_of_method(revision, method))
        || revision.lifecycle().log == Some(method)
}

/// Returns the entry of a method in a revision's table, if the peer can call it, or this side if `peer_calls` is false.
pub fn method<S: Side>(revision: Revision, name: &str, peer_calls: bool) -> Option<&'static Method> {
    let method = revision.method(name)?;
    let is_called = match method.direction {
        Direction::Both => true,
        // A server sends it to a client, within a result.
        Direction::InResult => S::IS_SERVER != peer_calls,
        direction => S::peer_calls(direction) == peer_calls,
    };
    is_called.then_some(method)
}

/// The deprecations that have been logged for sessions of a single request.
static DEPRECATED: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// A function that answers a request of the peer.
pub type Answerer<S> = dyn Fn(<S as Side>::Request, Arc<Negotiated>) -> Answering<S> + Send + Sync;

/// The future of the result of a request of the peer.
pub type Answering<S> = BoxFuture<'static, Result<<S as Side>::Result, ErrorObject>>;

/// The state that the tasks of a session share.
pub struct SessionState<S: Side> {
    /// The half of the transport that sends.
    pub sender: Box<dyn DynSender>,
    /// The options of this side.
    pub options: Arc<Options>,
    /// The capabilities of this side, in the form of the hub.
    pub own_capabilities: Arc<Value>,
    /// The terms for messages before a handshake or a discovery.
    default: Arc<Negotiated>,
    /// The terms negotiated for the session.
    agreed: OnceLock<Arc<Negotiated>>,
    /// The revision of the last stateless request.
    pub last_stateless: Mutex<Option<Revision>>,
    /// The requests of the peer in flight, sorted by id. They are few, and most new ids are greater than the earlier
    /// ones, so inserting is cheap.
    pub in_flight: Mutex<Vec<(RequestId, CancellationToken)>>,
    /// The pending calls of this side.
    pub pending: PendingCalls<S::ResultIn>,
    /// The messages that are passed on to the peer.
    pub passing: Arc<OrderedQueue>,
    /// The notifications of the peer that its handler hasn't handled yet.
    pub unhandled: Arc<OrderedQueue>,
    /// Cancelled when the client has completed the handshake.
    pub begun: CancellationToken,
    /// The server's result of the handshake, as it sent it.
    pub agreement: OnceLock<RawJson>,
    /// The cache of the server's results, if enabled.
    cache: Option<Cache<S>>,
    /// The subscriptions of the client.
    pub subscriptions: Arc<Subscriptions>,
    /// The resources to which this client has subscribed, in a session where each subscription is a separate request.
    pub subscribed: SubscribedResources,
    /// The lowest severity of log messages that the client of a session wants.
    pub log_severity: AtomicUsize,
    /// The function that lets the handler answer an input request from a result.
    pub answerer: OnceLock<Box<Answerer<S>>>,
    /// One permit for each cancellation that is being sent.
    pub cancelling: Arc<Semaphore>,
    /// Notified when the transport has started another session, because the server had lost this one.
    pub renewed: Notify,
    /// Cancelled when the session has ended.
    pub ended: CancellationToken,
    /// The span of the session.
    pub span: Span,
    /// The deprecations that have been logged.
    deprecated: Mutex<Vec<&'static str>>,
    /// The reason why the session has ended, if known.
    failure: OnceLock<CallError>,
    side: PhantomData<fn() -> S>,
}

impl<S: Side> fmt::Debug for SessionState<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionState")
            .field("revision", &self.revision())
            .field("ended", &self.ended.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl<S: Side> SessionState<S> {
    /// Creates the state of a session that hasn't started.
    pub fn new(
        sender: Box<dyn DynSender>,
        options: impl Into<Arc<Options>>,
        own_capabilities: Arc<Value>,
        default_revision: Revision,
        subscriptions: Arc<Subscriptions>,
    ) -> Self {
        let options = options.into();
        let limits = &options.limits;
        let calls = limits.in_flight.saturating_add(limits.waiting);
        Self {
            cancelling: Arc::new(Semaphore::new(calls.min(Semaphore::MAX_PERMITS))),
            pending: PendingCalls::starting_at(sender.first_request_id()),
            sender,
            own_capabilities,
            default: Arc::new(Negotiated::unknown(default_revision)),
            agreed: OnceLock::new(),
            last_stateless: Mutex::default(),
            in_flight: Mutex::default(),
            passing: Arc::default(),
            unhandled: Arc::default(),
            begun: CancellationToken::new(),
            agreement: OnceLock::new(),
            cache: options.cache.map(Cache::new),
            options,
            subscriptions,
            subscribed: SubscribedResources::default(),
            log_severity: AtomicUsize::new(0),
            answerer: OnceLock::new(),
            renewed: Notify::new(),
            ended: CancellationToken::new(),
            span: session_span::<S>(),
            deprecated: Mutex::default(),
            failure: OnceLock::new(),
            side: PhantomData,
        }
    }

    /// Returns the revision of the session, negotiated in a handshake or chosen by a discovery.
    pub fn revision(&self) -> Option<Revision> {
        self.agreed.get().map(|negotiated| negotiated.revision)
    }

    /// Returns the terms negotiated for the session, or the default before that.
    pub fn negotiated(&self) -> &Arc<Negotiated> {
        self.agreed.get().unwrap_or(&self.default)
    }

    /// Stores the terms negotiated for the session; `false` if there are some already.
    pub fn agree(&self, negotiated: Negotiated) -> bool {
        let revision = negotiated.revision;
        let peer = negotiated.info.as_ref().and_then(|info| info.implementation.as_ref());
        let peer = peer.map(|peer| peer.name.clone());
        let is_first = self.agreed.set(Arc::new(negotiated)).is_ok();
        if is_first {
            self.span.record("mcp.protocol.version", revision.as_str());
            self.span.record("mcp.peer.name", peer);
            tracing::debug!(%revision, "agreed");
            self.sender.negotiated(revision);
        }
        is_first
    }

    /// Warns of a method that the revision deprecates, whichever side uses it: once per session, or once per process
    /// for sessions of a single request.
    pub fn warn_of_deprecated(&self, revision: Revision, method: &str) {
        let Some(note) = revision.deprecation(method) else {
            return;
        };
        let logged = match self.sender.ends_with_response() {
            true => &DEPRECATED,
            false => &self.deprecated,
        };
        let mut logged = logged.lock();
        if !logged.contains(&note) {
            logged.push(note);
            drop(logged);
            tracing::warn!(parent: &self.span, method, "{note}");
        }
    }

    /// Reports losses to the observer, or to `tracing` without one.
    pub fn report_losses(&self, method: &str, losses: &[Loss]) {
        if losses.is_empty() {
            return;
        }
        match &self.options.losses {
            Some(observer) => observer(method, losses),
            None => log_losses(method, losses),
        }
    }

    /// Returns the cache of results. Always `None` for a server, so that the compiler drops the code for it.
    pub fn cache(&self) -> Option<&Cache<S>> {
        match S::IS_SERVER {
            true => None,
            false => self.cache.as_ref(),
        }
    }

    /// Lets the handler answer an input request from a result; `None` before the session has started.
    pub fn answer(&self, request: S::Request, negotiated: Arc<Negotiated>) -> Option<Answering<S>> {
        self.answerer.get().map(|answer| answer(request, negotiated))
    }

    /// Sends JSON to the peer.
    pub async fn send(&self, json: Vec<u8>, purpose: Purpose) -> Result<(), TransportError> {
        tokio::select! {
            biased;
            sent = self.sender.send(Outgoing { json, purpose }) => sent,
            // The block costs nothing until it is polled.
            () = async { self.ended.cancelled().await } => Err(TransportError::Closed),
        }
    }

    /// Returns the error of a call in a session that has ended.
    pub fn closed(&self) -> CallError {
        self.failure.get().cloned().unwrap_or(CallError::Closed)
    }

    /// Returns the error of a call that couldn't be sent.
    pub fn send_error(&self, error: TransportError) -> CallError {
        match error {
            TransportError::Closed => self.closed(),
            error => error.into(),
        }
    }

    /// Stores the reason why the session ends.
    pub fn failed(&self, error: TransportError) {
        // The first reason counts.
        let _ = self.failure.set(error.into());
    }

    /// Ends the session. Every pending call gets an error.
    pub fn end(&self) {
        self.ended.cancel();
        self.subscriptions.end(&Err(self.closed()));
        self.pending.clear();
    }
}

/// Ends a session when it is dropped.
pub struct EndGuard<S: Side>(pub Arc<SessionState<S>>);

impl<S: Side> Drop for EndGuard<S> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Creates the span of a session. The fields of spans have the names of [OpenTelemetry's semantic conventions for
/// MCP](https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/).
pub fn session_span<S: Side>() -> Span {
    let side = if S::IS_SERVER { "server" } else { "client" };
    info_span!(
        "mcp.session",
        "mcp.side" = side,
        "mcp.protocol.version" = Empty,
        "mcp.peer.name" = Empty
    )
}

/// Creates the span in which a request of the peer is handled.
pub fn request_span<S: Side>(
    session: &Span,
    method: &str,
    id: Option<&RequestId>,
    revision: Revision,
    request: &S::Request,
) -> Span {
    let span = info_span!(
        parent: session,
        "mcp.request",
        "otel.name" = method,
        "otel.kind" = "server",
        "mcp.method.name" = method,
        "mcp.protocol.version" = revision.as_str(),
        "jsonrpc.request.id" = id.map(display),
        "gen_ai.tool.name" = Empty,
        "gen_ai.prompt.name" = Empty,
        "mcp.resource.uri" = Empty,
        "error.type" = Empty,
    );
    if let Some((field, name)) = S::target(request).filter(|_| !span.is_disabled()) {
        span.record(field, name);
        if field != "mcp.resource.uri" {
            span.record("otel.name", display(format_args!("{method} {name}")));
        }
    }
    span
}

/// Creates the span in which a notification of the peer is handled.
pub fn notification_span(session: &Span, method: &str, revision: Revision) -> Span {
    info_span!(
        parent: session,
        "mcp.notification",
        "otel.name" = method,
        "otel.kind" = "server",
        "mcp.method.name" = method,
        "mcp.protocol.version" = revision.as_str(),
    )
}
