//! Clients of several servers, used like one.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::error_code;
use mcp_adapters::session_messages::ChangeFilter;
use mcp_runtime_core::transport::Connector;
use mcp_runtime_core::{CallError, Change, Client, ClientSide, ConnectError, Peer};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::backoff::Backoff;
use super::file::{FileError, ServersFile};
use super::listed::{Kind, Listed};
use super::names::{NameError, Names, Naming};
use super::reconnecting::ReconnectingClient;
use super::responsiveness::Responsiveness;
use super::server::ServerConfig;

/// The default time limit of each server for requests that go to all servers.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Clients of several servers. Each connects when it is needed, and again when its session is lost. The names of tools
/// and prompts are prefixed with the name of their server ([`Naming`]). Resources keep their URIs, unless an earlier
/// server has the same: then the URI has the name of its server as the first part of its path, so that `notes://today`
/// of the server `work` is `notes://work/today`.
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
    pub(super) servers: Vec<Server<C>>,
    pub(super) names: Names,
    pub(super) listed: Listed,
    pub(super) time_limit: Duration,
}

pub struct Server<C: Connector> {
    name: String,
    client: ReconnectingClient<C>,
    pub(super) responsiveness: Responsiveness,
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

/// A list merged from all servers.
#[derive(Debug)]
#[non_exhaustive]
pub struct Merged<T> {
    /// The items of the servers that have responded, in the order of the servers.
    pub items: Vec<T>,
    /// The servers that have failed.
    pub failures: Vec<Failure>,
}

impl Clients {
    /// Creates clients of the servers in a host's file, such as `mcp.json`; see [`ServersFile`].
    ///
    /// # Errors
    /// When the file can't be read or isn't such a file, a server in it is invalid, or the names of the servers can't
    /// be distinguished.
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
    /// Creates clients of these servers, all configured like `client`.
    ///
    /// # Errors
    /// When the names of the servers can't be distinguished.
    pub fn new(client: Client, servers: impl IntoIterator<Item = (String, C)>) -> Result<Self, NameError> {
        let client = client.reusable();
        let servers = servers.into_iter().map(|(name, connector)| {
            let client = ReconnectingClient::reusable(client.clone(), connector, Backoff::default());
            (name, client, Responsiveness::default())
        });
        let servers: Vec<_> = servers.collect();
        let names = Names::new(servers.iter().map(|(name, ..)| name.as_str()), Naming::Prefixed)?;
        Ok(Self::with_names(names, servers))
    }

    /// Creates clients from names that are known to be distinguishable.
    #[doc(hidden)]
    pub fn with_names(
        names: Names,
        servers: impl IntoIterator<Item = (String, ReconnectingClient<C>, Responsiveness)>,
    ) -> Self {
        let servers = servers.into_iter().map(|(name, client, responsiveness)| Server {
            name,
            client,
            responsiveness,
        });
        Self {
            servers: servers.collect(),
            names,
            listed: Listed::default(),
            time_limit: TIME_LIMIT,
        }
    }

    /// Keeps the names of tools and prompts as their servers have them.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn flat(self) -> Result<Self, NameError> {
        let names = Names::new(self.names(), Naming::Flat)?.with_prefixed_uris(self.names.prefixes_uris());
        Ok(Self { names, ..self })
    }

    /// Puts the name of the server into the URI of each resource, not only into URIs that several servers have.
    #[must_use]
    pub fn prefix_uris(mut self) -> Self {
        self.names = self.names.with_prefixed_uris(true);
        self
    }

