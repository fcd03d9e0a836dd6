//! A client that starts a new session when the old one is lost.

use std::collections::HashSet;
use std::sync::Arc;

use mcp_adapters::handlers::CallServer as _;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::DecodeError;
use mcp_runtime_core::http::StatusCode;
use mcp_runtime_core::internal::Reusable;
use mcp_runtime_core::transport::Connector;
use mcp_runtime_core::{CallError, Client, ClientSession, ClientSide, ConnectError, Peer};
use mcp_runtime_local::stdio::SpawnError;
use mcp_runtime_util::Mutex;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;

/// A client of one server that starts a new session with the next call when the old one is lost, such as when the
/// server's process has ended. Clones are the same client.
///
/// A call that fails because the session is lost is repeated once if that is safe: lists, reading resources, getting
/// prompts, and calls of tools that the server has listed as read-only (`readOnlyHint`) or idempotent
/// (`idempotentHint`). Other calls fail, since the server may already have executed them.
///
/// Connecting continues when the call that waits for it is dropped, so that a server that is slow to start is ready for
/// a later call.
///
/// ```
/// use mcp_runtime::clients::ReconnectingClient;
/// use mcp_runtime::transport::channel;
/// use mcp_runtime::{Client, Options, Router};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let router = Router::new("clock", "1.0").tool("time", "Tells the time", || "noon");
/// let connect = move || {
///     let (server, client) = channel(16);
///     drop(router.clone().serve(Options::default(), server));
///     Ok(client)
/// };
/// let client = ReconnectingClient::new(Client::new("app", "1.0"), connect);
/// assert_eq!(client.list_tools().await?[0].name, "time");
/// client.close().await;
/// assert!(client.is_closed());
/// # Ok(())
/// # }
/// ```
pub struct ReconnectingClient<C: Connector> {
    inner: Arc<Inner<C>>,
}

struct Inner<C> {
    connector: C,
    client: Reusable,
    backoff: Backoff,
    state: Mutex<State>,
    /// Locked while it connects, so that other calls wait for that.
    connecting: tokio::sync::Mutex<()>,
    /// The tools whose calls can be repeated.
    repeatable: Mutex<HashSet<String>>,
    closing: CancellationToken,
}

#[derive(Default)]
struct State {
    session: Option<ClientSession>,
    has_connected: bool,
}

impl<C: Connector> Clone for ReconnectingClient<C> {
    fn clone(&self) -> Self {
        let inner = Arc::clone(&self.inner);
        Self { inner }
    }
}

impl<C: Connector> ReconnectingClient<C> {
    /// Creates a client that connects with `connector` when it is first used.
    pub fn new(client: Client, connector: C) -> Self {
        Self::with_backoff(client, connector, Backoff::default())
    }

    /// Like [`Self::new`], with this backoff.
    pub fn with_backoff(client: Client, connector: C, backoff: Backoff) -> Self {
        Self::reusable(client.reusable(), connector, backoff)
    }

    #[doc(hidden)]
    pub fn reusable(client: Reusable, connector: C, backoff: Backoff) -> Self {
        let inner = Inner {
            connector,
            client,
            backoff,
            state: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            repeatable: Mutex::default(),
            closing: CancellationToken::new(),
        };
        let inner = Arc::new(inner);
        Self { inner }
    }

