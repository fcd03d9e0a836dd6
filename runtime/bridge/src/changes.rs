//! Changes across the eras: what a client subscribes to in its way, the bridge subscribes to in the server's.

use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_core::Stream;
use mcp_adapters::hello::ChangeFilter;
use mcp_runtime_core::internal::{SessionState, changes_in};
use mcp_runtime_core::{CallError, Change, Changes, ClientSide, Peer, ServerSide};

use super::options::delay_after;
use super::upstream::Upstream;

/// Notifies a client of the changes that it subscribed to, until its session or that of the server ends. What a server that was
/// restarted has counts as changed.
pub async fn follow(upstream: Arc<Upstream>, client: Arc<SessionState<ServerSide>>, is_restarted: bool) {
    let followed = pass_on(&upstream, &client, is_restarted);
    // The server may never answer a subscription. This must not keep what has ended.
    tokio::select! {
        () = client.ended.cancelled() => {}
        () = upstream.state.ended.cancelled() => {}
        () = followed => {}
    }
}

async fn pass_on(upstream: &Upstream, client: &SessionState<ServerSide>, mut is_lost: bool) {
    let server = Peer::new(Arc::clone(&upstream.state));
    let mut changes: Option<Changes> = None;
    // What is followed, or was refused.
    let mut followed = ChangeFilter::default();
    let mut failures = 0;
    loop {
        let wanted = client.subscriptions.wanted();
        if is_empty(&wanted) {
            (changes, followed, is_lost) = (None, wanted.clone(), false);
        }
        let news = (wanted != followed).then(|| wanted.clone());
        let mut subscribing = pin!(subscribe(&server, news, failures));
        // The old subscription is followed until the new one has begun, so that no change is missed.
        let subscribed = loop {
            tokio::select! {
                biased;
                subscribed = &mut subscribing => break Some(subscribed),
                () = client.subscriptions.changed.notified() => if client.subscriptions.wanted() != wanted {
                    failures = 0;
                    break None;
                },
                change = next(&mut changes) => match change {
                    Some(Ok(change)) => {
                        failures = 0;
                        client.subscriptions.push(&change);
                    }
                    Some(Err(_)) | None => {
                        (changes, followed, is_lost) = (None, ChangeFilter::default(), true);
                        // A server that ends every subscription at once isn't asked without a pause.
                        failures += 1;
                        break None;
                    }
                }
            }
        };
        match subscribed {
            Some(Ok(subscribed)) => {
                if std::mem::take(&mut is_lost) {
                    for missed in changes_in(&subscribed.agreed()) {
                        client.subscriptions.push(&missed);
                    }
                }
                (changes, followed) = (Some(subscribed), wanted);
            }
            Some(Err(error)) => {
                tracing::debug!(%error, "a subscription has failed");
                // What the server has agreed to before, it may agree to again.
                match is_refusal(&error) && !is_lost {
                    true => followed = wanted,
                    false => failures += 1,
                }
            }
            None => {}
        }
    }
}

/// Subscribes to what is new, after the pause for so many failures in a row; never if nothing is.
async fn subscribe(server: &Peer<ClientSide>, news: Option<ChangeFilter>, failures: u32) -> Result<Changes, CallError> {
    match news {
        Some(filter) => {
            if failures > 0 {
                tokio::time::sleep(delay_after(failures)).await;
            }
            server.changes(filter).await
        }
        None => std::future::pending().await,
    }
}

/// Whether the same subscription is refused again.
fn is_refusal(error: &CallError) -> bool {
    match error {
        CallError::Peer(_) => true,
        CallError::Http(failure) => failure.status.is_client_error() && failure.response.is_some(),
        _ => false,
    }
}

fn is_empty(filter: &ChangeFilter) -> bool {
    *filter == ChangeFilter::default()
}

/// The next change; never if nothing is followed.
async fn next(changes: &mut Option<Changes>) -> Option<Result<Change, CallError>> {
    match changes {
        Some(changes) => std::future::poll_fn(|context| Stream::poll_next(Pin::new(changes), context)).await,
        None => std::future::pending().await,
    }
}
