//! The messages that the client sends to the engine of its session.

use std::sync::Arc;

use http::request::Parts;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_core::transport::{Incoming, Intake};
use tokio::sync::mpsc;

use super::super::post_body::PostBody;
use super::super::rejection::Rejection;
use super::super::stream::{Content, Stream};
use super::{HttpSession, SessionKind};

/// The way in which messages get to the engine.
#[derive(Debug, Clone, Default)]
pub(super) enum ToEngine {
    /// No way: there is no engine yet, or the session has ended.
    #[default]
    Closed,
    /// The engine receives them in its own task.
    Channel(mpsc::Sender<Incoming>),
    /// The engine takes them in the task of their HTTP request.
    Intake(Intake),
}

impl HttpSession {
    /// Hands a body to the engine, with the HTTP request. If the body has requests, returns the stream of their
    /// responses.
    pub(crate) async fn post(
        &self,
        body: &mut PostBody<'_>,
        parts: Parts,
        content: Content,
    ) -> Result<Option<Arc<Stream>>, Rejection> {
        self.usage.touch();
        let registered = self.register(body, content)?;
        let mut registration = Registration {
            session: self,
            stream: registered.as_ref().map(|(number, _)| *number),
        };
        if !self.hand_over(body, Some(parts)).await {
            self.end();
            return Err(Rejection::no_such_session());
        }
        registration.stream = None;
        Ok(registered.map(|(_, stream)| stream))
    }

    /// Hands a body to the engine, with the HTTP request if it came to this instance; `false` if the session has ended.
    pub(crate) async fn hand_over(&self, body: &PostBody<'_>, parts: Option<Parts>) -> bool {
        self.requests.lock().cancel(&body.cancelled);
        let extensions = self.client.extensions(parts);
        if self.ended.is_cancelled() {
            return false;
        }
        let to_engine = self.to_engine.lock().clone();
        match to_engine {
            ToEngine::Closed => false,
            ToEngine::Channel(channel) => {
                let json = body.payload.text().into();
                tokio::select! {
                    biased;
                    () = self.ended.cancelled() => false,
                    sent = channel.send(Incoming::Message { json, extensions }) => sent.is_ok(),
                }
            }
            ToEngine::Intake(intake) => intake.take(body.payload, extensions).is_ok(),
        }
    }

    /// Opens a stream for the requests of a body, if it has any, and returns it with its number.
    pub(crate) fn register(
        &self,
        body: &mut PostBody<'_>,
        content: Content,
    ) -> Result<Option<(u64, Arc<Stream>)>, Rejection> {
        if body.requests.is_empty() {
            return Ok(None);
        }
        let mut requests = self.requests.lock();
        // This is checked under the lock, so that no request is added after the shutdown has found that none is in
        // flight.
        if self.shutdown.is_cancelled() {
            return Err(Rejection::shutting_down());
        }
        let open = |number, requests: &[RequestId]| match self.kind {
            SessionKind::Legacy => self.standalone.clone(),
            SessionKind::Streamable | SessionKind::Stateless | SessionKind::Listening | SessionKind::JsonOnly => {
                self.engine.stream(number, content, self.memory.clone(), requests)
            }
        };
        let registered = requests.register(body, &self.limits, &self.memory.session, open)?;
        if body.initialize.is_some() && self.revision().is_none() {
            requests.set_initialize(body.requests.first().cloned());
        }
        Ok(Some(registered))
    }
}

/// The registration of requests. Dropping it withdraws the requests, unless `stream` is `None`.
struct Registration<'a> {
    session: &'a HttpSession,
    stream: Option<u64>,
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.stream {
            self.session.requests.lock().withdraw(number);
            self.session.request_done.notify_waiters();
        }
    }
}
