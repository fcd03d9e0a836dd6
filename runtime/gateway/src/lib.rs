//! A gateway: one server in front of many, of any revisions and transports.
//!
//! Each client has a session with each server that it uses, through a bridge ([`mcp_runtime_bridge`]) that speaks the
//! revision of the client. So an input request of a server reaches only the client whose call it belongs to. The
//! gateway merges the lists of the servers, and finds the server of each call by its name.
//!
//! ```
//! use mcp_runtime::gateway::Gateway;
//! use mcp_runtime::transport::channel;
//! use mcp_runtime::{Client, Options, Router};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let in_process = |router: Router| move || {
//! #     let (server, client) = channel(16);
//! #     drop(router.clone().serve(Options::default(), server));
//! #     Ok(client)
//! # };
//! let git = Router::new("git", "1.0").tool("log", "Shows the history", || "nothing yet");
//! let clock = Router::new("clock", "1.0").tool("time", "Tells the time", || "noon");
//! // A `ServerConfig` starts a process or reaches a server over HTTP; these are in the same process.
//! let gateway = Gateway::new("tools", "1.0").server("git", in_process(git)).server("clock", in_process(clock));
//!
//! let (server, transport) = channel(16);
//! gateway.serve(server);
//! let session = Client::new("app", "1.0").connect(transport).await?;
//! let names: Vec<_> = session.list_tools().await?.into_iter().map(|tool| tool.name).collect();
//! assert_eq!(names, ["git_log", "clock_time"]);
//! assert!(session.call_tool("clock_time", json!({})).await?.is_error.is_none());
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod follow;
mod handler;
mod inner;
mod named;
mod policy;
mod report;
mod server;
mod session;

// rustfmt doesn't look for modules in macros.
#[cfg(rustfmt)]
mod completion;
mod declared;

mcp_adapters::if_hub_has! { CompleteRequest {
    mod completion;
} }

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_runtime_bridge::{Bridge, BridgeOptions, ClientId};
use mcp_runtime_clients::{NameError, Names, Naming};
use mcp_runtime_core::internal::{Server, ServerInfo, Subscriptions, start_server};
use mcp_runtime_core::transport::{Connector, Transport};
use mcp_runtime_core::{Limits, Options, ServerSession};

use self::handler::GatewayHandler;
use self::inner::Inner;
use self::named::Named;
use self::server::GatewayServer;
use self::session::GatewaySession;

pub use self::policy::{Policy, Routed};
pub use self::report::{CallReport, Outcome};
pub use mcp_runtime_bridge as bridge;

/// One server in front of many. Clones are the same gateway.
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

