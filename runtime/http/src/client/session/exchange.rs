//! A POST and its response.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{RequestId, error_code};
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_core::transport::{HttpFailure, TransportError};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use tokio::sync::OwnedSemaphorePermit;

use super::body::Response;
use super::classify::PostKind;
use super::connection::{Connection, InFlight};
use super::deliver::deliver;
use super::error::{HttpError, SessionExpired};
use super::pending_response::PendingResponse;
use super::poster::{Poster, Terms};
use super::renewal::renew;
use super::response::failure;
use super::state::{RemoteSession, SessionId, SessionScope};
use super::{legacy, stateless, stream};

/// The kind of a request, which determines how it is sent.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// The request that starts a session.
    Initialize,
    InSession,
    /// A stateless request of this revision.
    Stateless(Revision),
    /// A stateless request of this revision, whose response is a long-lived stream.
    Listen(Revision),
}

impl Poster for Arc<Connection> {
    async fn post_with(&self, mirrors: HeaderMap, json: Vec<u8>) -> Result<Response, HttpError> {
        let posted = self.post(self.url.clone(), json, SessionScope::Mirrored(mirrors));
        posted.await.map(|(response, _)| response)
    }

    async fn deliver(&self, json: Vec<u8>) {
        Connection::deliver(self, json).await;
    }

    async fn follow(&self, response: Response, pending: &PendingResponse<'_>) -> Result<(), HttpError> {
        stream::follow(self, response, pending).await
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            extensions: &self.options.extensions,
            tools: &self.tools,
            message_bytes: self.options.message_bytes,
            timeout: Some(self.options.timeout),
        }
    }
}

impl Connection {
    /// Cancels a request by closing its connection; `false` if the server needs a notification instead.
    pub(super) fn cancel_by_closing(&self, id: &RequestId) -> bool {
        let mut in_flight = self.in_flight.lock();
        match in_flight.get(id) {
            Some(request) if request.by_closing => {
                request.cancelled.cancel();
                in_flight.remove(id);
                true
            }
            Some(_) => false,
            None => {
                let revision = self.state.lock().revision;
                revision.is_some_and(|revision| revision.facts().cancels_by_closing)
            }
        }
    }
}

/// Sends a request in its own task, which delivers a response or a failure.
pub(super) fn start(
    connection: &Arc<Connection>,
    permit: OwnedSemaphorePermit,
    id: RequestId,
    json: Vec<u8>,
    kind: Kind,
) {
    let cancelled = connection.closing.child_token();
    let request = InFlight {
        cancelled: cancelled.clone(),
        by_closing: matches!(kind, Kind::Stateless(revision) | Kind::Listen(revision) if revision.facts().cancels_by_closing),
    };
    {
        let mut in_flight = connection.in_flight.lock();
        if matches!(kind, Kind::Initialize) {
            // The client has given up earlier requests without a session, such as the one that discovers the server's
            // revisions.
            in_flight.retain(|_, request| {
                if request.by_closing {
                    request.cancelled.cancel();
                }
                !request.by_closing
            });
        }
        in_flight.insert(id.clone(), request);
    }
    // A long-lived request doesn't count toward the limit of requests in flight.
    let permit = (!matches!(kind, Kind::Listen(_))).then_some(permit);
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        let done = cancelled.run_until_cancelled(async {
            let exchanged = match kind {
                Kind::Initialize => initialize(&connection, &id, json).await,
                Kind::InSession => exchange(&connection, &id, json).await,
                Kind::Stateless(revision) | Kind::Listen(revision) => {
                    stateless::exchange(&connection, &id, revision, json).await
                }
            };
            if let Err(error) = exchanged {
                tracing::debug!(%id, %error, "a request failed");
                connection.fail(id.clone(), error).await;
            }
        });
        if done.await.is_some() {
            connection.in_flight.lock().remove(&id);
        }
        drop(permit);
    });
}

/// Sends `initialize`.
async fn initialize(connection: &Arc<Connection>, id: &RequestId, json: Vec<u8>) -> Result<(), HttpError> {
    let legacy_url = connection.state.lock().legacy.clone();
    if let Some(url) = legacy_url {
        return legacy::post(connection, url, json).await;
    }
    let (response, session) = connection
        .post(connection.url.clone(), json.clone(), SessionScope::None)
        .await?;
    if response.status().is_success() {
        connection.start_session(&response, json);
        return deliver_in_session(connection, response, &session, id).await;
    }
    let failure = failure(response, true).await;
    let response = failure.response.as_ref();
    let is_understood = response.is_some_and(|response| response.id.as_ref() == Some(id));
    if may_have_legacy(failure.status) && !is_understood {
        match legacy::connect(connection, json).await {
            Ok(()) => return Ok(()),
            Err(other) => tracing::debug!(%failure, %other, "the server has neither transport over HTTP"),
        }
    }
    Err(failure.into())
}

