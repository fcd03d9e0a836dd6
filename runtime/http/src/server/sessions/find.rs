//! Finding the sessions of requests.

use std::sync::Arc;

use http::request::Parts;

use super::super::rejection::Rejection;
use super::super::session::{HttpSession, SessionKind};
use super::super::store::SessionRecord;
use super::Sessions;

impl Sessions {
    /// Finds the session of HTTP with SSE with this id, if it belongs to the principal of the request.
    pub(crate) fn find_legacy(&self, id: &str, parts: &Parts) -> Result<Arc<HttpSession>, Rejection> {
        let principal = self.settings.principal_of(parts);
        let known = self.sessions.lock().get(id).cloned();
        let session = known
            .filter(|session| session.is_legacy() && session.client.principal == principal)
            .ok_or_else(Rejection::no_such_session)?;
        if session.revision().is_some() {
            session.usage.confirm();
        }
        Ok(session)
    }

    /// Finds the session with this id, if it belongs to the principal of the request. It may have been started on
    /// another machine.
    pub(crate) async fn find(self: &Arc<Self>, id: &str, parts: &Parts) -> Result<Arc<HttpSession>, Rejection> {
        let principal = self.settings.principal_of(parts);
        let known = self.sessions.lock().get(id).cloned();
        if known
            .as_ref()
            .is_some_and(|session| session.is_legacy() || session.client.principal != principal)
        {
            return Err(Rejection::no_such_session());
        }
        let record = self
            .settings
            .store
            .touch(id, self.settings.expiry)
            .await
            .map_err(Rejection::store_failed)?;
        match (known, record) {
            (Some(session), Some(_)) => {
                session.usage.confirm();
                Ok(session)
            }
            // Boxed, as the future of every request would otherwise be as large.
            (None, Some(record)) if record.principal == principal => Box::pin(self.revive(id, record, parts)).await,
            (None, Some(_)) => Err(Rejection::no_such_session()),
            (known, None) => {
                if let Some(session) = known {
                    session.end();
                }
                Err(Rejection::no_such_session())
            }
        }
    }

    /// Starts a session here that was started on another machine.
    async fn revive(
        self: &Arc<Self>,
        id: &str,
        record: SessionRecord,
        parts: &Parts,
    ) -> Result<Arc<HttpSession>, Rejection> {
        let bytes = record.initialize.len();
        let engine = match &self.instances {
            None => 0,
            Some(instances) => {
                let joined = instances.join(id).await.map_err(Rejection::store_failed)?;
                joined.ok_or_else(Rejection::no_such_session)?
            }
        };
        let kind = SessionKind::Streamable;
        let new = self.start(id.to_owned(), kind, engine, parts, bytes).await?;
        let revision = self.handshake(&new, &record.initialize, parts).await?;
        if revision != record.revision {
            tracing::warn!(%revision, recorded = %record.revision, "the machines that share sessions support different revisions");
            return Err(Rejection::no_such_session());
        }
        new.session.usage.confirm();
        Ok(self.publish(new))
    }
}
