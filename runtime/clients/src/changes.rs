//! The changes of a server, over all sessions with it.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcp_adapters::hello::ChangeFilter;
use mcp_runtime_core::transport::Connector;
use mcp_runtime_core::{Change, Changes, ConnectError};
use tokio::sync::mpsc;

use super::reconnecting::{ReconnectingClient, is_temporary};

/// The changes of a server, in one session after the other; [`ReconnectingClient::changes`] makes it. It ends when the client is
/// closed, and with an error when the server can't be reached any more, or refuses the subscription. Dropping it ends the
/// subscription.
#[derive(Debug)]
pub struct FollowedChanges {
    changes: mpsc::Receiver<Result<Change, ConnectError>>,
}

impl FollowedChanges {
    /// Waits for the next change.
    pub async fn next(&mut self) -> Option<Result<Change, ConnectError>> {
        self.changes.recv().await
    }
}

impl Stream for FollowedChanges {
    type Item = Result<Change, ConnectError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.changes.poll_recv(context)
    }
}

impl<C: Connector> ReconnectingClient<C> {
    /// The changes that the server notifies of, in this session and in those that follow: after a session is lost, the subscription is
    /// made again, and every list and resource of the filter counts as changed.
    #[must_use]
    pub fn changes(&self, filter: ChangeFilter) -> FollowedChanges {
        let client = self.clone();
        let (sender, changes) = mpsc::channel(64);
        tokio::spawn(async move {
            tokio::select! {
                () = sender.closed() => {}
                () = client.closed() => {}
                error = run(&client, &filter, &sender) => {
                    let _ = sender.send(Err(error)).await;
                }
            }
        });
        FollowedChanges { changes }
    }
}

/// Follows the changes until that fails.
async fn run<C: Connector>(
    client: &ReconnectingClient<C>,
    filter: &ChangeFilter,
    sender: &mpsc::Sender<Result<Change, ConnectError>>,
) -> ConnectError {
    let (mut failures, mut is_again) = (0, false);
    loop {
        match subscribe(client, filter).await {
            Ok(mut changes) => {
                let missed = if is_again { all(&changes.agreed()) } else { Vec::new() };
                is_again = true;
                for change in missed {
                    // Nobody listens any more; then this is dropped.
                    let _ = sender.send(Ok(change)).await;
                }
                while let Some(Ok(change)) = next(&mut changes).await {
                    failures = 0;
                    let _ = sender.send(Ok(change)).await;
                }
            }
            Err(error) if !is_temporary(&error) || failures >= client.backoff().attempts => return error,
            Err(_) => {}
        }
        // A server that ends every subscription at once isn't asked without a pause.
        failures += 1;
        tokio::time::sleep(client.backoff().after(failures)).await;
    }
}

async fn subscribe<C: Connector>(
    client: &ReconnectingClient<C>,
    filter: &ChangeFilter,
) -> Result<Changes, ConnectError> {
    let peer = client.peer().await?;
    Ok(peer.changes(filter.clone()).await?)
}

/// Every change that a filter lets through.
fn all(filter: &ChangeFilter) -> Vec<Change> {
    let lists = [
        (filter.tool_list, Change::ToolList),
        (filter.prompt_list, Change::PromptList),
        (filter.resource_list, Change::ResourceList),
    ];
    let lists = lists.into_iter().filter(|(is_wanted, _)| *is_wanted);
    let resources = filter.resources.iter();
    let resources = resources.map(|uri| Change::Resource(uri.as_str().into()));
    lists.map(|(_, change)| change).chain(resources).collect()
}

async fn next(changes: &mut Changes) -> Option<Result<Change, mcp_runtime_core::CallError>> {
    std::future::poll_fn(|context| Pin::new(&mut *changes).poll_next(context)).await
}
