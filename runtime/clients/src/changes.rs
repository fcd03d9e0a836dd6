//! The changes of a server, across all sessions with it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use mcp_adapters::session_messages::ChangeFilter;
use mcp_runtime_core::transport::Connector;
use mcp_runtime_core::{Change, ConnectError};
use tokio::sync::{mpsc, watch};

use super::following::Followed;
use super::reconnecting::{ReconnectingClient, is_temporary};

/// A stream of the changes of a server, across successive sessions; [`ReconnectingClient::changes`] returns it. It ends
/// when the client is closed, and with an error when the server can't be reached any more, or refuses the subscription.
/// Dropping it ends the subscription.
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
    /// Subscribes to the changes of the server, in this session and in those that follow: after a session is lost, it
    /// subscribes again, and every list and resource of the filter counts as changed.
    #[must_use]
    pub fn changes(&self, filter: ChangeFilter) -> FollowedChanges {
        let client = self.clone();
        let (sender, changes) = mpsc::channel(64);
        tokio::spawn(async move {
            tokio::select! {
                () = sender.closed() => {}
                () = client.closed() => {}
                error = run(&client, filter, &sender) => {
                    if let Some(error) = error {
                        let _ = sender.send(Err(error)).await;
                    }
                }
            }
        });
        FollowedChanges { changes }
    }
}

/// Follows the changes until that fails.
async fn run<C: Connector>(
    client: &ReconnectingClient<C>,
    filter: ChangeFilter,
    sender: &mpsc::Sender<Result<Change, ConnectError>>,
) -> Option<ConnectError> {
    let (_wanted, wanted) = watch::channel(filter);
    let mut follower = client.follow(wanted, Duration::MAX);
    loop {
        let changes = match follower.next().await? {
            Followed::Change(change) => vec![change],
            Followed::Again(missed) => missed,
            Followed::Lost | Followed::Begun(_) => Vec::new(),
            Followed::Failed(error) => {
                if !is_temporary(&error) || follower.failures() > client.backoff().attempts {
                    return Some(error);
                }
                Vec::new()
            }
        };
        for change in changes {
            // This fails once the stream is dropped; then this future is dropped too.
            let _ = sender.send(Ok(change)).await;
        }
    }
}
