//! The task of each session.

use std::sync::{Arc, Weak};

use tokio::time::{Instant, timeout};

use super::super::session::HttpSession;
use super::{SessionPermit, Sessions};

/// The task of a session: waits until its engine, its client or a timeout ends it, and removes it.
pub(crate) async fn run(session: Arc<HttpSession>, sessions: Weak<Sessions>, permit: SessionPermit) {
    let _gone = session.gone.clone().drop_guard();
    let _permit = permit;
    let Some((initialize_timeout, expiry, grace)) = sessions.upgrade().map(|sessions| {
        (
            sessions.settings.initialize_timeout,
            sessions.settings.expiry,
            sessions.settings.grace,
        )
    }) else {
        return;
    };
    let mut expired = false;
    {
        let mut drained = std::pin::pin!(async {
            session.shutdown.cancelled().await;
            if timeout(grace, session.all_done()).await.is_err() {
                tracing::warn!("requests of a session weren't done before the server shut down");
            }
        });
        let mut recorded = session.usage.last();
        while !expired {
            // Early enough to record the use of a client that only reads before the record expires in the store.
            let look = session
                .usage
                .expires(initialize_timeout, expiry)
                .min(Instant::now() + expiry / 2);
            tokio::select! {
                biased;
                () = session.ended.cancelled() => break,
                () = &mut drained => break,
                () = tokio::time::sleep_until(look) => {
                    let used = session.usage.last();
                    expired = session.usage.expires(initialize_timeout, expiry) <= Instant::now();
                    if !expired && used > recorded {
                        recorded = used;
                        expired = !record_use(&session, &sessions).await;
                    }
                }
            }
        }
    }
    tracing::debug!(expired, "a session ends");
    session.close_all();
    let Some(sessions) = sessions.upgrade() else {
        return;
    };
    sessions.forget(&session);
    let is_itself = |now: &Arc<HttpSession>| Arc::ptr_eq(now, &session);
    if !sessions.sessions.lock().get(&session.id).is_some_and(is_itself) {
        return;
    }
    // A session that has expired here may be in use on another machine. One that outlives this server may be used
    // again.
    let stays =
        expired || session.is_legacy() || session.continues_elsewhere() || sessions.settings.shutdown.is_cancelled();
    if !stays && let Err(error) = sessions.settings.store.remove(&session.id).await {
        tracing::error!(error, "the session store failed");
    }
    let mut known = sessions.sessions.lock();
    if known.get(&session.id).is_some_and(is_itself) {
        known.remove(&session.id);
    }
}

/// Records in the store that the client uses the session; `false` if the session was ended on another machine.
async fn record_use(session: &HttpSession, sessions: &Weak<Sessions>) -> bool {
    let Some(sessions) = sessions.upgrade() else {
        return false;
    };
    if session.is_legacy() || session.kind.is_stateless() || session.revision().is_none() {
        return true;
    }
    match sessions
        .settings
        .store
        .touch(&session.id, sessions.settings.expiry)
        .await
    {
        Ok(record) => record.is_some(),
        Err(error) => {
            tracing::error!(error, "the session store failed");
            true
        }
    }
}
