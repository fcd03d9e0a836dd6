//! Clients of several servers, as if they were one.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_adapters::hello::ChangeFilter;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::error_code;
use mcp_runtime_core::transport::Connector;
use mcp_runtime_core::{CallError, Change, Client, ConnectError};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::backoff::Backoff;
use super::file::{FileError, ServersFile};
use super::names::{NameError, Names, Naming};
use super::reconnecting::ReconnectingClient;
use super::server::ServerConfig;

/// Clients of several servers. Each connects when it is needed, and again when its session is lost. The names of tools and prompts
/// have the name of their server before them ([`Naming`]).
///
/// ```no_run
/// use mcp_runtime::Client;
/// use mcp_runtime::clients::Clients;
/// use serde_json::json;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let clients = Clients::from_file("mcp.json", Client::new("app", "1.0"))?;
/// for failure in clients.connect().await {
///     eprintln!("{failure}");
/// }
/// let tools = clients.list_tools().await;
/// println!("{} tools of {} servers", tools.items.len(), clients.names().count());
/// let result = clients.call_tool("git_log", json!({"count": 5})).await?;
/// # Ok(())
/// # }
/// ```
pub struct Clients<C: Connector = ServerConfig> {
    servers: Vec<Server<C>>,
    names: Names,
    /// Which server has what can't be told by its name: tools and prompts with flat names, and resources.
    owners: Arc<Mutex<HashMap<Owned, usize>>>,
    /// What later servers have too, as far as that was logged.
    clashes: Arc<Mutex<HashSet<(Owned, usize)>>>,
}

struct Server<C: Connector> {
    name: String,
    client: ReconnectingClient<C>,
}

/// What a server has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Owned {
    Tool(String),
    Prompt(String),
    Resource(String),
    Template(String),
}

/// A server that can't be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("server {server:?}: {error}")]
#[non_exhaustive]
pub struct Failure {
    /// The name of the server.
    pub server: String,
    /// Why it can't be used.
    #[source]
    pub error: ConnectError,
}

/// A list of all servers.
#[derive(Debug)]
#[non_exhaustive]
pub struct Merged<T> {
    /// The items of the servers that have answered, in the order of the servers.
    pub items: Vec<T>,
    /// The servers that haven't.
    pub failures: Vec<Failure>,
}

impl Clients {
    /// The servers of a host's file, such as `mcp.json`; see [`ServersFile`].
    ///
    /// # Errors
    /// When it can't be read, isn't such a file, has a server that is invalid, or its names can't be told apart.
    pub fn from_file(path: impl AsRef<Path>, client: Client) -> Result<Self, FileError> {
        let path = path.as_ref();
        let failed = |reason: String| FileError {
            path: path.to_owned(),
            reason,
        };
        let servers = ServersFile::read(path)?.all().map_err(failed)?;
        Self::new(client, servers).map_err(|error| failed(error.to_string()))
    }
}

impl<C: Connector> Clients<C> {
    /// Clients of these servers, which all offer what `client` does.
    ///
    /// # Errors
    /// When the names of the servers can't be told apart.
    pub fn new(client: Client, servers: impl IntoIterator<Item = (String, C)>) -> Result<Self, NameError> {
        let client = client.reusable();
        let servers = servers.into_iter().map(|(name, connector)| {
            let client = ReconnectingClient::reusable(client.clone(), connector, Backoff::default());
            (name, client)
        });
        let servers: Vec<_> = servers.collect();
        let names = Names::new(servers.iter().map(|(name, _)| name.as_str()), Naming::Prefixed)?;
        Ok(Self::with_names(names, servers))
    }

    /// Clients whose names are known to be told apart.
    #[doc(hidden)]
    pub fn with_names(names: Names, servers: impl IntoIterator<Item = (String, ReconnectingClient<C>)>) -> Self {
        let servers = servers.into_iter().map(|(name, client)| Server { name, client });
        Self {
            servers: servers.collect(),
            names,
            owners: Arc::default(),
            clashes: Arc::default(),
        }
    }

