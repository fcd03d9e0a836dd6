//! A client, and the functions that answer requests of servers.

mod answers;
mod calls;

use mcp_adapters::handlers::ClientHandler;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, Extension, RawObject};
use serde::de::DeserializeOwned;

pub use self::answers::NotificationReturns;
use self::answers::{Answers, boxed, listener};
use crate::error::ConnectError;
use crate::message::Transport;
use crate::options::Options;
use crate::session::{ClientInfo, ClientSession, Context, Exchange, Middleware, connect_by, connect_with};
use crate::side::ClientSide;

/// A client: its name, and functions that answer requests of servers. The functions determine the capabilities that it
/// declares.
///
/// ```
/// use mcp_runtime::transport::channel;
/// use mcp_runtime::{Args, Client, Options, Router, accepted};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Place {
///     city: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let weather = Router::new("weather", "1.0").tool(
///     "weather",
///     "Get the current weather of a city",
///     |Args(place): Args<Place>| format!("sunny in {}", place.city),
/// );
/// let (server, transport) = channel(16);
/// weather.serve(Options::default(), server);
///
/// let client = Client::new("app", "1.0").elicit_form(|_| async { accepted(&json!({"city": "Bern"})) });
/// let session = client.connect(transport).await?;
/// assert_eq!(session.list_tools().await?[0].name, "weather");
/// let result = session.call_tool("weather", json!({"city": "Bern"})).await?;
/// assert_eq!(serde_json::to_value(&result.content)?[0]["text"], "sunny in Bern");
/// # Ok(())
/// # }
/// ```
///
/// To answer methods that the protocol doesn't declare, use a [handler](Self::handler) instead of functions.
#[must_use]
pub struct Client {
    info: hub::Implementation,
    capabilities: hub::ClientCapabilities,
    options: Options,
    answers: Answers,
    /// The handler that replaces the functions.
    handler: Option<Layered>,
    layers: Vec<Box<dyn FnOnce(Layered) -> Layered + Send>>,
}

/// A handler of a client's sessions that states its capabilities.
pub trait Capable: ClientHandler<Context<ClientSide>> + 'static {
    /// Returns the capabilities that its client declares.
    fn capabilities(&self) -> hub::ClientCapabilities;
}

impl Capable for () {
    fn capabilities(&self) -> hub::ClientCapabilities {
        hub::ClientCapabilities::default()
    }
}

/// A client that can connect several times.
#[doc(hidden)]
#[derive(Clone)]
pub struct Reusable {
    pub handler: Layered,
    pub info: ClientInfo,
    pub options: Options,
}

impl Reusable {
    /// Starts a session with a server.
    pub async fn connect(&self, transport: impl Transport) -> Result<ClientSession, ConnectError> {
        connect_with(
            self.handler.clone(),
            self.info.clone(),
            self.options.clone(),
            transport.into(),
            None,
        )
        .await
    }
}

type Layered = crate::session::Layered<ClientSide>;

