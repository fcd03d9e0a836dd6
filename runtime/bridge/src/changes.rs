//! Subscriptions across the eras: the bridge repeats a client's subscriptions in the form of the server's revision.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_core::Stream;
use mcp_adapters::mcp_wire::UnknownMethod;
use mcp_adapters::session_messages::{self, ChangeFilter};
use mcp_runtime_core::internal::{SessionState, changes_in, log_level};
use mcp_runtime_core::{CallError, Change, Changes, ClientSide, Peer, ServerSide};

use super::options::delay_after;
use super::upstream::Upstream;

/// Notifies a client of the changes that it subscribed to, until its session or that of the server ends. After a
/// restart of the server, everything that the client subscribed to counts as changed.
pub async fn follow(upstream: Arc<Upstream>, client: Arc<SessionState<ServerSide>>, is_restarted: bool) {
    let followed = pass_on(&upstream, &client, is_restarted);
    // The server may never respond to a subscription. This must not keep an ended session alive.
    tokio::select! {
        () = client.ended.cancelled() => {}
        () = upstream.state.ended.cancelled() => {}
        () = followed => {}
    }
}

/// Repeats the log level and the subscriptions of a client in a new session with its server, if the client's own
/// requests for them were passed on in the lost one. Everything that the client subscribed to counts as changed.
pub async fn renew(upstream: Arc<Upstream>, client: Arc<SessionState<ServerSide>>) {
    let severity = client.log_severity.load(Ordering::Relaxed);
    // Without a level, a session gets all messages.
    if let Some(level) = log_level(severity).filter(|_| severity > 0) {
        upstream.state.set_log_level(&level).await;
    }
    let wanted = client.subscriptions.wanted();
    let negotiated = upstream.state.negotiated();
    for uri in &wanted.resources {
        let Some((method, params)) = session_messages::subscribe(negotiated.revision, uri) else {
            break;
        };
        let request = UnknownMethod::new(method).with_params(params);
        if let Err(error) = upstream.state.call_json(negotiated, method, request).await {
            tracing::warn!(uri, %error, "a subscription of the lost session isn't renewed");
        }
    }
    for missed in changes_in(&wanted) {
        client.subscriptions.push(&missed);
    }
}

async fn pass_on(upstream: &Upstream, client: &SessionState<ServerSide>, mut is_lost: bool) {
    let server = Peer::new(Arc::clone(&upstream.state));
    let mut changes: Option<Changes> = None;
    // The filter that is followed, or was refused.
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
                        // Causes a pause before the next attempt, in case the server ends every subscription at once.
                        failures += 1;
                        break None;
                    }
                }
            }
        };
        match subscribed {
            Some(Ok(subscribed)) => {
                if std::mem::take(&mut is_lost) {
                    for missed in changes_in(&subscribed.acknowledged()) {
                        client.subscriptions.push(&missed);
                    }
                }
                (changes, followed) = (Some(subscribed), wanted);
            }
            Some(Err(error)) => {
                tracing::debug!(%error, "a subscription has failed");
                // A refusal is final, unless the server agreed to the same subscription before.
                match is_refusal(&error) && !is_lost {
                    true => followed = wanted,
                    false => failures += 1,
                }
            }
            None => {}
        }
    }
}

/// Subscribes to a new filter, after the backoff for the number of consecutive failures. Without a filter, it never
/// completes.
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

/// Whether the server would refuse the same subscription again.
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

/// Waits for the next change. It never completes if nothing is followed.
async fn next(changes: &mut Option<Changes>) -> Option<Result<Change, CallError>> {
    match changes {
        Some(changes) => std::future::poll_fn(|context| Stream::poll_next(Pin::new(changes), context)).await,
        None => std::future::pending().await,
    }
}
