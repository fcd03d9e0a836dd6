//! A transport between two peers in one process.

use http::Extensions;
use mcp_runtime_util::Mutex;
use tokio::sync::mpsc;

use crate::error::TransportError;
use crate::message::{Incoming, Outgoing, Principal, Receiver, Sender, Transport};

/// One end of a connection within the process.
///
/// Each message sent from it can have extensions, so that code which depends on the user can be tested without HTTP:
///
/// ```
/// use mcp_runtime::router::Extension;
/// use mcp_runtime::transport::{Principal, channel};
/// use mcp_runtime::{CallServer, Options, Router, connect, hub};
///
/// #[derive(Clone)]
/// struct Tenant(&'static str);
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let router = Router::new("account", "1.0").tool(
///     "whoami",
///     "Gives the user's name",
///     |user: Principal, Extension(tenant): Extension<Tenant>| format!("{} of {}", user.0, tenant.0),
/// );
/// let (server, client) = channel(16);
/// router.serve(Options::default(), server);
/// let client = client.principal("alice").extension(Tenant("Example"));
/// let info = hub::Implementation::new("test", "1.0");
/// let session = connect((), info, hub::ClientCapabilities::default(), Options::default(), client).await?;
/// let result = session.peer().call_tool(hub::CallToolRequestParams::new("whoami")).await?;
/// assert_eq!(serde_json::to_value(&result.content)?[0]["text"], "alice of Example");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ChannelTransport {
    sender: ChannelSender,
    receiver: ChannelReceiver,
}

/// The sending half of a [`ChannelTransport`].
#[derive(Debug)]
pub struct ChannelSender {
    /// `None` when the connection is closed.
    sender: Mutex<Option<mpsc::Sender<(Outgoing, Extensions)>>>,
    /// The extensions of each message.
    extensions: Extensions,
}

/// The receiving half of a [`ChannelTransport`].
#[derive(Debug)]
pub struct ChannelReceiver(mpsc::Receiver<(Outgoing, Extensions)>);

/// Creates both ends of a connection within the process. Each direction buffers `capacity` messages; when it is full,
/// senders wait.
///
/// # Panics
/// When `capacity` is 0.
#[must_use]
pub fn channel(capacity: usize) -> (ChannelTransport, ChannelTransport) {
    let (to_second, from_first) = one_way(capacity);
    let (to_first, from_second) = one_way(capacity);
    let end = |sender, receiver| ChannelTransport { sender, receiver };
    (end(to_second, from_second), end(to_first, from_first))
}

/// Creates one direction of such a connection.
fn one_way(capacity: usize) -> (ChannelSender, ChannelReceiver) {
    let (sender, receiver) = mpsc::channel(capacity);
    let sender = ChannelSender {
        sender: Mutex::new(Some(sender)),
        extensions: Extensions::new(),
    };
    (sender, ChannelReceiver(receiver))
}

impl ChannelTransport {
    /// Adds a value to each message that is sent from this end; the receiver finds it in
    /// [`Context::extensions`](crate::Context::extensions). A later value of the same type replaces it.
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.sender.extensions.insert(value);
        self
    }

    /// Sends each message from this end on behalf of a principal; the receiver finds it in
    /// [`Context::principal`](crate::Context::principal).
    #[must_use]
    pub fn principal(self, principal: impl Into<String>) -> Self {
        self.extension(Principal(principal.into()))
    }
}

impl Transport for ChannelTransport {
    type Sender = ChannelSender;
    type Receiver = ChannelReceiver;

    fn split(self) -> (ChannelSender, ChannelReceiver) {
        (self.sender, self.receiver)
    }
}

impl ChannelSender {
    /// Sends a message with its own extensions, in addition to those of each message; the receiver finds them in
    /// [`Context::extensions`](crate::Context::extensions).
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn send_with_extensions(&self, message: Outgoing, extensions: Extensions) -> Result<(), TransportError> {
        let sender = self.sender.lock().clone().ok_or(TransportError::Closed)?;
        let mut all = self.extensions.clone();
        all.extend(extensions);
        let sent = sender.send((message, all)).await;
        sent.map_err(|_| TransportError::Closed)
    }
}

impl Sender for ChannelSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        self.send_with_extensions(message, Extensions::new()).await
    }

    async fn close(&self) {
        self.sender.lock().take();
    }
}

impl ChannelReceiver {
    /// Receives the next message as it was sent, with its purpose: for transports that are built on this one.
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
