//! Stateless requests.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::request::Parts;
use mcp_adapters::mcp_wire::MessageHeader;
use mcp_runtime_core::Responder;
use mcp_runtime_util::catch_panic;

use super::super::memory::holding;
use super::super::post_body::PostBody;
use super::super::rejection::Rejection;
use super::super::session::{CallSender, Engine, HttpSession};
use super::super::stream::Stream;
use super::lifecycle::run;
use super::{NewSession, Sessions, address};

/// The outcome of a stateless request.
pub(crate) enum Responded {
    /// The response was ready immediately; `None` if there is none.
    AtOnce(Option<Bytes>),
    /// The response will come on a stream.
    Later(NewSession, Arc<Stream>),
}

impl Sessions {
    /// Answers a stateless request. If it isn't ready immediately, it gets a session, so that it can be ended and
    /// counted.
    pub(crate) async fn respond(
        self: &Arc<Self>,
        responder: &Responder,
        sender: CallSender,
        parts: Parts,
        request: &MessageHeader<'_>,
        body: &mut PostBody<'_>,
    ) -> Result<Responded, Rejection> {
        let (kind, content) = (sender.kind, sender.content);
        let (client, permit) = self.admit(kind, &parts, 0).await?;
        let extensions = client.extensions(Some(parts));
        let mut answering = Box::pin(responder.answer(request, extensions, sender.clone()));
        if let Poll::Ready(response) = poll_fn(|context| Poll::Ready(answering.as_mut().poll(context))).await {
            let charged = |json: Vec<u8>| holding(self.memory.charge(json.len()), json);
            return Ok(Responded::AtOnce(response.map(charged)));
        }
        let (engine, memory) = (Engine::numbered(0), Arc::clone(&self.memory));
        let session = HttpSession::new(String::new(), kind, engine, client, &self.settings, memory);
        let stream = session.register(body, content)?.ok_or_else(Rejection::internal)?.1;
        sender.begin(&session);
        self.running.lock().insert(address(&session), Arc::clone(&session));
        let (answered, ids) = (Arc::clone(&session), body.requests.clone());
        let answer = async move {
            let _end = answered.ended.clone().drop_guard();
            match answered.ended.run_until_cancelled(answering).await.flatten() {
                Some(json) => answered.respond(&ids, json.into()),
                None => answered.unanswered(&ids),
            }
        };
        let ending = run(Arc::clone(&session), Arc::downgrade(self), permit);
        tokio::spawn(async move {
            let (answered, ()) = tokio::join!(catch_panic(answer), ending);
            if let Err(panic) = answered {
                tracing::error!(panic, "the answer to a request failed");
            }
        });
        let published = false;
        Ok(Responded::Later(NewSession { session, published }, stream))
    }
}
