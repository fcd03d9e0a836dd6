//! Notifications, heard in order.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::Loss;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::handler::Handler;
use super::shared::Shared;
use crate::context::Context;
use crate::peer::Peer;
use crate::side::Side;

/// A notification, what the transport knows about it, and what it lost on its way.
pub type Heard<S> = (<S as Side>::Notification, Arc<Extensions>, Vec<Loss>);

/// Hears notifications one after the other, as they came.
pub async fn hear_in_order<S: Side>(
    shared: Arc<Shared<S>>,
    handler: Arc<dyn Handler<S>>,
    mut hearing: mpsc::Receiver<Heard<S>>,
) {
    let ended = async {
        shared.ended.cancelled().await;
        tokio::time::sleep(shared.options.limits.closing).await;
    };
    let all = async {
        while let Some((notification, extensions, losses)) = hearing.recv().await {
            let context = Context {
                peer: Peer::new(Arc::clone(&shared), None),
                id: None,
                token: None,
                cancelled: shared.ended.clone(),
                extensions,
                losses,
            };
            let handler = Arc::clone(&handler);
            // A task of its own, so that a panic ends this one alone.
            let heard = tokio::spawn(async move { handler.hear(notification, &context).await });
            if let Err(error) = AbortOnDropHandle::new(heard).await {
                tracing::error!(%error, "a handler failed");
            }
        }
    };
    tokio::select! {
        biased;
        () = all => {}
        // What was told before the end is heard, unless it takes too long.
        () = ended => tracing::debug!("some notifications weren't heard in time"),
    }
}
