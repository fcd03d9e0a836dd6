//! The changes of the servers, for a client that subscribes to them.

use std::sync::Arc;

use mcp_adapters::session_messages::ChangeFilter;
use mcp_runtime_clients::{Followed, Follower, Responsiveness};
use mcp_runtime_core::internal::SessionState;
use mcp_runtime_core::{Change, ServerSide};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::server::ThroughBridge;
use super::session::{GatewaySession, Servers};

/// The changes that a client subscribes to.
#[derive(Debug, Clone, PartialEq, Default)]
struct Wanted {
    /// The lists.
    filter: ChangeFilter,
    /// The resources: for each the number of its server, its URI there, and the URI that the client uses.
    resources: Vec<(usize, String, String)>,
}

/// Notifies a client of the changes that it subscribes to, until its session ends. The sessions with the servers end
/// with it.
pub async fn follow(session: Arc<GatewaySession>, client: Arc<SessionState<ServerSide>>) {
    tokio::select! {
        () = client.ended.cancelled() => {}
        () = run(&session, &client) => {}
    }
    session.end().await;
}

async fn run(session: &Arc<GatewaySession>, client: &Arc<SessionState<ServerSide>>) {
    let wanted = watch::Sender::new(Wanted::default());
    let mut filters: Vec<watch::Sender<ChangeFilter>> = Vec::new();
    let mut followers = JoinSet::new();
    let mut followed: Option<Arc<Servers>> = None;
    loop {
        let now = client.subscriptions.wanted();
        if now != ChangeFilter::default() || followed.is_some() {
            let servers = followed.get_or_insert_with(|| servers_for(session, client));
            if filters.is_empty() {
                for (number, (_, server)) in servers.clients.servers().enumerate() {
                    let filter = watch::Sender::default();
                    let follower = server.follow(filter.subscribe(), session.gateway.time_limit);
                    followers.spawn(pass_on(follower, number, wanted.subscribe(), Arc::clone(client)));
                    let responsiveness = servers.clients.responsiveness(number);
                    followers.spawn(notify_of_recovery(responsiveness, Arc::clone(client)));
                    filters.push(filter);
                }
            }
            let now = Wanted::of(servers, now).await;
            wanted.send_replace(now.clone());
            for (server, filter) in filters.iter().enumerate() {
                filter.send_replace(now.of_server(server));
            }
        }
        client.subscriptions.changed.notified().await;
    }
}

/// Returns the sessions in which the servers notify of changes: those of the client's other requests.
fn servers_for(session: &GatewaySession, client: &Arc<SessionState<ServerSide>>) -> Arc<Servers> {
    // A stateless client describes itself with its request for changes.
    let listener = client.subscriptions.listener();
    let negotiated = listener.as_ref().unwrap_or_else(|| client.negotiated());
    Arc::clone(session.servers_for(negotiated, client))
}

/// Passes the changes of a server on. When its session is lost, and again when there is a new one, its lists count as
/// changed.
async fn pass_on(
    mut follower: Follower<ThroughBridge>,
    server: usize,
    wanted: watch::Receiver<Wanted>,
    client: Arc<SessionState<ServerSide>>,
) {
    let push = |change: Change| {
        client.subscriptions.push(&match change {
            Change::Resource(uri) => Change::Resource(wanted.borrow().outer(server, &uri).into()),
            change => change,
        });
    };
    while let Some(followed) = follower.next().await {
        match followed {
            Followed::Change(change) => push(change),
            Followed::Lost => lists_changed(&client),
            Followed::Again(missed) => {
                lists_changed(&client);
                let resources = missed
                    .into_iter()
                    .filter(|change| matches!(change, Change::Resource(_)));
                resources.for_each(push);
            }
            // The client's request was answered before.
            Followed::Begun(missed) => missed.into_iter().for_each(push),
            Followed::Failed(error) => tracing::debug!(%error, "the changes of a server aren't followed"),
        }
    }
}

/// Notifies a client when a server answers again, which was missing in the lists.
async fn notify_of_recovery(server: Responsiveness, client: Arc<SessionState<ServerSide>>) {
    loop {
        server.recovered().await;
        lists_changed(&client);
    }
}

impl Wanted {
    /// Finds the servers of the resources.
    async fn of(servers: &Servers, mut filter: ChangeFilter) -> Self {
        let uris = std::mem::take(&mut filter.resources);
        let listed = servers.clients.resource_servers(&uris).await;
        let resources = uris.into_iter().zip(listed).filter_map(|(uri, listed)| {
            // The first server may have a resource that no server lists.
            let first = || servers.clients.resource_candidates(&uri).into_iter().next();
            let (server, own) = listed.or_else(first)?;
            Some((server, own, uri))
        });
        let resources = resources.collect();
        Self { filter, resources }
    }

    /// Returns the part of the filter that concerns one server.
    fn of_server(&self, server: usize) -> ChangeFilter {
        let own = self.resources.iter().filter(|(owner, ..)| *owner == server);
        let mut filter = self.filter.clone();
        filter.resources = own.map(|(_, own, _)| own.clone()).collect();
        filter.resources.sort_unstable();
        filter.resources.dedup();
        filter
    }

    /// Returns the URI by which the client knows a resource of a server.
    fn outer<'u>(&'u self, server: usize, uri: &'u str) -> &'u str {
        let mut resources = self.resources.iter();
        let known = resources.find(|(owner, own, _)| *owner == server && own == uri);
        known.map_or(uri, |(.., outer)| outer)
    }
}

fn lists_changed(client: &SessionState<ServerSide>) {
    for change in [Change::ToolList, Change::PromptList, Change::ResourceList] {
        client.subscriptions.push(&change);
    }
}
