//! The task that receives.

use std::future::ready;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::engine::Engine;
use super::notifications::{Notification, handle_in_order};
use crate::error::TransportError;
use crate::message::{Incoming, Receiver};
use crate::side::Side;

impl<S: Side> Engine<S> {
    /// Receives until one of the sides ends the session. Dropping the future ends it too.
    pub async fn run(self: Arc<Self>, mut receiver: impl Receiver, closing: CancellationToken) {
        let session = &self.session;
        let mut peer_sends = true;
        let is_closing = loop {
            tokio::select! {
                biased;
                () = closing.cancelled() => break true,
                () = session.ended.cancelled() => break false,
                received = receiver.receive() => {
                    if matches!(received, Ok(None)) && receiver.half_closes() {
                        // The peer sends nothing more, and may still read its responses.
                        peer_sends = false;
                        session.pending.clear();
                        break true;
                    }
                    if !self.take(received) {
                        break false;
                    }
                    self.flush(false);
                }
                // Nothing else has come with the messages whose responses are ready.
                () = ready(()), if self.has_gathered() => self.flush(true),
            }
        };
        self.flush(true);
        self.tasks.close();
        self.notifications.close();
        if is_closing {
            if S::IS_SERVER {
                // Subscriptions last until they are ended. Those of a client end with an error.
                session.subscriptions.end(&Ok(()));
            }
            // Requests in flight get their responses, unless that takes too long.
            let responses = async {
                tokio::select! {
                    () = self.tasks.wait() => {}
                    // Handlers may wait for responses of the peer, which have to be received.
                    () = async { while self.take(receiver.receive().await) { self.flush(true) } }, if peer_sends => {}
                }
            };
            if tokio::time::timeout(session.options.limits.closing, responses)
                .await
                .is_err()
            {
                tracing::debug!("some handlers did not end in time");
            }
            session.sender.close().await;
        }
    }

    /// Adds a notification to those that are handled in order. The first one starts the task that handles them.
    pub fn take_for_handler(&self, notification: Notification<S>, json: &[u8]) {
        self.notifications.push(notification, json);
        self.notifier.call_once(|| {
            self.tasks.spawn(handle_in_order(
                Arc::clone(&self.session),
                self.handler.clone(),
                Arc::clone(&self.notifications),
            ));
        });
    }

    /// Takes what was received; `false` if nothing more will be received.
    ///
    /// It never waits: a handler may need the next message, and a peer that doesn't read may wait for us to read.
    fn take(self: &Arc<Self>, received: Result<Option<Incoming>, TransportError>) -> bool {
        match received {
            Ok(Some(Incoming::Message { json, extensions })) => self.take_json(&json, extensions.into()),
            Ok(Some(Incoming::Refused(error))) => {
                if let Some(response) = self.refuse(None, error, &[]) {
                    self.send_response(response);
                }
            }
            Ok(Some(Incoming::Failed { id, error })) => {
                // The caller may have gone.
                self.session.pending.resolve(&id, Err(error), Vec::new());
            }
            Ok(Some(Incoming::Renewed)) => {
                self.in_flight.lock().values().for_each(CancellationToken::cancel);
                let session = Arc::clone(&self.session);
                self.tasks.spawn(async move { session.restore().await });
            }
            Ok(Some(Incoming::Closing)) => {
                self.listening.close();
                self.session.subscriptions.end(&Ok(()));
            }
            Ok(None) => return false,
            Err(error) => {
                tracing::debug!(%error, "the transport failed");
                self.session.failed(error);
                return false;
            }
        }
        true
    }
}
