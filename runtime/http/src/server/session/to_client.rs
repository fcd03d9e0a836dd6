//! The messages that the engine of a session sends to the client.

use std::sync::Arc;

use bytes::Bytes;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_core::transport::{Outgoing, Purpose};

use super::super::post_body::negotiated_revision;
use super::super::stream::{Content, Stream};
use super::{HttpSession, Phase};

impl HttpSession {
    /// Puts a message of the engine on the stream where the client expects it, and waits while the stream's buffer is
    /// full.
    pub(crate) async fn route(&self, message: Outgoing) {
        let json = Bytes::from(message.json);
        match message.purpose {
            // All responses share one stream, so they wait until the client has read enough of it.
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
                tracing::debug!("a message is dropped, since the response can't contain it");
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

    /// Puts the response to these requests on their stream, without waiting.
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

    /// Ends requests to which the engine won't respond. Those that the client hasn't cancelled get an error response.
    pub(crate) fn unanswered(&self, ids: &[RequestId]) {
        for id in ids {
            self.requests
                .lock()
                .refuse(id, "The request can't be answered", &self.limits);
        }
        self.finish(ids, None);
    }

    /// Removes requests that are done, and finishes streams that have no others.
    fn finish(&self, ids: &[RequestId], answer: Option<&Bytes>) {
        let mut requests = self.requests.lock();
        if requests.take_initialize(ids) {
            match answer.and_then(|json| negotiated_revision(json)) {
                Some(revision) => self.set_phase(Phase::Negotiated(revision)),
                // In HTTP with SSE, a client may try again on the same stream.
                None if self.is_legacy() => {}
                None => self.set_phase(Phase::Ended),
            }
        }
        for id in ids {
            // The stream of HTTP with SSE continues, and one that hasn't been read yet can't be resumed.
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
