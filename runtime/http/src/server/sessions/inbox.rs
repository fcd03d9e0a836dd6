//! The messages that instances of the server send each other.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{MessageHeader, MessageKind, Payload};
use mcp_adapters::session_messages;
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};

use super::super::post_body::PostBody;
use super::super::rejection::Rejection;
use super::super::session::{HttpSession, engine_of};
use super::super::store::{InboxMessage, Instances, Note, Recipient};
use super::super::stream::LogQueue;
use super::Sessions;

/// The timeout of handing a message to an engine.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pause after the store has failed.
const RETRY: Duration = Duration::from_millis(500);

impl Sessions {
    /// The store that instances share, and the queue of events to be logged there, if they share one. The first call
    /// starts the tasks for that.
    pub(super) fn shared(self: &Arc<Self>) -> Option<(Arc<dyn Instances>, LogQueue)> {
        let instances = self.instances.as_ref()?;
        let log = self.log.get_or_init(|| {
            tokio::spawn(receive(instances.clone(), Arc::downgrade(self)));
            LogQueue::start(instances.clone())
        });
        Some((instances.clone(), log.clone()))
    }

    /// Forwards the messages of a body that are for engines of other instances.
    pub(crate) async fn forward(&self, session: &HttpSession, body: &PostBody<'_>) -> Result<(), Rejection> {
        let Some(instances) = &self.instances else {
            return Ok(());
        };
        if !body.is_batch() && !body.requests.is_empty() {
            return Ok(());
        }
        let mut passed_on = Vec::new();
        let mut take = |header: &MessageHeader<'_>| {
            if let Some(to) = recipient(session, header) {
                passed_on.push((to, header.message().text().to_owned()));
            }
        };
        match body.payload {
            Payload::Message(header) => take(header),
            Payload::Batch(elements) => elements.clone().flatten().for_each(|header| take(&header)),
        }
        for (to, json) in passed_on {
            let Ok(json) = RawValue::from_string(json) else {
                continue;
            };
            let note = Note::Message(&json).to_json();
            let sent = instances.send(&session.id, to, &note).await;
            sent.map_err(Rejection::store_failed)?;
        }
        Ok(())
    }
}

/// The other instance that has to get a message of the client, if any.
fn recipient(session: &HttpSession, header: &MessageHeader<'_>) -> Option<Recipient> {
    let own = session.engine.number;
    let id = match header.kind() {
        Ok(MessageKind::Request) => return None,
        Ok(MessageKind::Notification) => {
            if let Some(id) = session_messages::cancelled_request::<Revision>(header) {
                return (!session.has_request(&id)).then_some(Recipient::Others);
            }
            session_messages::progressing_call(session.revision()?, header)?
        }
        Ok(MessageKind::Response | MessageKind::Error) | Err(_) => header.id()?,
    };
    let engine = engine_of(&id).filter(|engine| *engine != own)?;
    Some(Recipient::Engine(engine))
}

/// Receives the messages of other instances, until the server is dropped.
async fn receive(instances: Arc<dyn Instances>, sessions: Weak<Sessions>) {
    let mut failed = false;
    while sessions.strong_count() > 0 {
        match instances.receive().await {
            Ok(messages) => {
                failed = false;
                for message in messages {
                    let Some(sessions) = sessions.upgrade() else { return };
                    take(&sessions, &message).await;
                }
            }
            Err(error) => {
                if !failed {
                    tracing::error!(error, "messages of other instances can't be received");
                }
                failed = true;
                sleep(RETRY).await;
            }
        }
    }
}

async fn take(sessions: &Sessions, received: &InboxMessage) {
    let session = sessions.sessions.lock().get(&received.session).cloned();
    let Some((session, shared)) = session.and_then(|session| Some((session.clone(), session.engine.shared.clone()?)))
    else {
        tracing::debug!("another instance has sent a message for a session that has ended");
        return;
    };
    match serde_json::from_slice(&received.message) {
        Ok(Note::Message(json)) => {
            let json = json.get().as_bytes();
            let Ok(payload) = Payload::from_slice(json) else { return };
            let Ok(body) = PostBody::of(&payload, json.len(), None) else {
                return;
            };
            if !matches!(timeout(PATIENCE, session.hand_over(&body, None)).await, Ok(true)) {
                tracing::warn!("an engine didn't accept a message that another instance forwarded");
            }
        }
        Ok(Note::Reading { engine, .. }) if engine != session.engine.number => {
            tracing::debug!(engine, "another instance reads a stream of an engine that has ended");
        }
        Ok(Note::Reading {
            stream, next, reader, ..
        }) => {
            let stream = session.stream(stream);
            if stream.is_some_and(|stream| stream.read_elsewhere(next, reader)) {
                shared.notify(Recipient::Engine(reader), &Note::Logged).await;
            }
        }
        Ok(Note::Logged) => shared.logged_elsewhere.notify_waiters(),
        Ok(Note::Listening { engine, read }) => {
            let next = read.filter(|(read, _)| *read == session.engine.number);
            let next = next.map(|(_, next)| next);
            shared.listen_elsewhere(engine, next, &session.standalone).await;
        }
        Ok(Note::WhoListens { engine }) => shared.notify_listener(engine).await,
        Ok(Note::Event(json)) => {
            let json = Bytes::copy_from_slice(json.get().as_bytes());
            let pushed = timeout(PATIENCE, session.standalone.push(json, &session.limits)).await;
            if pushed.is_err() {
                tracing::warn!("a message of another instance is dropped, since the client reads nothing");
            }
        }
        Err(error) => tracing::warn!(%error, "another instance has sent a message that this one can't decode"),
    }
}
