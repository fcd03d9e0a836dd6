//! The changes of the servers, for a client that listens to them.

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
    let wanted = watch::Sender::new(ChangeFilter::default());
    let mut followers = JoinSet::new();
    loop {
        let now = client.subscriptions.wanted();
        if now != ChangeFilter::default() && followers.is_empty() {
            let servers = match client.revision().filter(|revision| revision.has_handshake()) {
                Some(_) => Arc::clone(session.servers_for(client.negotiated(), client)),
                // A stateless client says only with its other requests what it can be asked.
                None => {
                    let revisions = session.gateway.options.clients.iter().copied();
                    let latest = revisions.filter(|revision| revision.is_stateless()).max();
                    let servers = session.begin(latest.unwrap_or(Revision::HUB), None, client);
                    Arc::clone(own.insert(Arc::new(servers)))
                }
            };
            for server in 0..servers.clients.count() {
                let (servers, client) = (Arc::clone(&servers), Arc::clone(client));
                followers.spawn(follow_server(servers, server, wanted.subscribe(), client));
            }
        }
        wanted.send_if_modified(|before| {
            let is_modified = *before != now;
            *before = now;
            is_modified
        });
        client.subscriptions.changed.notified().await;
    }
}

/// Follows the changes of one server. When its session is lost, its lists have changed, and again when it is back.
async fn follow_server(
    servers: Arc<Servers>,
    server: usize,
    mut wanted: watch::Receiver<ChangeFilter>,
    client: Arc<SessionState<ServerSide>>,
) {
    let (mut failures, mut was_lost) = (0, false);
    loop {
        let filter = of_server(&servers, server, wanted.borrow_and_update().clone());
        match subscribe(&servers, server, filter).await {
            Ok(mut changes) => {
                if std::mem::take(&mut was_lost) {
                    failures = 0;
                    lists_changed(&client);
                }
                if pass_on(&mut changes, &mut wanted, &client).await {
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
    wanted: &mut watch::Receiver<ChangeFilter>,
    client: &SessionState<ServerSide>,
) -> bool {
    loop {
        let next = std::future::poll_fn(|context| Pin::new(&mut *changes).poll_next(context));
        let change: Option<Result<Change, CallError>> = tokio::select! {
            change = next => change,
            changed = wanted.changed() => return changed.is_ok(),
        };
        match change {
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

/// What is wanted of one server: its resources alone.
fn of_server(servers: &Servers, server: usize, mut filter: ChangeFilter) -> ChangeFilter {
    let is_own = |uri: &String| match servers.clients.known_resource_server(uri) {
        Some(owner) => owner == server,
        // The first server may have what none lists.
        None => server == 0,
    };
    filter.resources.retain(is_own);
    filter
}

fn lists_changed(client: &SessionState<ServerSide>) {
    for change in [Change::ToolList, Change::PromptList, Change::ResourceList] {
        client.subscriptions.push(&change);
    }
}
