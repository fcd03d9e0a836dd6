//! A transport that shows its messages to a function.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RequestId;

use crate::error::{CallError, TransportError};
use crate::message::{Incoming, Intake, Outgoing, Receiver, Restart, Sender, Transport, to_json};

/// The direction of a message: from the peer or to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageDirection {
    /// From the peer.
    Received,
    /// To the peer.
    Sent,
}

type Inspector = Arc<dyn Fn(MessageDirection, &[u8]) + Send + Sync>;

/// A transport that shows its messages to a function as they are on the wire; created by [`inspect`].
pub struct Inspect<T> {
    inner: T,
    inspector: Inspector,
}

/// Calls `inspector` with the JSON of every message that goes over `transport`: for wire logs.
///
/// An outgoing message is shown before it is sent. A response that came with an HTTP error status is shown like any
/// other.
///
/// ```
/// use mcp_runtime::transport::{MessageDirection, channel, inspect};
///
/// let (ours, theirs) = channel(1);
/// let ours = inspect(ours, |direction, json| match direction {
///     MessageDirection::Received => eprintln!("< {}", String::from_utf8_lossy(json)),
///     MessageDirection::Sent => eprintln!("> {}", String::from_utf8_lossy(json)),
/// });
/// # let _ = (ours, theirs);
/// ```
pub fn inspect<T>(transport: T, inspector: impl Fn(MessageDirection, &[u8]) + Send + Sync + 'static) -> Inspect<T> {
    Inspect {
        inner: transport,
        inspector: Arc::new(inspector),
    }
}

#[deny(clippy::missing_trait_methods)]
impl<T: Transport> Transport for Inspect<T> {
    type Sender = Inspect<T::Sender>;
    type Receiver = Inspect<T::Receiver>;

    fn split(self) -> (Self::Sender, Self::Receiver) {
        let (sender, receiver) = self.inner.split();
        let inspector = Arc::clone(&self.inspector);
        let sender = Inspect {
            inner: sender,
            inspector,
        };
        let receiver = Inspect {
            inner: receiver,
            inspector: self.inspector,
        };
        (sender, receiver)
    }

    fn restart(&mut self) -> Option<Restart<Self>> {
        let (restart, inspector) = (self.inner.restart()?, Arc::clone(&self.inspector));
        Some(Box::new(move || {
            let inner = restart()?;
            Ok(Self { inner, inspector })
        }))
    }
}

// Without a default, no property of the inner sender is forgotten.
#[deny(clippy::missing_trait_methods)]
impl<T: Sender> Sender for Inspect<T> {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        (self.inspector)(MessageDirection::Sent, &message.json);
        self.inner.send(message).await
    }

    async fn send_all(&self, messages: Vec<Outgoing>) -> Result<(), TransportError> {
        for message in &messages {
            (self.inspector)(MessageDirection::Sent, &message.json);
        }
        self.inner.send_all(messages).await
    }

    /// Sends none, because those that can't be sent at once would be shown twice.
    fn try_send_all(&self, messages: &mut Vec<Outgoing>) -> bool {
        messages.is_empty()
    }

    fn unanswered(&self, ids: &[RequestId]) {
        self.inner.unanswered(ids);
    }

    fn negotiated(&self, revision: Revision) {
        self.inner.negotiated(revision);
    }

    fn suspended(&self) -> Duration {
        self.inner.suspended()
    }

    fn times_out(&self) -> bool {
        self.inner.times_out()
    }

    fn notifies(&self) -> bool {
        self.inner.notifies()
    }

    fn ends_with_response(&self) -> bool {
        self.inner.ends_with_response()
    }

    fn first_request_id(&self) -> i64 {
        self.inner.first_request_id()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[deny(clippy::missing_trait_methods)]
impl<T: Receiver> Receiver for Inspect<T> {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        let received = self.inner.receive().await;
        match &received {
            Ok(Some(Incoming::Message { json, .. })) => (self.inspector)(MessageDirection::Received, json),
            Ok(Some(Incoming::Failed { error, .. })) => {
                if let CallError::Http(failure) = error
                    && let Some(response) = &failure.response
                {
                    (self.inspector)(MessageDirection::Received, &to_json(response));
                }
            }
            _ => {}
        }
        received
    }

    fn half_closes(&self) -> bool {
        self.inner.half_closes()
    }

    /// Messages that are passed to the session directly wouldn't be shown.
    fn begin(&mut self, _: Intake) {}
}

impl<T: fmt::Debug> fmt::Debug for Inspect<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inspect").field(&self.inner).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender without any of the default properties.
    struct Unusual;

    impl Sender for Unusual {
        async fn send(&self, _: Outgoing) -> Result<(), TransportError> {
            Ok(())
        }

        async fn send_all(&self, _: Vec<Outgoing>) -> Result<(), TransportError> {
            Err(TransportError::Closed)
        }

        fn suspended(&self) -> Duration {
            Duration::from_secs(1)
        }

        fn times_out(&self) -> bool {
            false
        }

        fn notifies(&self) -> bool {
            false
        }

        fn ends_with_response(&self) -> bool {
            true
        }

        fn first_request_id(&self) -> i64 {
            7
        }

        async fn close(&self) {}
    }

    #[test]
    fn an_inspected_sender_has_the_properties_of_the_inner_sender() {
        let sender = inspect(Unusual, |_, _| {});
        assert!(!sender.times_out() && !sender.notifies() && sender.ends_with_response());
        assert_eq!(
            (sender.suspended(), sender.first_request_id()),
            (Duration::from_secs(1), 7)
        );
    }

    #[tokio::test]
    async fn messages_that_are_sent_together_are_shown_and_stay_together() {
        let shown = Arc::new(mcp_runtime_util::Mutex::new(Vec::new()));
        let log = Arc::clone(&shown);
        let sender = inspect(Unusual, move |_, json| log.lock().push(json.to_vec()));
        let messages = [b"1", b"2"].map(|json| Outgoing {
            json: json.to_vec(),
            purpose: crate::transport::Purpose::Unsolicited,
        });
        let sent = sender.send_all(messages.into()).await;
        assert!(matches!(sent, Err(TransportError::Closed)));
        assert_eq!(*shown.lock(), [b"1", b"2"]);
    }
}
