//! What instances of the server tell each other.

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::Bytes;
use mcp_adapters::Revision;
use mcp_adapters::hello;
use mcp_adapters::mcp_wire::{MessageHeader, MessageKind, Payload};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};

use super::engine_id::engine_of;
use super::instances::{InboxMessage, Instances, Recipient};
use super::message::PostBody;
use super::rejection::Rejection;
use super::session::HttpSession;
use super::sessions::{Sessions, store_failed};

/// How long an engine may take to receive a message.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pause after the store has failed.
const RETRY: Duration = Duration::from_millis(500);
/// What one instance tells another about a session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Note<'a> {
    /// The client has sent this message.
    Message(#[serde(borrow)] &'a RawValue),
    /// The instance with the engine `reader` sends a stream of `engine` to the client, and has all events before `next`.
    Reading {
        engine: u32,
        stream: u64,
        next: u64,
        reader: u32,
    },
    /// A stream that the other instance reads has another event.
    Logged,
    /// The client reads the standalone stream at the instance with this engine. Of another engine it has `read` the events before
    /// the one with this number.
    Listening { engine: u32, read: Option<(u32, u64)> },
    /// The instance with this engine asks where the client reads the standalone stream.
    WhoListens { engine: u32 },
    /// A message for the standalone stream.
    Event(#[serde(borrow)] &'a RawValue),
}

impl Note<'_> {
    /// Sends it. If that fails, whoever waits for it looks for himself after a while.
    pub(super) async fn send(&self, instances: &dyn Instances, session: &str, to: Recipient) {
        let sent = instances.send(session, to, &crate::message::to_json(self)).await;
        if let Err(error) = sent {
            tracing::debug!(error, "another instance can't be told");
        }
    }
}

impl Sessions {
    /// Passes on those messages of a body that are for engines of other instances.
    pub(super) async fn forward(&self, session: &HttpSession, body: &PostBody) -> Result<(), Rejection> {
        let Some(instances) = self.instances() else {
            return Ok(());
        };
        if !body.is_batch && !body.requests.is_empty() {
            return Ok(());
        }
        let mut passed_on = Vec::new();
        let mut take = |header: &MessageHeader<'_>| {
            if let Some(to) = recipient(session, header) {
                passed_on.push((to, header.message().text().to_owned()));
            }
        };
        match Payload::from_slice(&body.json) {
            Ok(Payload::Message(header)) => take(&header),
            Ok(Payload::Batch(elements)) => elements.flatten().for_each(|header| take(&header)),
            // It has been parsed before.
            Err(_) => {}
        }
        for (to, json) in passed_on {
            let Ok(json) = RawValue::from_string(json) else {
                continue;
            };
            let note = crate::message::to_json(&Note::Message(&json));
            let sent = instances.send(&session.id, to, &note).await;
            sent.map_err(store_failed)?;
        }
        Ok(())
    }
}

/// Who has to get a message of the client, if it is another instance.
fn recipient(session: &HttpSession, header: &MessageHeader<'_>) -> Option<Recipient> {
    let own = session.engine.number;
    let id = match header.kind() {
        Ok(MessageKind::Request) => return None,
        Ok(MessageKind::Notification) => {
            if let Some(id) = hello::cancelled_request::<Revision>(header) {
                return (!session.has_request(&id)).then_some(Recipient::Others);
            }
            hello::progressing_call(session.revision()?, header)?
        }
        Ok(MessageKind::Response | MessageKind::Error) | Err(_) => header.id()?,
    };
    let engine = engine_of(&id).filter(|engine| *engine != own)?;
    Some(Recipient::Engine(engine))
}

/// Takes what other instances send, as long as the server lasts.
pub(super) async fn receive(instances: Arc<dyn Instances>, sessions: Weak<Sessions>) {
    let mut failed = false;
    while sessions.strong_count() > 0 {
        match instances.receive().await {
            Ok(messages) => {
                failed = false;
                for message in messages {
                    let Some(sessions) = sessions.upgrade() else { return };
                    take(&*instances, &sessions, &message).await;
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

async fn take(instances: &dyn Instances, sessions: &Sessions, received: &InboxMessage) {
    let session = sessions.sessions.lock().get(&received.session).cloned();
    let Some(session) = session else {
        tracing::debug!("another instance has sent a message for a session that has ended");
        return;
    };
    match serde_json::from_slice(&received.message) {
        Ok(Note::Message(json)) => {
            let Ok(body) = PostBody::parse(json.get().as_bytes().to_vec()) else {
                return;
            };
            if !matches!(timeout(PATIENCE, session.hand_over(body, None)).await, Ok(true)) {
                tracing::warn!("an engine doesn't take a message that came to another instance");
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
                Note::Logged
                    .send(instances, &session.id, Recipient::Engine(reader))
                    .await;
            }
        }
        Ok(Note::Logged) => session.logged_elsewhere.notify_waiters(),
        Ok(Note::Listening { engine, read }) => {
            let next = read.filter(|(read, _)| *read == session.engine.number);
            session.listen_elsewhere(engine, next.map(|(_, next)| next)).await;
        }
        Ok(Note::WhoListens { engine }) => session.tell_listener(engine).await,
        Ok(Note::Event(json)) => {
            let json = Bytes::copy_from_slice(json.get().as_bytes());
            let pushed = timeout(PATIENCE, session.standalone.push(json, &session.limits)).await;
            if pushed.is_err() {
                tracing::warn!("a message of another instance is dropped, since the client reads nothing");
            }
        }
        Err(error) => tracing::warn!(%error, "another instance has sent what this one doesn't know"),
    }
}
