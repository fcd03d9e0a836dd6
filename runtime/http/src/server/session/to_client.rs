//! What the engine of a session sends to the client.

use std::sync::Arc;

use bytes::Bytes;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_core::transport::{Outgoing, Purpose};

use super::super::post_body::negotiated_revision;
use super::super::stream::{Content, Stream};
use super::{HttpSession, Phase};

impl HttpSession {
    /// Puts a message of the engine on the stream where the client expects it, and waits until there is room.
    pub(crate) async fn route(&self, message: Outgoing) {
        let json = Bytes::from(message.json);
        match message.purpose {
            // All responses share one stream, and its reader has to keep up with them.
            Purpose::Response(ids) if self.is_legacy() => {
                let Some(stream) = self.stream_of(&ids) else { return };
                stream.push(json.clone(), &self.limits).await;
                self.finish(&ids, Some(&json));
            }
            Purpose::Response(ids) => self.respond(&ids, json),
            Purpose::RelatedTo(id) => {
                let stream = self.requests.lock().stream_of(&id);
                let stream = stream
                    .filter(|stream| stream.content == Content::Any)
                    .unwrap_or_else(|| self.standalone.clone());
                self.push(&stream, json).await;
            }
            Purpose::Unsolicited => self.push(&self.standalone, json).await,
        }
    }

    async fn push(&self, stream: &Stream, json: Bytes) {
        if stream.id == self.standalone.id {
            if self.kind.is_stateless() {
                tracing::debug!("a message is dropped, since the response has no place for it");
                return;
            }
            if let Some(shared) = &self.engine.shared
                && shared.pass_to_listener(&json).await
            {
                return;
            }
        }
        stream.push(json, &self.limits).await;
    }

    /// Puts the response to these requests on a stream of their own, which has room for it.
    pub(crate) fn respond(&self, ids: &[RequestId], json: Bytes) {
        let Some(stream) = self.stream_of(ids) else { return };
        stream.push_response(ids, &json, &self.limits);
        self.finish(ids, Some(&json));
    }

    /// The stream for the response to these requests.
    fn stream_of(&self, ids: &[RequestId]) -> Option<Arc<Stream>> {
        let requests = self.requests.lock();
        let stream = ids.iter().find_map(|id| requests.stream_of(id));
        if stream.is_none() {
            tracing::warn!(?ids, "a response to a request that isn't in flight");
        }
        stream
    }

    /// The engine won't respond to these requests. Those that the client hasn't cancelled get an error response.
    pub(crate) fn unanswered(&self, ids: &[RequestId]) {
        for id in ids {
            self.requests
                .lock()
                .refuse(id, "The request can't be answered", &self.limits);
        }
        self.finish(ids, None);
    }

    /// These requests are done.
    fn finish(&self, ids: &[RequestId], answer: Option<&Bytes>) {
        let mut requests = self.requests.lock();
        if requests.take_initialize(ids) {
            match answer.and_then(|json| negotiated_revision(json)) {
                Some(revision) => self.set_phase(Phase::Negotiated(revision)),
                // In HTTP with SSE a client may try again on the same stream.
                None if self.is_legacy() => {}
                None => self.set_phase(Phase::Ended),
            }
        }
        for id in ids {
            // The stream of HTTP with SSE goes on, and one that nobody has read yet can't be resumed.
            if let Some(stream) = requests.remove(id)
                && !self.is_legacy()
                && stream.finish()
            {
                requests.keep(stream, self.limits.replay_bytes);
            }
        }
        self.request_done.notify_waiters();
    }
}
