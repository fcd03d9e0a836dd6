//! The standalone stream of a session that several instances share. The client reads it at one of them.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::super::store::{Note, Recipient, StoreError};
use super::super::stream::{EventId, Stream};
use super::shared::{Listener, SharedSession};

impl SharedSession {
    fn set_listener(&self, listener: Listener) {
        *self.listener.lock() = listener;
    }

    /// Makes this instance the one at which the client reads the standalone stream. Returns the events of another
    /// instance that the client has missed after the last one that it has, about `most` of them at most.
    pub(crate) async fn listen_here(
        &self,
        last: Option<&EventId>,
        most: usize,
    ) -> Result<Vec<(EventId, Bytes)>, StoreError> {
        let mut missed = Vec::new();
        let mut read = None;
        if let Some(last) = last.filter(|last| last.engine != self.engine) {
            let next = self.read_missed(last, most, &mut missed).await?;
            read = Some((last.engine, next));
        }
        self.set_listener(Listener::Here);
        let engine = self.engine;
        self.notify(Recipient::Others, &Note::Listening { engine, read }).await;
        Ok(missed)
    }

    /// Reads the events after the last one that the client has. Returns the number of the next event.
    async fn read_missed(
        &self,
        last: &EventId,
        most: usize,
        missed: &mut Vec<(EventId, Bytes)>,
    ) -> Result<u64, StoreError> {
        let log = self.log_of(last.engine, last.stream);
        let mut next = last.event.saturating_add(1);
        // An instance that logs continuously must not delay the client: the rest comes through the inbox.
        while missed.len() < most {
            let entries = self.instances.read(&log, next).await?;
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

    /// Sends a message for the standalone stream to the instance at which the client reads it; `false` if that is this
    /// instance, or isn't known.
    pub(super) async fn pass_to_listener(&self, json: &[u8]) -> bool {
        let listener = *self.listener.lock();
        match listener {
            Listener::Here | Listener::Asked => false,
            Listener::Unknown => {
                self.set_listener(Listener::Asked);
                let engine = self.engine;
                self.notify(Recipient::Others, &Note::WhoListens { engine }).await;
                false
            }
            Listener::At(engine) => {
                if matches!(self.instances.is_alive(&self.session, engine).await, Ok(true)) {
                    return self.send_event(engine, json).await;
                }
                self.set_listener(Listener::Unknown);
                false
            }
        }
    }

    /// Makes the instance with this engine the one at which the client reads the standalone stream, and sends it the
    /// events that the client hasn't received here: those from `next` on if that is known, or else those that haven't
    /// been sent.
    pub(crate) async fn listen_elsewhere(&self, engine: u32, next: Option<u64>, standalone: &Stream) {
        self.set_listener(Listener::At(engine));
        for json in standalone.take_rest(next) {
            self.send_event(engine, &json).await;
        }
    }

    /// Notifies the instance with this engine, if the client reads the standalone stream at this instance.
    pub(crate) async fn notify_listener(&self, to: u32) {
        if *self.listener.lock() == Listener::Here {
            let engine = self.engine;
            let note = Note::Listening { engine, read: None };
            self.notify(Recipient::Engine(to), &note).await;
        }
    }

    /// Sends an event of the standalone stream to another instance. Returns whether that has succeeded.
    async fn send_event(&self, engine: u32, json: &[u8]) -> bool {
        let Ok(json) = serde_json::from_slice::<&RawValue>(json) else {
            return false;
        };
        let note = Note::Event(json).to_json();
        let sent = self
            .instances
            .send(&self.session, Recipient::Engine(engine), &note)
            .await;
        sent.is_ok()
    }
}
