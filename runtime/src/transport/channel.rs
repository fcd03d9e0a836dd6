//! Two peers in one process.

use http::Extensions;
use tokio::sync::mpsc;

use crate::error::TransportError;
use crate::message::{Incoming, Outgoing, Receiver, Sender, Transport};
use crate::sync::Mutex;

/// One end of a connection within the process.
#[derive(Debug)]
pub struct ChannelTransport {
    sender: ChannelSender,
    receiver: ChannelReceiver,
}

/// The sending half of a [`ChannelTransport`].
#[derive(Debug)]
pub struct ChannelSender(Mutex<Option<mpsc::Sender<(Outgoing, Extensions)>>>);

/// The receiving half of a [`ChannelTransport`].
#[derive(Debug)]
pub struct ChannelReceiver(mpsc::Receiver<(Outgoing, Extensions)>);

/// Both ends of a connection within the process. Each direction holds `capacity` messages; then senders wait.
///
/// # Panics
/// When `capacity` is 0.
#[must_use]
pub fn channel(capacity: usize) -> (ChannelTransport, ChannelTransport) {
    let (to_second, from_first) = mpsc::channel(capacity);
    let (to_first, from_second) = mpsc::channel(capacity);
    let end = |sender, receiver| ChannelTransport {
        sender: ChannelSender(Mutex::new(Some(sender))),
        receiver: ChannelReceiver(receiver),
    };
    (end(to_second, from_second), end(to_first, from_first))
}

impl Transport for ChannelTransport {
    type Sender = ChannelSender;
    type Receiver = ChannelReceiver;

    fn split(self) -> (ChannelSender, ChannelReceiver) {
        (self.sender, self.receiver)
    }
}

impl ChannelSender {
    /// Sends a message with what is known about it; the receiver finds that in
    /// [`Context::extensions`](crate::Context::extensions).
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn send_with_extensions(&self, message: Outgoing, extensions: Extensions) -> Result<(), TransportError> {
        let sender = self.0.lock().clone().ok_or(TransportError::Closed)?;
        let sent = sender.send((message, extensions)).await;
        sent.map_err(|_| TransportError::Closed)
    }
}

impl Sender for ChannelSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        self.send_with_extensions(message, Extensions::new()).await
    }

    async fn close(&self) {
        self.0.lock().take();
    }
}

impl ChannelReceiver {
    /// The next message as it was sent, with its purpose: for transports that are built on this one.
    pub async fn receive_outgoing(&mut self) -> Option<Outgoing> {
        self.0.recv().await.map(|(message, _)| message)
    }
}

impl Receiver for ChannelReceiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        let received = self.0.recv().await;
        Ok(received.map(|(Outgoing { json, .. }, extensions)| Incoming::Message { json, extensions }))
    }
}
