//! Stateless requests.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::request::Parts;
use mcp_adapters::mcp_wire::MessageHeader;
use mcp_runtime_core::Responder;
use mcp_runtime_core::internal::{BoxFuture, Charge, catch_panic, one_way};

use super::super::memory::holding;
use super::super::post_body::PostBody;
use super::super::rejection::Rejection;
use super::super::session::{CallSender, Engine, EngineSlot, HttpSession, SessionKind};
use super::super::stream::Stream;
use super::lifecycle::{address, run};
use super::{NewSession, SessionPermit, Sessions};

/// A stateless request. Its own task runs the engine, unless it lasts. It ends when this is dropped.
pub(crate) struct StatelessCall {
    pub(crate) session: Arc<HttpSession>,
    sessions: Arc<Sessions>,
    engine: Option<BoxFuture<'static, ()>>,
    /// `None` once a task of the session has it.
    permit: Option<SessionPermit>,
    /// Whether all responses have been taken.
    is_answered: bool,
}

/// The response to a stateless request.
pub(crate) enum Responded {
    /// It was there at once: `None` if the request has none.
    AtOnce(Option<Bytes>),
    /// It comes on a stream.
    Later(StatelessCall, Arc<Stream>),
}

impl Sessions {
    /// Answers a stateless request. It has a session from when it waits for anything, so that it can be ended and counted.
    pub(crate) async fn respond(
        self: &Arc<Self>,
        responder: &Responder,
        sender: CallSender,
        parts: Parts,
        request: &MessageHeader<'_>,
        body: PostBody,
        charge: Charge,
    ) -> Result<Responded, Rejection> {
        let (kind, content) = (sender.kind, sender.content);
        let (client, permit) = self.admit(kind, &parts, 0).await?;
        let extensions = client.extensions(Some(parts));
        let mut answering = Box::pin(responder.answer(request, extensions, sender.clone()));
        if let Poll::Ready(response) = poll_fn(|context| Poll::Ready(answering.as_mut().poll(context))).await {
            let charged = |json: Vec<u8>| holding(self.memory.charge(json.len()), json);
            return Ok(Responded::AtOnce(response.map(charged)));
        }
        let (to_engine, _) = one_way(1);
        let (engine, memory) = (Engine::numbered(0), Arc::clone(&self.memory));
        let session = HttpSession::new(String::new(), kind, engine, client, &self.settings, memory, to_engine);
        let body = body.with_json(Vec::new(), Some(charge));
        let stream = session.register(&body, content)?.ok_or_else(Rejection::internal)?.1;
        sender.begin(&session);
        self.running.lock().insert(address(&session), Arc::clone(&session));
        let (answered, ids) = (Arc::clone(&session), body.requests);
        let engine = async move {
            match answered.ended.run_until_cancelled(answering).await.flatten() {
                Some(json) => answered.respond(&ids, json.into()).await,
                None => answered.unanswered(&ids),
            }
            answered.end();
        };
        let call = StatelessCall {
            session,
            sessions: Arc::clone(self),
            engine: Some(Box::pin(engine)),
            permit: Some(permit),
            is_answered: false,
        };
        Ok(Responded::Later(call, stream))
    }

    /// Starts the engine of a stateless request.
    pub(crate) async fn call(self: &Arc<Self>, kind: SessionKind, parts: &Parts) -> Result<StatelessCall, Rejection> {
        let slot = EngineSlot::default();
        let begun = self.begin(String::new(), kind, 0, parts, 0, Some(slot.runner()));
        let (new, permit) = begun.await?;
        Ok(StatelessCall {
            session: new.keep(),
            sessions: Arc::clone(self),
            engine: slot.take(),
            permit: Some(permit),
            is_answered: false,
        })
    }
}

impl StatelessCall {
    /// Runs the engine as far as it goes without waiting. The responses, if there is nothing else to wait for.
    pub(crate) async fn at_once(&mut self, stream: &Stream) -> Option<Vec<Bytes>> {
        let engine = self.engine.as_mut()?;
        let has_ended = poll_fn(|context| Poll::Ready(engine.as_mut().poll(context).is_ready())).await;
        if has_ended {
            self.engine = None;
        }
        let mut responses = pin!(stream.responses());
        let polled = poll_fn(|context| Poll::Ready(responses.as_mut().poll(context))).await;
        match polled {
            Poll::Ready(responses) => {
                self.is_answered = responses.is_some();
                responses
            }
            Poll::Pending => None,
        }
    }

    /// Lets a task run the engine from now on, until the session ends.
    pub(crate) fn spawn(mut self) -> NewSession {
        let session = Arc::clone(&self.session);
        if let Some(permit) = self.permit.take() {
            let ending = run(Arc::clone(&session), Arc::downgrade(&self.sessions), permit);
            let engine = self.engine.take();
            tokio::spawn(async move {
                let engine = async {
                    if let Some(engine) = engine
                        && let Err(panic) = catch_panic(engine).await
                    {
                        tracing::error!(panic, "the engine of a request failed");
                    }
                };
                tokio::join!(ending, engine);
            });
        }
        NewSession {
            session,
            published: false,
        }
    }
}

impl Drop for StatelessCall {
    fn drop(&mut self) {
        if self.permit.is_some() {
            match self.is_answered {
                // No stream is left to close.
                true => self.session.end(),
                false => self.session.close_all(),
            }
            self.sessions.forget(&self.session);
        }
    }
}