impl Client {
    /// Creates a client with this name and version, and without functions.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: hub::Implementation::new(name, version),
            capabilities: hub::ClientCapabilities::default(),
            options: Options::default(),
            answers: Answers::default(),
            handler: None,
            layers: Vec::new(),
        }
    }

    /// Sets the client's description of itself, to add for example a title.
    pub fn info(mut self, info: hub::Implementation) -> Self {
        self.info = info;
        self
    }

    /// Sets the options of its sessions.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Handles requests and notifications by a handler instead of functions. The client declares the capabilities of
    /// the handler.
    pub fn handler(mut self, handler: impl Capable) -> Self {
        self.capabilities = handler.capabilities();
        self.handler = Some(Layered::from(handler));
        self
    }

    /// Answers elicitations with a form for the user to fill in. The result is made by [`accepted`](crate::accepted),
    /// [`declined`](crate::declined) or [`dismissed`](crate::dismissed).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation>
    pub fn elicit_form<F>(mut self, answer: impl Fn(hub::ElicitRequestFormParams) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<hub::ElicitResult, ErrorObject>> + Send + 'static,
    {
        self.answers.form = Some(boxed(answer));
        self.elicitation().form = Some(RawObject::default());
        self
    }

    /// Answers elicitations that send the user to a web page. The result states only whether the user agrees, not what
    /// the user does there.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation>
    pub fn elicit_url<F>(mut self, answer: impl Fn(hub::ElicitRequestUrlParams) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<hub::ElicitResult, ErrorObject>> + Send + 'static,
    {
        self.answers.url = Some(boxed(answer));
        self.elicitation().url = Some(RawObject::default());
        self
    }

    fn elicitation(&mut self) -> &mut hub::ClientCapabilitiesElicitation {
        self.capabilities.elicitation.get_or_insert_default()
    }

    /// Answers sampling requests, for the client's language model. The client declares it without tools, unless
    /// [`Self::capabilities`] adds them.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>
    pub fn create_message<F>(
        mut self,
        answer: impl Fn(hub::CreateMessageRequestParams) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<hub::CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.answers.message = Some(boxed(answer));
        self.capabilities.sampling.get_or_insert_default();
        self
    }

    /// Sets the function that lists the roots: the directories and files that servers may work in. It is called for
    /// each request.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/roots>
    pub fn roots(mut self, roots: impl Fn() -> Vec<hub::Root> + Send + Sync + 'static) -> Self {
        self.answers.roots = Some(Box::new(roots));
        self.capabilities.roots.get_or_insert_default();
        self
    }

    /// Handles the notifications of a method, such as one of a vendor, with parameters of any type that `serde`
    /// deserializes. The function can be async; the next notification waits for it. Of several functions for one
    /// method, the last is called. A notification whose parameters aren't of the type is dropped with a warning to
    /// `tracing`.
    ///
    /// The method can also be one of the protocol: its name and parameters are those of [`hub`], whatever the server's
    /// revision. [`Peer::changes`](crate::Peer::changes) gets the changes of lists and resources in every revision, and
    /// [`Peer::with_progress`](crate::Peer::with_progress) the progress of calls.
    ///
    /// ```
    /// use mcp_runtime::transport::channel;
    /// use mcp_runtime::{CallError, Client, Options, Peer, Router, ServerSide};
    /// use serde::Deserialize;
    /// use serde_json::json;
    ///
    /// #[derive(Deserialize)]
    /// struct Milestone {
    ///     visits: u64,
    /// }
    ///
    /// async fn visit(peer: Peer<ServerSide>) -> Result<(), CallError> {
    ///     peer.notify_method("notifications/x/milestone", json!({"visits": 100})).await
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (server, transport) = channel(16);
    /// Router::new("site", "1.0").tool("visit", "Visits the site", visit).serve(Options::default(), server);
    ///
    /// let (sender, mut milestones) = tokio::sync::mpsc::unbounded_channel();
    /// let client = Client::new("app", "1.0").on_notification("notifications/x/milestone", move |reached: Milestone| {
    ///     let _ = sender.send(reached.visits);
    /// });
    /// client.connect(transport).await?.call_tool("visit", ()).await?;
    /// assert_eq!(milestones.recv().await, Some(100));
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_notification<P, R, M>(
        mut self,
        method: impl Into<String>,
        function: impl Fn(P) -> R + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned,
        R: NotificationReturns<M>,
    {
        self.answers.listeners.insert(method.into(), listener(function));
        self
    }

    /// Changes the capabilities that the client declares. So far, they are those that its functions imply.
    pub fn capabilities(mut self, change: impl FnOnce(&mut hub::ClientCapabilities)) -> Self {
        change(&mut self.capabilities);
        self
    }

    /// Declares an extension of the protocol, without settings.
    pub fn extension(mut self, extension: &Extension) -> Self {
        let extensions = self.capabilities.extensions.get_or_insert_default();
        extensions.insert(extension.id.to_owned(), RawObject::default());
        self
    }

    /// Adds middleware around the functions. The last one added is the outermost.
    pub fn layer(mut self, middleware: impl Middleware<ClientSide>) -> Self {
        self.layers.push(Box::new(|layered| layered.layer(middleware)));
        self
    }

    /// Starts a session with a server, as [`connect`](crate::connect) does.
    ///
    /// # Errors
    /// When the server doesn't respond, or responds with a revision that isn't supported.
    pub async fn connect(self, transport: impl Transport) -> Result<ClientSession, ConnectError> {
        self.reusable().connect(transport).await
    }

    /// Starts a session with a stateless server without tasks and timers, for platforms that have neither.
    ///
    /// It is a session like any other, except that calls have no timeout: the time limits in [`Limits`](crate::Limits)
    /// aren't applied, and a call ends when its future is dropped. [`Changes`](crate::Changes) are received only while
    /// the stream is read. Revisions with a handshake aren't tried.
    ///
    /// # Errors
    /// When the server doesn't respond, or supports no stateless revision that the client supports.
    pub async fn connect_by(self, exchange: impl Exchange) -> Result<ClientSession, ConnectError> {
        let Reusable { handler, info, options } = self.reusable();
        connect_by(handler, info, options, exchange).await
    }

    /// Converts it into a client that can connect several times.
    #[doc(hidden)]
    pub fn reusable(self) -> Reusable {
        let handler = self.handler.unwrap_or_else(|| Layered::from(self.answers));
        let handler = self.layers.into_iter().fold(handler, |handler, layer| layer(handler));
        Reusable {
            handler,
            info: ClientInfo {
                implementation: self.info,
                capabilities: self.capabilities,
                begin: None,
                log_level: self.options.log_level.clone(),
            },
            options: self.options,
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("info", &self.info)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}