    /// Names tools and prompts as their servers do.
    ///
    /// # Errors
    /// None that [`Self::new`] doesn't give.
    pub fn flat(self) -> Result<Self, NameError> {
        let names = Names::new(self.names(), Naming::Flat)?;
        Ok(Self { names, ..self })
    }

    /// The names of the servers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|server| server.name.as_str())
    }

    /// The servers: the name and the client of each.
    ///
    /// ```no_run
    /// # async fn example(clients: mcp_runtime::clients::Clients) -> Result<(), Box<dyn std::error::Error>> {
    /// for (name, client) in clients.servers() {
    ///     println!("{name} has {} tools", client.list_tools().await?.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn servers(&self) -> impl Iterator<Item = (&str, &ReconnectingClient<C>)> {
        let servers = self.servers.iter();
        servers.map(|server| (server.name.as_str(), &server.client))
    }

    /// The client of one server.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&ReconnectingClient<C>> {
        let server = self.servers.iter().find(|server| server.name == name);
        server.map(|server| &server.client)
    }

    /// The client of the server at a position.
    #[doc(hidden)]
    #[must_use]
    pub fn at(&self, server: usize) -> Option<(&str, &ReconnectingClient<C>)> {
        let server = self.servers.get(server)?;
        Some((&server.name, &server.client))
    }

    /// Connects to all servers side by side, and returns those that can't be reached.
    pub async fn connect(&self) -> Vec<Failure> {
        let connected = self.each(|client| async move { client.peer().await.map(drop) });
        self.split(connected.await).1
    }

    /// The tools of all servers.
    pub async fn list_tools(&self) -> Merged<hub::Tool> {
        let tools = self.list(|client| async move { client.list_tools().await }).await;
        self.name(tools, |tool| &mut tool.name, Owned::Tool)
    }

    /// The prompts of all servers.
    pub async fn list_prompts(&self) -> Merged<hub::Prompt> {
        let prompts = self.list(|client| async move { client.list_prompts().await }).await;
        self.name(prompts, |prompt| &mut prompt.name, Owned::Prompt)
    }

    /// The resources of all servers. Their URIs stay as they are; of those with one URI, the first is listed.
    pub async fn list_resources(&self) -> Merged<hub::Resource> {
        let (lists, failures) = self.list(|client| async move { client.list_resources().await }).await;
        let mut items = Vec::new();
        for (server, resource) in lists {
            if self.own(Owned::Resource(resource.uri.clone()), server) {
                items.push(resource);
            }
        }
        Merged { items, failures }
    }

    /// The templates of the resources of all servers. Of those with one text, the first is listed.
    pub async fn list_resource_templates(&self) -> Merged<hub::ResourceTemplate> {
        let listed = self.list(|client| async move { client.list_resource_templates().await });
        let (lists, failures) = listed.await;
        let mut items = Vec::new();
        for (server, template) in lists {
            if self.own(Owned::Template(template.uri_template.clone()), server) {
                items.push(template);
            }
        }
        Merged { items, failures }
    }

    /// Calls a tool by the name that [`Self::list_tools`] gives it; see [`ReconnectingClient::call_tool`].
    ///
    /// # Errors
    /// When no server has the tool, and those of [`ReconnectingClient::call_tool`].
    pub async fn call_tool(&self, name: &str, arguments: impl Serialize) -> Result<hub::CallToolResult, ConnectError> {
        let (server, name) = self.tool_server(name).await.ok_or_else(|| unknown("tool", name))?;
        self.client(server)?.call_tool(&name, arguments).await
    }

    /// Gets a prompt by the name that [`Self::list_prompts`] gives it; see [`ReconnectingClient::get_prompt`].
    ///
    /// # Errors
    /// When no server has the prompt, and those of [`ReconnectingClient::get_prompt`].
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<hub::GetPromptResult, ConnectError> {
        let (server, name) = self.prompt_server(name).await.ok_or_else(|| unknown("prompt", name))?;
        self.client(server)?.get_prompt(&name, arguments).await
    }

    /// Reads a resource of the server that lists it. A URI that none lists is read from the first server that has it.
    ///
    /// # Errors
    /// When no server has the resource, and those of [`ReconnectingClient::read_resource`].
    pub async fn read_resource(&self, uri: &str) -> Result<hub::ReadResourceResult, ConnectError> {
        if let Some(server) = self.resource_server(uri).await {
            return self.client(server)?.read_resource(uri).await;
        }
        let mut failure = unknown("resource", uri);
        for (server, Server { client, .. }) in self.servers.iter().enumerate() {
            match client.read_resource(uri).await {
                Ok(contents) => {
                    self.own(Owned::Resource(uri.to_owned()), server);
                    return Ok(contents);
                }
                Err(error) if is_absent(&error) => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// The changes of all servers, each with the name of its server.
    #[must_use]
    pub fn changes(&self, filter: &ChangeFilter) -> mpsc::Receiver<(String, Result<Change, ConnectError>)> {
        let (sender, changes) = mpsc::channel(64);
        for Server { name, client } in &self.servers {
            let (name, sender, mut followed) = (name.clone(), sender.clone(), client.changes(filter.clone()));
            tokio::spawn(async move {
                while let Some(change) = tokio::select! {
                    change = followed.next() => change,
                    () = sender.closed() => None,
                } {
                    if sender.send((name.clone(), change)).await.is_err() {
                        break;
                    }
                }
            });
        }
        changes
    }

    /// Ends all sessions for good.
    pub async fn close(&self) {
        self.each(|client| async move { client.close().await }).await;
    }

    /// The server of a tool, and its name there.
    #[doc(hidden)]
    pub async fn tool_server(&self, name: &str) -> Option<(usize, String)> {
        let known = self.known(name, Owned::Tool);
        if known.is_some() || self.names.naming() == Naming::Prefixed {
            return known;
        }
        self.list_tools().await;
        self.known(name, Owned::Tool)
    }

    /// The server of a prompt, and its name there.
    #[doc(hidden)]
    pub async fn prompt_server(&self, name: &str) -> Option<(usize, String)> {
        let known = self.known(name, Owned::Prompt);
        if known.is_some() || self.names.naming() == Naming::Prefixed {
            return known;
        }
        self.list_prompts().await;
        self.known(name, Owned::Prompt)
    }

    /// The server that lists a resource.
    #[doc(hidden)]
    pub async fn resource_server(&self, uri: &str) -> Option<usize> {
        let owned = Owned::Resource(uri.to_owned());
        if let Some(server) = self.owners().get(&owned).copied() {
            return Some(server);
        }
        self.list_resources().await;
        self.owners().get(&owned).copied()
    }

    /// The server that lists a template of resources.
    #[doc(hidden)]
    pub async fn template_server(&self, uri_template: &str) -> Option<usize> {
        let owned = Owned::Template(uri_template.to_owned());
        if let Some(server) = self.owners().get(&owned).copied() {
            return Some(server);
        }
        self.list_resource_templates().await;
        self.owners().get(&owned).copied()
    }

    /// The server that lists a resource, if that is known.
    #[doc(hidden)]
    #[must_use]
    pub fn known_resource_server(&self, uri: &str) -> Option<usize> {
        self.owners().get(&Owned::Resource(uri.to_owned())).copied()
    }

    /// The number of servers.
    #[doc(hidden)]
    #[must_use]
    pub fn count(&self) -> usize {
        self.servers.len()
    }

    /// The server that was found to have a resource which none lists.
    #[doc(hidden)]
    pub fn own_resource(&self, uri: &str, server: usize) {
        self.own(Owned::Resource(uri.to_owned()), server);
    }

    fn known(&self, name: &str, owned: impl Fn(String) -> Owned) -> Option<(usize, String)> {
        match self.names.naming() {
            Naming::Prefixed => self.names.inner(name).map(|(server, name)| (server, name.to_owned())),
            Naming::Flat => {
                let server = self.owners().get(&owned(name.to_owned())).copied()?;
                Some((server, name.to_owned()))
            }
        }
    }

    fn owners(&self) -> std::sync::MutexGuard<'_, HashMap<Owned, usize>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers whose something is; `false` if an earlier server has it.
    fn own(&self, owned: Owned, server: usize) -> bool {
        let mut owners = self.owners();
        match owners.get(&owned).copied() {
            Some(owner) if owner < server => {
                drop(owners);
                let mut clashes = self.clashes.lock().unwrap_or_else(PoisonError::into_inner);
                if !clashes.insert((owned.clone(), server)) {
                    return false;
                }
                let names = [owner, server].map(|server| self.servers.get(server).map(|server| &*server.name));
                tracing::warn!(
                    first = names[0],
                    second = names[1],
                    ?owned,
                    "two servers have it: the first one's is used"
                );
                false
            }
            _ => {
                owners.insert(owned, server);
                true
            }
        }
    }

    fn client(&self, server: usize) -> Result<&ReconnectingClient<C>, CallError> {
        let server = self.servers.get(server);
        server.map(|server| &server.client).ok_or(CallError::Closed)
    }

    /// Gives the items of lists the names by which others know them, and leaves out those that an earlier server has.
    fn name<T>(
        &self,
        (lists, failures): (Vec<(usize, T)>, Vec<Failure>),
        name: impl Fn(&mut T) -> &mut String,
        owned: impl Fn(String) -> Owned,
    ) -> Merged<T> {
        let mut items = Vec::new();
        for (server, mut item) in lists {
            let named = name(&mut item);
            *named = self.names.outer(server, named).into_owned();
            if self.own(owned(named.clone()), server) {
                items.push(item);
            }
        }
        Merged { items, failures }
    }

    /// A list of all servers, each item with its server. A server without the list has an empty one.
    async fn list<T, F>(&self, list: impl Fn(ReconnectingClient<C>) -> F) -> (Vec<(usize, T)>, Vec<Failure>)
    where
        T: Send + 'static,
        F: Future<Output = Result<Vec<T>, ConnectError>> + Send + 'static,
    {
        let listed = self.each(list).await.into_iter().map(|listed| match listed {
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            listed => listed,
        });
        let (lists, failures) = self.split(listed.collect());
        let items = lists
            .into_iter()
            .flat_map(|(server, items)| items.into_iter().map(move |item| (server, item)));
        (items.collect(), failures)
    }

    /// Does something with all servers side by side. Its results are in the order of the servers.
    async fn each<T, F>(&self, run: impl Fn(ReconnectingClient<C>) -> F) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let mut tasks = JoinSet::new();
        for (server, Server { client, .. }) in self.servers.iter().enumerate() {
            let running = run(client.clone());
            tasks.spawn(async move { (server, running.await) });
        }
        let mut results = tasks.join_all().await;
        results.sort_unstable_by_key(|(server, _)| *server);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// The results of those servers that have any, and the failures of the others.
    fn split<T>(&self, results: Vec<Result<T, ConnectError>>) -> (Vec<(usize, T)>, Vec<Failure>) {
        let (mut done, mut failures) = (Vec::new(), Vec::new());
        for ((number, server), result) in self.servers.iter().enumerate().zip(results) {
            match result {
                Ok(result) => done.push((number, result)),
                Err(error) => failures.push(Failure {
                    server: server.name.clone(),
                    error,
                }),
            }
        }
        (done, failures)
    }
}

impl<C: Connector> std::fmt::Debug for Clients<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// The error for what no server has.
fn unknown(what: &str, name: &str) -> ConnectError {
    CallError::Unrepresentable(format!("no server has the {what} {name:?}")).into()
}

/// Whether a server says that it doesn't have what it is asked for.
#[doc(hidden)]
pub fn is_absent(error: &ConnectError) -> bool {
    let ConnectError::Call(error) = error else { return false };
    let absent = [
        error_code::METHOD_NOT_FOUND,
        error_code::INVALID_PARAMS,
        hub::error_code::RESOURCE_NOT_FOUND,
    ];
    match error {
        CallError::NotOffered { .. } => true,
        error => error.error_object().is_some_and(|error| absent.contains(&error.code)),
    }
}