    /// Sets the time limit of each server for requests that go to all servers: to connect, and to return a list. A
    /// server that exceeds it is reported as a [`Failure`], but keeps connecting. Further requests wait for it only
    /// briefly until it answers. The default is 20 seconds.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Returns the names of the servers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|server| server.name.as_str())
    }

    /// Returns the name and the client of each server.
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

    /// Returns the client of one server.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&ReconnectingClient<C>> {
        let server = self.servers.iter().find(|server| server.name == name);
        server.map(|server| &server.client)
    }

    /// Returns the client of the server at a position.
    #[doc(hidden)]
    #[must_use]
    pub fn at(&self, server: usize) -> Option<(&str, &ReconnectingClient<C>)> {
        let server = self.servers.get(server)?;
        Some((&server.name, &server.client))
    }

    /// Returns whether the server at a position answers in time.
    #[doc(hidden)]
    #[must_use]
    pub fn responsiveness(&self, server: usize) -> Responsiveness {
        let server = self.servers.get(server);
        server.map(|server| server.responsiveness.clone()).unwrap_or_default()
    }

    /// Connects to all servers concurrently. Returns those that can't be reached within the
    /// [time limit](Self::time_limit).
    pub async fn connect(&self) -> Vec<Failure> {
        let connected = self.ask(self.time_limit, |client| async move { client.peer().await.map(drop) });
        let connected = self.servers.iter().zip(connected.await);
        connected
            .filter_map(|(server, connected)| Some(server.failed(connected.err()?)))
            .collect()
    }

    /// Lists the tools of all servers.
    pub async fn list_tools(&self) -> Merged<hub::Tool> {
        let tools = self.ask(self.time_limit, |client| async move { client.list_tools().await });
        self.merge(Kind::Tool, tools.await, |tool| &mut tool.name)
    }

    /// Lists the prompts of all servers.
    pub async fn list_prompts(&self) -> Merged<hub::Prompt> {
        let prompts = self.ask(self.time_limit, |client| async move { client.list_prompts().await });
        self.merge(Kind::Prompt, prompts.await, |prompt| &mut prompt.name)
    }

    /// Lists the resources of all servers.
    pub async fn list_resources(&self) -> Merged<hub::Resource> {
        self.resources_within(self.time_limit).await
    }

    pub(super) async fn resources_within(&self, limit: Duration) -> Merged<hub::Resource> {
        let resources = self.ask(limit, |client| async move { client.list_resources().await });
        self.merge(Kind::Resource, resources.await, |resource| &mut resource.uri)
    }

    /// Lists the resource templates of all servers.
    pub async fn list_resource_templates(&self) -> Merged<hub::ResourceTemplate> {
        self.templates_within(self.time_limit).await
    }

    pub(super) async fn templates_within(&self, limit: Duration) -> Merged<hub::ResourceTemplate> {
        let listed = self.ask(limit, |client| async move { client.list_resource_templates().await });
        self.merge(Kind::Template, listed.await, |template| &mut template.uri_template)
    }

    /// Calls a tool by the name that [`Self::list_tools`] gives it; see [`ReconnectingClient::call_tool`].
    ///
    /// # Errors
    /// When no server has the tool, and those of [`ReconnectingClient::call_tool`].
    pub async fn call_tool(&self, name: &str, arguments: impl Serialize) -> Result<hub::CallToolResult, ConnectError> {
        let (server, name) = self.tool_server(name).await.ok_or_else(|| unknown("tool", name))?;
        let mut result = self.client(server)?.call_tool(&name, arguments).await?;
        self.rename_links(server, &mut result).await;
        Ok(result)
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
        let mut result = self.client(server)?.get_prompt(&name, arguments).await?;
        self.rename_links(server, &mut result).await;
        Ok(result)
    }

    /// Reads a resource from the server that lists it. If no server lists the URI, the resource is read from the server
    /// that the URI names, or the first that has it.
    ///
    /// # Errors
    /// When no server has the resource, and those of [`ReconnectingClient::read_resource`].
    pub async fn read_resource(&self, uri: &str) -> Result<hub::ReadResourceResult, ConnectError> {
        let (servers, is_listed) = match self.resource_server(uri).await {
            Some(owned) => (vec![owned], true),
            None => (self.resource_candidates(uri), false),
        };
        let mut failure = unknown("resource", uri);
        for (server, own) in servers {
            match self.client(server)?.read_resource(&own).await {
                Ok(mut result) => {
                    if !is_listed {
                        self.found_resource(uri, server, own);
                    }
                    self.rename_links(server, &mut result).await;
                    return Ok(result);
                }
                Err(error) if is_absent(&error) && !is_listed => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Subscribes to the changes of all servers. Each change comes with the name of its server.
    #[must_use]
    pub fn changes(&self, filter: &ChangeFilter) -> mpsc::Receiver<(String, Result<Change, ConnectError>)> {
        let (sender, changes) = mpsc::channel(64);
        for (server, Server { name, client, .. }) in self.servers.iter().enumerate() {
            let (filter, outer) = self.filter_of(server, filter);
            let (name, sender, mut followed) = (name.clone(), sender.clone(), client.changes(filter));
            tokio::spawn(async move {
                while let Some(change) = tokio::select! {
                    change = followed.next() => change,
                    () = sender.closed() => None,
                } {
                    let change = change.map(|change| renamed(change, &outer));
                    if sender.send((name.clone(), change)).await.is_err() {
                        break;
                    }
                }
            });
        }
        changes
    }

    /// Returns the part of a filter that concerns one server, and the outer URIs of its resources by their own URIs. A
    /// resource whose server isn't known is part of the filter of each server.
    fn filter_of(&self, server: usize, filter: &ChangeFilter) -> (ChangeFilter, HashMap<String, String>) {
        let (mut filter, mut outer) = (filter.clone(), HashMap::new());
        for uri in std::mem::take(&mut filter.resources) {
            let known = self.listed.owner(&self.names, Kind::Resource, &uri);
            let (owner, own) = known
                .or_else(|| self.names.inner_uri(&uri))
                .unwrap_or_else(|| (server, uri.clone()));
            if owner == server {
                filter.resources.push(own.clone());
                outer.insert(own, uri);
            }
        }
        (filter, outer)
    }

    /// Ends all sessions permanently.
    pub async fn close(&self) {
        let close = |server: &Server<C>| {
            let client = server.client.clone();
            async move { client.close().await }
        };
        self.each(close).await;
    }

    /// Returns the number of servers.
    #[doc(hidden)]
    #[must_use]
    pub fn count(&self) -> usize {
        self.servers.len()
    }

    fn client(&self, server: usize) -> Result<&ReconnectingClient<C>, CallError> {
        let server = self.servers.get(server);
        server.map(|server| &server.client).ok_or(CallError::Closed)
    }

    /// Merges the lists of all servers. A server that doesn't have the list counts as having an empty one.
    fn merge<T>(
        &self,
        kind: Kind,
        lists: Vec<Result<Vec<T>, ConnectError>>,
        name: impl Fn(&mut T) -> &mut String,
    ) -> Merged<T> {
        let mut failures = Vec::new();
        let lists = self.servers.iter().zip(lists).map(|(server, list)| match list {
            Ok(list) => Some(list),
            Err(error) if is_absent(&error) => Some(Vec::new()),
            Err(error) => {
                failures.push(server.failed(error));
                None
            }
        });
        let lists = lists.collect();
        let items = self.listed.merge(&self.names, kind, lists, name);
        Merged { items, failures }
    }

    /// Connects to one server, within the time limit.
    #[doc(hidden)]
    pub async fn connect_in_time(&self, server: usize) -> Result<Peer<ClientSide>, ConnectError> {
        let server = self.servers.get(server).ok_or(CallError::Closed)?;
        let client = server.client.clone();
        let connecting = async move { client.peer().await };
        server.responsiveness.in_time(self.time_limit, connecting).await
    }

    /// Sends a request to all servers concurrently. A server that takes too long has failed. The results are in the
    /// order of the servers.
    async fn ask<T, F>(&self, limit: Duration, run: impl Fn(ReconnectingClient<C>) -> F) -> Vec<Result<T, ConnectError>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ConnectError>> + Send + 'static,
    {
        let in_time = |server: &Server<C>| {
            let (responsiveness, asked) = (server.responsiveness.clone(), run(server.client.clone()));
            async move { responsiveness.in_time(limit, asked).await }
        };
        self.each(in_time).await
    }

    /// Runs a function for all servers concurrently. The results are in the order of the servers.
    async fn each<T, F>(&self, run: impl Fn(&Server<C>) -> F) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let mut tasks = JoinSet::new();
        for (server, running) in self.servers.iter().map(run).enumerate() {
            tasks.spawn(async move { (server, running.await) });
        }
        let mut results = tasks.join_all().await;
        results.sort_unstable_by_key(|(server, _)| *server);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

impl<C: Connector> Server<C> {
    fn failed(&self, error: ConnectError) -> Failure {
        Failure {
            server: self.name.clone(),
            error,
        }
    }
}

impl<C: Connector> std::fmt::Debug for Clients<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Replaces the URI of a changed resource by its outer URI.
fn renamed(change: Change, outer: &HashMap<String, String>) -> Change {
    match change {
        Change::Resource(uri) => Change::Resource(outer.get(&*uri).map_or(uri, |outer| outer.as_str().into())),
        change => change,
    }
}

/// Returns the error for an item that no server has.
fn unknown(what: &str, name: &str) -> ConnectError {
    CallError::InvalidParams(format!("no server has the {what} {name:?}")).into()
}

/// Whether a server reports that it doesn't have the requested item or method.
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