async fn exchange(connection: &Arc<Connection>, id: &RequestId, json: Vec<u8>) -> Result<(), HttpError> {
    let legacy_url = connection.state.lock().legacy.clone();
    if let Some(url) = legacy_url {
        return legacy::post(connection, url, json).await;
    }
    let post = |json| connection.post(connection.url.clone(), json, SessionScope::Current);
    let (mut response, mut session) = post(json.clone()).await?;
    if let Some(lost) = session.lost_id(&response) {
        let failure = failure(response, true).await;
        if is_of_method(&failure) {
            return Err(failure.into());
        }
        if !renew(connection, lost.clone(), stream::listen).await {
            return deliver_loss(connection, &lost, failure, id).await;
        }
        (response, session) = post(json).await?;
    }
    if response.status().is_success() {
        return deliver_in_session(connection, response, &session, id).await;
    }
    let lost = session.lost_id(&response);
    let failure = failure(response, true).await;
    match lost.filter(|_| !is_of_method(&failure)) {
        Some(lost) => deliver_loss(connection, &lost, failure, id).await,
        None => Err(failure.into()),
    }
}

async fn deliver_in_session(
    connection: &Arc<Connection>,
    response: Response,
    session: &RemoteSession,
    id: &RequestId,
) -> Result<(), HttpError> {
    connection.responded.notify_waiters();
    let revision = connection.state.lock().revision;
    let pending = PendingResponse {
        id,
        lists: None,
        resumes: revision.is_none_or(|revision| revision.facts().resumption),
    };
    let delivered = deliver(connection, response, &pending);
    let delivered = session.ended.run_until_cancelled(delivered).await;
    delivered.unwrap_or(Err(SessionExpired.into()))
}

/// Delivers the failure of a request whose session the server has lost.
async fn deliver_loss(
    connection: &Arc<Connection>,
    lost: &SessionId,
    failure: HttpFailure,
    id: &RequestId,
) -> Result<(), HttpError> {
    let error = match failure.response {
        None => HttpError::Expired(SessionExpired),
        Some(_) => failure.into(),
    };
    connection.fail(id.clone(), error).await;
    connection.expire(lost).await;
    Ok(())
}

/// Whether a 404 means that the method is unknown, and not the session.
fn is_of_method(failure: &HttpFailure) -> bool {
    let response = failure.response.as_ref();
    response.is_some_and(|response| response.error.code == error_code::METHOD_NOT_FOUND)
}

/// Whether the status can be that of a server that only supports HTTP with SSE. A server that requires authentication
/// has understood the request.
fn may_have_legacy(status: StatusCode) -> bool {
    status.is_client_error() && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// Sends a message that has no response.
pub(super) async fn post(connection: Arc<Connection>, kind: PostKind, json: Vec<u8>) -> Result<(), TransportError> {
    let legacy_url = connection.state.lock().legacy.clone();
    let revision = connection.state.lock().revision;
    let completes = legacy_url.is_none() && matches!(kind, PostKind::Initialized);
    // Also in a revision without such a stream, which servers of Streamable HTTP may support.
    let listens = completes && revision.is_none_or(|revision| !revision.is_stateless());
    if let (true, Some(handshake)) = (completes, &mut connection.state.lock().handshake) {
        handshake.initialized = Some(json.clone());
    }
    let url = legacy_url.unwrap_or_else(|| connection.url.clone());
    let scope = match revision.filter(|revision| revision.is_stateless()) {
        Some(revision) => SessionScope::Mirrored(connection.terms().mirrors(revision, &json)),
        None => SessionScope::Current,
    };
    let post = |json| connection.post(url.clone(), json, scope.clone());
    let mut posted = post(json.clone()).await;
    if let PostKind::Cancelled(id) = &kind
        && let Some(request) = connection.in_flight.lock().remove(id)
    {
        request.cancelled.cancel();
    }
    if let Ok((response, session)) = &posted
        && let Some(lost) = session.lost_id(response)
        && renew(&connection, lost, stream::listen).await
    {
        if !matches!(kind, PostKind::Notification) {
            // The message was for the lost session, or the renewal has already sent it.
            return Ok(());
        }
        posted = post(json).await;
    }
    match posted {
        Ok((response, session)) => match session.lost_id(&response) {
            Some(lost) => {
                connection.expire(&lost).await;
                return Err(TransportError::Other(Box::new(SessionExpired)));
            }
            None if !response.status().is_success() => {
                tracing::warn!(status = %response.status(), "the server refused a message that has no response");
            }
            None if listens => stream::listen(&connection, &session).opened().await,
            None => {}
        },
        Err(error) => tracing::warn!(%error, "a message that has no response couldn't be sent"),
    }
    Ok(())
}