    /// Returns a handle of the server in the current session, or starts a session. Don't keep the handle: another
    /// session has another one.
    ///
    /// # Errors
    /// When all attempts to reach the server fail, the server refuses the session, or the client is closed.
    pub async fn peer(&self) -> Result<Peer<ClientSide>, ConnectError> {
        if let Some(peer) = self.inner.connected() {
            return Ok(peer);
        }
        let inner = Arc::clone(&self.inner);
        let (waiting, _waits) = oneshot::channel::<()>();
        // The task also waits for the lock: a caller that gets it and isn't polled any more would hold up all others.
        let connected = tokio::spawn(async move {
            let _connecting = inner.connecting.lock().await;
            if waiting.is_closed() {
                return Err(CallError::Closed.into());
            }
            if let Some(peer) = inner.connected() {
                return Ok(peer);
            }
            let has_connected = inner.state.lock().has_connected;
            let session = tokio::select! {
                biased;
                () = inner.closing.cancelled() => return Err(CallError::Closed.into()),
                session = inner.connect(has_connected) => session?,
            };
            let peer = session.peer().clone();
            let mut state = inner.state.lock();
            (state.session, state.has_connected) = (Some(session), true);
            Ok::<_, ConnectError>(peer)
        });
        match connected.await.map_err(JoinError::try_into_panic) {
            Ok(connected) => connected,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            // The runtime is shutting down.
            Err(Err(_)) => Err(CallError::Closed.into()),
        }
    }

    /// Whether there is a session now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.inner.connected().is_some()
    }

    /// Calls the server. If the session is lost, a call that `is_safe` is repeated once, in a new session.
    ///
    /// # Errors
    /// When there is no session, or the call fails.
    pub async fn call<T, F>(&self, is_safe: bool, call: impl Fn(Peer<ClientSide>) -> F) -> Result<T, ConnectError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let peer = self.peer().await?;
        match call(peer.clone()).await {
            Err(error) if is_safe && is_lost(&error) && !self.is_closed() => {
                tracing::debug!(%error, "a call is repeated in another session");
                // Over HTTP, a session can outlive a call whose response is cut.
                if matches!(error, CallError::Closed | CallError::Exited(_)) {
                    self.end_session(&peer);
                }
                Ok(call(self.peer().await?).await?)
            }
            called => Ok(called?),
        }
    }

    /// Ends the current session if it is that of a peer. Its calls can fail before it has ended.
    fn end_session(&self, peer: &Peer<ClientSide>) {
        let mut state = self.inner.state.lock();
        let is_it = |session: &mut ClientSession| Arc::ptr_eq(session.peer().state(), peer.state());
        if let Some(session) = state.session.take_if(is_it) {
            session.closing_token().cancel();
        }
    }

    /// Lists all tools of the server.
    ///
    /// # Errors
    /// Those of [`Self::call`].
    pub async fn list_tools(&self) -> Result<Vec<hub::Tool>, ConnectError> {
        let tools: Vec<hub::Tool> = self.call(true, async |peer| peer.list_all().await).await?;
        let repeatable = tools.iter().filter(|tool| is_repeatable(tool));
        *self.inner.repeatable.lock() = repeatable.map(|tool| tool.name.clone()).collect();
        Ok(tools)
    }

    /// Lists all prompts of the server.
    ///
    /// # Errors
    /// Those of [`Self::call`].
    pub async fn list_prompts(&self) -> Result<Vec<hub::Prompt>, ConnectError> {
        self.call(true, async |peer| peer.list_all().await).await
    }

    /// Lists all resources of the server.
    ///
    /// # Errors
    /// Those of [`Self::call`].
    pub async fn list_resources(&self) -> Result<Vec<hub::Resource>, ConnectError> {
        self.call(true, async |peer| peer.list_all().await).await
    }

    /// Lists all resource templates of the server.
    ///
    /// # Errors
    /// Those of [`Self::call`].
    pub async fn list_resource_templates(&self) -> Result<Vec<hub::ResourceTemplate>, ConnectError> {
        self.call(true, async |peer| peer.list_all().await).await
    }

    /// Calls a tool with arguments that serialize to an object; `()` means no arguments.
    ///
    /// # Errors
    /// When the arguments aren't an object, and those of [`Self::call`].
    pub async fn call_tool(&self, name: &str, arguments: impl Serialize) -> Result<hub::CallToolResult, ConnectError> {
        let mut params = hub::CallToolRequestParams::new(name);
        params.arguments = mcp_runtime_core::internal::object(&arguments)?;
        let is_safe = self.inner.repeatable.lock().contains(name);
        let call = |peer: Peer<ClientSide>| {
            let params = params.clone();
            async move { peer.call_tool(params).await }
        };
        self.call(is_safe, call).await
    }

    /// Gets a prompt with arguments that serialize to an object of strings; `()` means no arguments.
    ///
    /// # Errors
    /// When the arguments aren't such an object, and those of [`Self::call`].
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<hub::GetPromptResult, ConnectError> {
        let mut params = hub::GetPromptRequestParams::new(name);
        let arguments = mcp_runtime_core::internal::object(&arguments)?.map(|arguments| arguments.decode_as());
        let invalid = |error: DecodeError| CallError::InvalidParams(error.to_string());
        params.arguments = arguments.transpose().map_err(invalid)?;
        let get = |peer: Peer<ClientSide>| {
            let params = params.clone();
            async move { peer.get_prompt(params).await }
        };
        self.call(true, get).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// Those of [`Self::call`].
    pub async fn read_resource(&self, uri: &str) -> Result<hub::ReadResourceResult, ConnectError> {
        let params = hub::ReadResourceRequestParams::new(uri);
        let read = |peer: Peer<ClientSide>| {
            let params = params.clone();
            async move { peer.read_resource(params).await }
        };
        self.call(true, read).await
    }

    /// Returns the backoff between attempts to connect.
    #[must_use]
    pub fn backoff(&self) -> Backoff {
        self.inner.backoff
    }

    /// Whether [`Self::close`] was called. A session that is lost doesn't close the client.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.closing.is_cancelled()
    }

    /// Waits until the client is closed.
    pub async fn closed(&self) {
        self.inner.closing.cancelled().await;
    }

    /// Ends the session permanently.
    pub async fn close(&self) {
        self.inner.closing.cancel();
        let connecting = self.inner.connecting.lock().await;
        let session = self.inner.state.lock().session.take();
        drop(connecting);
        if let Some(session) = session {
            session.close().await;
        }
    }
}

