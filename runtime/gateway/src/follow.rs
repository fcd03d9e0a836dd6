//! The changes of the servers, for a client that listens to them.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use mcp_adapters::hello::ChangeFilter;
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_clients::Backoff;
use mcp_runtime_core::internal::SessionState;
use mcp_runtime_core::{CallError, Change, Changes, ConnectError, ServerSide};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::session::{GatewaySession, Servers};

/// What a client listens to.
#[derive(Debug, Clone, PartialEq, Default)]
struct Wanted {
    /// The lists.
    filter: ChangeFilter,
    /// The resources: the server of each, its URI there, and the one that the client knows.
    resources: Vec<(usize, String, String)>,
}

/// Notifies a client of the changes that it listens to, until its session ends. The sessions with the servers end with it.
pub async fn follow(session: Arc<GatewaySession>, client: Arc<SessionState<ServerSide>>) {
    let mut own = None;
    tokio::select! {
        () = client.ended.cancelled() => {}
        () = run(&session, &client, &mut own) => {}
    }
    session.end().await;
    if let Some(servers) = own {
        servers.clients.close().await;
    }
}

async fn run(session: &Arc<GatewaySession>, client: &Arc<SessionState<ServerSide>>, own: &mut Option<Arc<Servers>>) {
    let wanted = watch::Sender::new(Wanted::default());
    let mut followers = JoinSet::new();
    let mut followed: Option<Arc<Servers>> = None;
    loop {
        let now = client.subscriptions.wanted();
        if now != ChangeFilter::default() || followed.is_some() {
            let servers = followed.get_or_insert_with(|| servers_for(session, client, own));
            let now = Wanted::of(servers, now).await;
            wanted.send_if_modified(|before| {
                let is_modified = *before != now;
                *before = now;
                is_modified
            });
            if followers.is_empty() {
                for server in 0..servers.clients.count() {
                    let (servers, client) = (Arc::clone(servers), Arc::clone(client));
                    followers.spawn(follow_server(servers, server, wanted.subscribe(), client));
                }
            }
        }
        client.subscriptions.changed.notified().await;
    }
}

/// The sessions in which the servers tell of changes.
fn servers_for(
    session: &GatewaySession,
    client: &Arc<SessionState<ServerSide>>,
    own: &mut Option<Arc<Servers>>,
) -> Arc<Servers> {
    match client.revision().filter(|revision| revision.has_handshake()) {
        Some(_) => Arc::clone(session.servers_for(client.negotiated(), client)),
        // A stateless client says only with its other requests what it can be asked.
        None => {
            let revisions = session.gateway.options.clients.iter().copied();
            let latest = revisions.filter(|revision| revision.is_stateless()).max();
            let servers = session.begin(latest.unwrap_or(Revision::HUB), None, client);
            Arc::clone(own.insert(Arc::new(servers)))
        }
    }
}

/// Follows the changes of one server. When its session is lost, its lists have changed, and again when it is back.
async fn follow_server(
    servers: Arc<Servers>,
    server: usize,
    mut wanted: watch::Receiver<Wanted>,
    client: Arc<SessionState<ServerSide>>,
) {
    let (mut failures, mut was_lost) = (0, false);
    loop {
        let (filter, outer) = wanted.borrow_and_update().of_server(server);
        match subscribe(&servers, server, filter).await {
            Ok(mut changes) => {
                if std::mem::take(&mut was_lost) {
                    failures = 0;
                    lists_changed(&client);
                }
                if pass_on(&mut changes, &mut wanted, &outer, &client).await {
                    continue;
                }
                was_lost = true;
                lists_changed(&client);
            }
            Err(error) => tracing::debug!(%error, "the changes of a server aren't followed"),
        }
        failures += 1;
        tokio::select! {
            () = tokio::time::sleep(Backoff::default().after(failures)) => {}
            changed = wanted.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// Passes changes on, until the client wants others, or the session with the server is lost: whether it is the first.
async fn pass_on(
    changes: &mut Changes,
    wanted: &mut watch::Receiver<Wanted>,
    outer: &HashMap<String, String>,
    client: &SessionState<ServerSide>,
) -> bool {
    loop {
        let next = std::future::poll_fn(|context| Pin::new(&mut *changes).poll_next(context));
        let change: Option<Result<Change, CallError>> = tokio::select! {
            change = next => change,
            changed = wanted.changed() => return changed.is_ok(),
        };
        match change {
            Some(Ok(Change::Resource(uri))) => {
                let uri = outer.get(&*uri).map_or(uri, |outer| outer.as_str().into());
                client.subscriptions.push(&Change::Resource(uri));
            }
            Some(Ok(change)) => {
                client.subscriptions.push(&change);
            }
            Some(Err(_)) | None => return false,
        }
    }
}

async fn subscribe(servers: &Servers, server: usize, filter: ChangeFilter) -> Result<Changes, ConnectError> {
    let (_, server) = servers.clients.at(server).ok_or(CallError::Closed)?;
    Ok(server.peer().await?.changes(filter).await?)
}

impl Wanted {
    /// Finds the servers of the resources.
    async fn of(servers: &Servers, mut filter: ChangeFilter) -> Self {
        let uris = std::mem::take(&mut filter.resources);
        let listed = servers.clients.resource_servers(&uris).await;
        let resources = uris.into_iter().zip(listed).filter_map(|(uri, listed)| {
            // The first server may have what none lists.
            let first = || servers.clients.resource_candidates(&uri).into_iter().next();
            let (server, own) = listed.or_else(first)?;
            Some((server, own, uri))
        });
        let resources = resources.collect();
        Self { filter, resources }
    }

    /// What is wanted of one server, and the URIs that the client knows by those of the server.
    fn of_server(&self, server: usize) -> (ChangeFilter, HashMap<String, String>) {
        let own = self.resources.iter().filter(|(owner, ..)| *owner == server);
        let outer: HashMap<String, String> = own.map(|(_, own, outer)| (own.clone(), outer.clone())).collect();
        let mut filter = self.filter.clone();
        filter.resources = outer.keys().cloned().collect();
        filter.resources.sort_unstable();
        (filter, outer)
    }
}

fn lists_changed(client: &SessionState<ServerSide>) {
    for change in [Change::ToolList, Change::PromptList, Change::ResourceList] {
        client.subscriptions.push(&change);
    }
}
