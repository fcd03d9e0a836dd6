//! Changes across the eras: what a client subscribes to in its way, the bridge subscribes to in the server's.

use std::sync::Arc;

use futures_core::Stream;
use mcp_adapters::hello::ChangeFilter;
use mcp_runtime_core::internal::SessionState;
use mcp_runtime_core::{CallError, Change, Changes, Peer, ServerSide};

use super::upstream::Upstream;

/// Notifies a client of the changes that it subscribed to, until its session or that of the server ends.
pub async fn follow(upstream: Arc<Upstream>, client: Arc<SessionState<ServerSide>>) {
    let followed = pass_on(&upstream, &client);
    // The server may never answer a subscription. This must not keep what has ended.
    tokio::select! {
        () = client.ended.cancelled() => {}
        () = upstream.state.ended.cancelled() => client.subscriptions.end(&Ok(())),
        () = followed => {}
    }
}

async fn pass_on(upstream: &Upstream, client: &SessionState<ServerSide>) {
    let server = Peer::new(Arc::clone(&upstream.state));
    let mut followed = ChangeFilter::default();
    let mut changes: Option<Changes> = None;
    loop {
        let wanted = client.subscriptions.wanted();
        if wanted != followed {
            // The new subscription begins before the old one ends, so that no change is missed.
            changes = match is_empty(&wanted) {
                true => None,
                false => match server.changes(wanted.clone()).await {
                    Ok(changes) => Some(changes),
                    Err(error) => {
                        tracing::debug!(%error, "the server refuses a subscription");
                        None
                    }
                },
            };
            followed = wanted;
        }
        tokio::select! {
            () = client.subscriptions.changed.notified() => {}
            change = next(&mut changes) => match change {
                Some(Ok(change)) => _ = client.subscriptions.push(&change),
                Some(Err(_)) | None => changes = None,
            }
        }
    }
}

fn is_empty(filter: &ChangeFilter) -> bool {
    *filter == ChangeFilter::default()
}

/// The next change; never if nothing is followed.
async fn next(changes: &mut Option<Changes>) -> Option<Result<Change, CallError>> {
    match changes {
        Some(changes) => std::future::poll_fn(|context| Stream::poll_next(std::pin::Pin::new(changes), context)).await,
        None => std::future::pending().await,
    }
}
