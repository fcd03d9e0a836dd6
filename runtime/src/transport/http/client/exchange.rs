//! A POST and its response.

use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;
use reqwest::{Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::classify::{PostKind, answers};
use super::connection::{Connection, EVENT_STREAM, JSON, RemoteSession, SessionScope, body, failure, media_type};
use super::error::{HttpError, SessionExpired};
use super::renewal::renew;
use super::{legacy, stream};
use crate::error::TransportError;

/// Sends a request in a task of its own, which delivers a response or a failure.
pub(super) fn start(
    connection: &Arc<Connection>,
    permit: OwnedSemaphorePermit,
    id: RequestId,
    json: Vec<u8>,
    is_initialize: bool,
) {
    let cancelled = connection.closing.child_token();
    connection.in_flight.lock().insert(id.clone(), cancelled.clone());
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        let done = cancelled.run_until_cancelled(async {
            let exchanged = match is_initialize {
                true => initialize(&connection, &id, json).await,
                false => exchange(&connection, &id, json).await,
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
        return deliver(connection, response, &session, id).await;
    }
    let failure = failure(response).await;
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
    if let Some(lost) = session.lost_id(&response)
        && renew(connection, lost, stream::listen).await
    {
        (response, session) = post(json).await?;
    }
    if !response.status().is_success() {
        return deliver_failure(connection, response, session, id).await;
    }
    deliver(connection, response, &session, id).await
}

/// Delivers the response to a request.
async fn deliver(
    connection: &Arc<Connection>,
    response: Response,
    session: &RemoteSession,
    id: &RequestId,
) -> Result<(), HttpError> {
    match media_type(&response).as_str() {
        JSON => {
            let answer = body(response, connection.options.message_bytes).await?;
            let answered = answers(&answer, id);
            if answered || !answer.trim_ascii().is_empty() {
                connection.deliver(answer).await;
            }
            if answered { Ok(()) } else { Err(HttpError::Unanswered) }
        }
        EVENT_STREAM => {
            let followed = stream::follow(connection, response, id);
            let followed = session.ended.run_until_cancelled(followed).await;
            followed.unwrap_or(Err(SessionExpired.into()))
        }
        other => Err(HttpError::ContentType(other.to_owned())),
    }
}

/// Delivers the failure of a request.
async fn deliver_failure(
    connection: &Arc<Connection>,
    response: Response,
    session: RemoteSession,
    id: &RequestId,
) -> Result<(), HttpError> {
    let lost = session.lost_id(&response);
    let failure = failure(response).await;
    let error = match (&lost, &failure.response) {
        (Some(_), None) => HttpError::Expired(SessionExpired),
        _ => failure.into(),
    };
    connection.fail(id.clone(), error).await;
    if let Some(lost) = lost {
        connection.expire(&lost).await;
    }
    Ok(())
}

/// Whether the server may only have HTTP with SSE. A server that requires authentication has understood the request.
fn may_have_legacy(status: StatusCode) -> bool {
    status.is_client_error() && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// Sends a message that has no response.
pub(super) async fn post(connection: Arc<Connection>, kind: PostKind, json: Vec<u8>) -> Result<(), TransportError> {
    let legacy_url = connection.state.lock().legacy.clone();
    let listens = legacy_url.is_none() && matches!(kind, PostKind::Initialized);
    if let (true, Some(handshake)) = (listens, &mut connection.state.lock().handshake) {
        handshake.initialized = Some(json.clone());
    }
    let url = legacy_url.unwrap_or_else(|| connection.url.clone());
    let post = |json| connection.post(url.clone(), json, SessionScope::Current);
    let mut posted = post(json.clone()).await;
    if let PostKind::Cancelled(id) = &kind {
        let cancelled: Option<CancellationToken> = connection.in_flight.lock().remove(id);
        cancelled.iter().for_each(CancellationToken::cancel);
    }
    if let Ok((response, session)) = &posted
        && let Some(lost) = session.lost_id(response)
        && renew(&connection, lost, stream::listen).await
    {
        if !matches!(kind, PostKind::Notification) {
            // It was about the lost session, or the renewal has sent it.
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
                tracing::warn!(status = %response.status(), "the server refuses a message that has no response");
            }
            None if listens => stream::listen(&connection, &session).opened().await,
            None => {}
        },
        Err(error) => tracing::warn!(%error, "a message that has no response couldn't be sent"),
    }
    Ok(())
}