impl<C: Connector> Inner<C> {
    /// Returns a handle of the server in the current session, if there is one.
    fn connected(&self) -> Option<Peer<ClientSide>> {
        let state = self.state.lock();
        let session = state.session.as_ref().filter(|session| !session.is_closed())?;
        Some(session.peer().clone())
    }

    /// Starts a session, in as many attempts as the backoff allows.
    async fn connect(&self, has_connected: bool) -> Result<ClientSession, ConnectError> {
        let mut client = self.client.clone();
        if has_connected {
            // The server may have been replaced, so an earlier discovery no longer counts.
            client.options.discovery = None;
        }
        let mut failures = 0;
        loop {
            let connected = async {
                let transport = self.connector.connect().await.map_err(CallError::from)?;
                client.connect(transport).await
            };
            let error = match connected.await {
                Ok(session) => return Ok(session),
                Err(error) => error,
            };
            failures += 1;
            if failures >= self.backoff.attempts || !is_temporary(&error) {
                return Err(error);
            }
            tracing::debug!(%error, failures, "the server isn't reached");
            tokio::time::sleep(self.backoff.after(failures)).await;
        }
    }
}

impl<C: Connector> std::fmt::Debug for ReconnectingClient<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReconnectingClient").finish_non_exhaustive()
    }
}

fn is_repeatable(tool: &hub::Tool) -> bool {
    let hints = tool.annotations.as_ref();
    hints.is_some_and(|hints| hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true))
}

/// Whether a call failed because the session is lost.
fn is_lost(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Closed | CallError::Exited(_) | CallError::Cut(_) | CallError::Transport(_)
    )
}

/// Whether another attempt to connect may succeed.
pub fn is_temporary(error: &ConnectError) -> bool {
    match error {
        ConnectError::Call(CallError::Transport(error)) => error.downcast_ref::<SpawnError>().is_none(),
        ConnectError::Call(CallError::Http(failure)) => {
            let passing = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
            failure.status.is_server_error() || passing.contains(&failure.status)
        }
        ConnectError::Call(error) => is_lost(error) || matches!(error, CallError::TimedOut(_)),
        _ => false,
    }
}
