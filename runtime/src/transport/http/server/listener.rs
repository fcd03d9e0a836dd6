//! The standalone stream of a session of several instances, which the client reads at one of them.

use axum::body::Bytes;
use serde_json::value::RawValue;

use super::engine_id::Shared;
use super::event_id::EventId;
use super::inbox::Note;
use super::instances::{LogId, Recipient};
use super::rejection::Rejection;
use super::session::HttpSession;
use super::sessions::store_failed;
use crate::message::to_json;

/// Where the client reads the standalone stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listener {
    Unknown,
    /// The other instances have been asked.
    Asked,
    /// At this instance.
    Here,
    /// At the instance with this engine.
    At(u32),
}

impl Shared {
    fn set_listener(&self, listener: Listener) {
        *self.listener.lock() = listener;
    }
}

impl HttpSession {
    /// The client reads the standalone stream here from now on. Gives the events of another instance that it misses after
    /// the last one that it has.
    pub(super) async fn listen_here(&self, last: Option<&EventId>) -> Result<Vec<(EventId, Bytes)>, Rejection> {
        let Some(shared) = &self.engine.shared else {
            return Ok(Vec::new());
        };
        let mut missed = Vec::new();
        let mut read = None;
        if let Some(last) = last.filter(|last| last.engine != self.engine.number) {
            let next = self.read_missed(shared, last, &mut missed).await?;
            read = Some((last.engine, next));
        }
        shared.set_listener(Listener::Here);
        let engine = self.engine.number;
        let note = Note::Listening { engine, read };
        note.send(&*shared.instances, &self.id, Recipient::Others).await;
        Ok(missed)
    }

    /// Reads the events after the last one that the client has; the number of the next one.
    async fn read_missed(
        &self,
        shared: &Shared,
        last: &EventId,
        missed: &mut Vec<(EventId, Bytes)>,
    ) -> Result<u64, Rejection> {
        let log = LogId {
            session: self.id.clone(),
            engine: last.engine,
            stream: last.stream,
        };
        let mut next = last.event.saturating_add(1);
        // An instance that logs without end doesn't hold up the client: the rest comes from its inbox.
        while missed.len() < self.limits.replay_events {
            let entries = shared.instances.read(&log, next).await.map_err(store_failed)?;
            let Some(end) = entries.last().map(|entry| entry.number) else {
                break;
            };
            next = end + 1;
            missed.extend(entries.into_iter().filter_map(|entry| {
                let event = entry.number;
                Some((EventId { event, ..*last }, entry.json?))
            }));
        }
        Ok(next)
    }

    /// Sends a message for the standalone stream to the instance where the client reads it; `false` if that is this one, or
    /// isn't known.
    pub(super) async fn pass_to_listener(&self, json: &[u8]) -> bool {
        let Some(shared) = &self.engine.shared else {
            return false;
        };
        let listener = *shared.listener.lock();
        match listener {
            Listener::Here | Listener::Asked => false,
            Listener::Unknown => {
                shared.set_listener(Listener::Asked);
                let engine = self.engine.number;
                let note = Note::WhoListens { engine };
                note.send(&*shared.instances, &self.id, Recipient::Others).await;
                false
            }
            Listener::At(engine) => {
                if matches!(shared.instances.is_alive(&self.id, engine).await, Ok(true)) {
                    return send(shared, &self.id, engine, json).await;
                }
                shared.set_listener(Listener::Unknown);
                false
            }
        }
    }

    /// The client reads the standalone stream at the instance with this engine from now on, and gets there what it has not got
    /// here. Of the events here, it has those before `next` if that is known, and else those that were sent.
    pub(super) async fn listen_elsewhere(&self, engine: u32, next: Option<u64>) {
        let Some(shared) = &self.engine.shared else { return };
        shared.set_listener(Listener::At(engine));
        for json in self.standalone.take_rest(next) {
            send(shared, &self.id, engine, &json).await;
        }
    }

    /// Tells the instance with this engine if the client reads the standalone stream here.
    pub(super) async fn tell_listener(&self, to: u32) {
        let Some(shared) = &self.engine.shared else { return };
        if *shared.listener.lock() == Listener::Here {
            let engine = self.engine.number;
            let note = Note::Listening { engine, read: None };
            note.send(&*shared.instances, &self.id, Recipient::Engine(to)).await;
        }
    }
}

/// Sends an event of the standalone stream to another instance; whether that has worked.
async fn send(shared: &Shared, session: &str, engine: u32, json: &[u8]) -> bool {
    let Ok(json) = serde_json::from_slice::<&RawValue>(json) else {
        return false;
    };
    let note = to_json(&Note::Event(json));
    let sent = shared.instances.send(session, Recipient::Engine(engine), &note).await;
    sent.is_ok()
}