impl Gateway {
    /// Creates a gateway without servers.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::with_options(hub::Implementation::new(name, version), BridgeOptions::default())
    }

    /// Creates a gateway without servers, whose sessions have these options. A server that ends is always restarted.
    #[must_use]
    pub fn with_options(info: hub::Implementation, options: BridgeOptions) -> Self {
        let inner = Inner {
            info,
            instructions: None,
            servers: Vec::new(),
            names: Names::none(),
            page_size: 1000,
            time_limit: Duration::from_secs(20),
            options,
            policy: None,
            drops_undeclared: false,
            observer: None,
        };
        let inner = Arc::new(inner);
        Self { inner }
    }

    fn inner_mut(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.inner)
    }

    /// Adds a server: a function that connects to it, or a [`ServerConfig`](mcp_runtime_clients::ServerConfig). The
    /// names of its tools and prompts are prefixed with its name.
    ///
    /// # Panics
    /// When [`Self::try_server`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn server(self, name: impl Into<String>, connector: impl Connector) -> Self {
        match self.try_server(name, connector) {
            Ok(gateway) => gateway,
            Err(error) => panic!("{error}"),
        }
    }

    /// Adds a server; see [`Self::server`].
    ///
    /// # Errors
    /// When its name can't be distinguished from those of the others.
    pub fn try_server(mut self, name: impl Into<String>, connector: impl Connector) -> Result<Self, NameError> {
        let (name, inner) = (name.into(), self.inner_mut());
        let options = BridgeOptions {
            restart: false,
            ..inner.options.clone()
        };
        let bridge = Bridge::new(Named::new(&*name, connector), options);
        inner.servers.push(GatewayServer::new(name, bridge));
        let naming = inner.names.naming();
        self.named(naming)
    }

    /// Keeps the names of tools and prompts as their servers have them. If two servers use the same name, that of the
    /// server added first is visible, and the other is logged as a warning with `tracing`.
    #[must_use]
    pub fn flat(self) -> Self {
        // Names that are distinguished by their prefixes are different.
        self.clone().named(Naming::Flat).unwrap_or(self)
    }

    /// Puts the name of the server into the URI of each resource: `notes://today` of the server `work` becomes
    /// `notes://work/today`. Otherwise only URIs that an earlier server has too get this form.
    #[must_use]
    pub fn prefix_uris(mut self) -> Self {
        let inner = self.inner_mut();
        inner.names = inner.names.clone().with_prefixed_uris(true);
        self
    }

    fn named(mut self, naming: Naming) -> Result<Self, NameError> {
        let inner = self.inner_mut();
        let names = inner.servers.iter().map(|server| server.name.as_str());
        inner.names = Names::new(names, naming)?.with_prefixed_uris(inner.names.prefixes_uris());
        Ok(self)
    }

    /// Sets the instructions for the use of the gateway.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.inner_mut().instructions = Some(instructions.into());
        self
    }

    /// Sets the number of items on a page of a list. The default is 1,000, the minimum 1.
    #[must_use]
    pub fn page_size(mut self, items: usize) -> Self {
        self.inner_mut().page_size = items.max(1);
        self
    }

    /// Sets the time limit of each server for requests that go to all servers: to connect, to return a list, to read a
    /// resource that no server lists, and to answer a method that the protocol doesn't declare. A server that exceeds it
    /// is left out, and further requests of that kind wait for it only briefly. It keeps connecting; clients that
    /// subscribe are notified once it answers. For reads and undeclared methods, the time in which the client answers
    /// requests of the server doesn't count. The default is 20 seconds. A call of one server isn't limited: its client
    /// sets the timeout.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.inner_mut().time_limit = limit;
        self
    }

    /// Sets the policy that decides on each call: see [`Policy`].
    #[must_use]
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.inner_mut().policy = Some(Arc::new(policy));
        self
    }

    /// Drops the members of calls and their results that the revision of the gateway's types doesn't declare, which
    /// servers and clients could otherwise use to bypass the [`Policy`]. `_meta` and values that can be any JSON, such
    /// as arguments and structured content, stay whole.
    #[must_use]
    pub fn drop_undeclared(mut self) -> Self {
        self.inner_mut().drops_undeclared = true;
        self
    }

    /// Sets a function that gets a report of each call once it has ended, such as for metrics by server and tool.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&CallReport<'_>) + Send + Sync + 'static) -> Self {
        self.inner_mut().observer = Some(Arc::new(observer));
        self
    }

    /// Serves a client.
    pub fn serve(&self, transport: impl Transport) -> ServerSession {
        self.serve_for(ClientId::default(), transport)
    }

    /// Serves a client with a known identity, as [`Bridge::serve_for`] does.
    pub fn serve_for(&self, client: impl Into<ClientId>, transport: impl Transport) -> ServerSession {
        let inner = &self.inner;
        let options = Options {
            supported: inner.options.clients.clone(),
            limits: Limits {
                close_timeout: inner.options.close_timeout,
                ..Limits::default()
            },
            ..Options::default()
        };
        let server = Server::from(ServerInfo {
            implementation: inner.info.clone(),
            capabilities: capabilities(),
            instructions: inner.instructions.clone(),
            extra_capabilities: Vec::new(),
            agreement: None,
        });
        let session = GatewaySession::new(Arc::clone(inner), client.into());
        let subscriptions = Subscriptions::new(&options.limits, None);
        let handler = GatewayHandler(Arc::clone(&session));
        let serving = start_server(
            handler.into(),
            Arc::new(server),
            subscriptions,
            options,
            transport.into(),
        );
        let state = Arc::clone(serving.peer().state());
        tokio::spawn(follow::follow(session, state));
        serving
    }

    /// Ends all sessions with the servers.
    pub async fn close(&self) {
        for server in &self.inner.servers {
            server.bridge.close().await;
        }
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.inner.servers.iter().map(|server| &server.name);
        f.debug_list().entries(names).finish()
    }
}

/// All capabilities of a server: some server has each, or may have it once it is started.
fn capabilities() -> hub::ServerCapabilities {
    let changes = r#"{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},
        "logging":{},"completions":{}}"#;
    mcp_adapters::mcp_wire::from_str(changes).unwrap_or_default()
}
