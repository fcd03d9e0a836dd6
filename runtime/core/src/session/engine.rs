//! The state of the task that receives.

use std::collections::HashMap;
use std::sync::{Arc, Once, Weak};

use mcp_adapters::mcp_wire::{RawJson, RequestId};
use mcp_adapters::{Revision, hub};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::extra_capabilities::ExtraCapabilities;
use super::ignored::IgnoredMessages;
use super::middleware::Layered;
use super::notifications::NotificationQueue;
use super::prompt_handlers::PromptHandlers;
use super::response::Outbox;
use super::state::{Answering, SessionState};
use crate::budget::Budget;
use crate::side::Side;
use crate::sync::Mutex;

/// What a server says about itself in the handshake.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// Its name and version.
    pub implementation: hub::Implementation,
    /// What it offers.
    pub capabilities: hub::ServerCapabilities,
    /// How a model should use it.
    pub instructions: Option<String>,
    /// Capabilities that are offered for one revision.
    pub extra_capabilities: Vec<ExtraCapabilities>,
    /// How a session of one revision begins, if that is known as JSON already.
    pub agreement: Option<(Revision, RawJson)>,
}

/// The receiving side of a session. [`Engine::run`] is its task.
pub struct Engine<S: Side> {
    pub session: Arc<SessionState<S>>,
    pub handler: Layered<S>,
    /// Only on the side of a server.
    pub server: Option<ServerInfo>,
    /// The requests of the peer that are being handled.
    pub in_flight: Mutex<HashMap<RequestId, CancellationToken>>,
    /// One permit for each request whose handler runs.
    pub handling: Arc<Semaphore>,
    /// One permit for each request until its response is sent, so that a peer that doesn't read can't make responses pile up.
    pub send_error: Arc<Semaphore>,
    /// One permit for each request for changes, which lasts.
    pub listening: Arc<Semaphore>,
    /// The bytes of each request, for as long.
    pub request_bytes: Arc<Budget>,
    /// The bytes of each response until it is sent.
    pub response_bytes: Arc<Budget>,
    /// The responses that are ready and go out together.
    pub outbox: Mutex<Outbox>,
    /// The handlers that need no task.
    pub prompt_handlers: PromptHandlers,
    pub tasks: TaskTracker,
    pub ignored: IgnoredMessages,
    /// It is closed when the session is closing.
    pub notifications: Arc<NotificationQueue<S>>,
    /// Starts the task that handles the notifications.
    pub notifier: Once,
}

impl<S: Side> Engine<S> {
    pub fn new(
        session: Arc<SessionState<S>>,
        handler: Layered<S>,
        server: Option<ServerInfo>,
        notifications: Arc<NotificationQueue<S>>,
    ) -> Arc<Self> {
        let limits = &session.options.limits;
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)));
        let engine = Arc::new(Self {
            handler,
            server,
            in_flight: Mutex::default(),
            handling: semaphore(limits.in_flight),
            send_error: semaphore(limits.in_flight.saturating_add(limits.waiting)),
            listening: semaphore(limits.subscriptions),
            request_bytes: Budget::new(limits.request_bytes),
            response_bytes: Budget::new(limits.unread_bytes),
            outbox: Mutex::default(),
            prompt_handlers: PromptHandlers::default(),
            tasks: TaskTracker::new(),
            ignored: IgnoredMessages::default(),
            notifications,
            notifier: Once::new(),
            session,
        });
        let answering = Arc::downgrade(&engine);
        let answer = move |request, negotiated| -> Answering<S> {
            Box::pin(Self::answer(Weak::clone(&answering), request, negotiated))
        };
        // No other engine has this session.
        let _ = engine.session.answerer.set(Box::new(answer));
        engine
    }
}
