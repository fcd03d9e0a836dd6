//! One POST and what comes of it.

use std::sync::Arc;

use mcp_adapters::mcp_wire::RequestId;
use reqwest::{Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, EVENTS, JSON, Session, Within, body, failure, media_type};
use super::envelope::{Kind, answers};
use super::error::{HttpError, SessionExpired};
use super::renewal::renew;
use super::{legacy, stream};
use crate::error::TransportError;

/// Sends a request in a task of its own, which sees to it that there will be an answer.
pub(super) fn start(
    connection: &Arc<Connection>,
    place: OwnedSemaphorePermit,
    id: RequestId,
    json: Vec<u8>,
    initialize: bool,
) {
    let ends = connection.closing.child_token();
    connection.in_flight.lock().insert(id.clone(), ends.clone());
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        let done = ends.run_until_cancelled(async {
            let exchanged = match initialize {
                true => begin(&connection, &id, json).await,
                false => exchange(&connection, &id, json).await,
            };
            if let Err(error) = exchanged {
                tracing::debug!(%id, %error, "a request failed");
                connection.fail(id.clone(), error).await;
            }
        });
        let cancelled = done.await.is_none();
        if !cancelled {
            connection.in_flight.lock().remove(&id);
        }
        drop(place);
    });
}

/// Sends the request that begins a session.
async fn begin(connection: &Arc<Connection>, id: &RequestId, json: Vec<u8>) -> Result<(), HttpError> {
    let older = connection.state.lock().legacy.clone();
    if let Some(url) = older {
        return legacy::post(connection, url, json).await;
    }
    let (response, session) = connection
        .post(connection.url.clone(), json.clone(), Within::None)
        .await?;
    if response.status().is_success() {
        connection.begin(&response, json);
        return take(connection, response, &session, id).await;
    }
    let failure = failure(response).await;
    let response = failure.response.as_ref();
    let is_understood = response.is_some_and(|response| response.id.as_ref() == Some(id));
    if asks_for_the_older_way(failure.status) && !is_understood {
        match legacy::begin(connection, json).await {
            Ok(()) => return Ok(()),
            Err(other) => tracing::debug!(%failure, %other, "the server has neither way of HTTP"),
        }
    }
    Err(failure.into())
}

async fn exchange(connection: &Arc<Connection>, id: &RequestId, json: Vec<u8>) -> Result<(), HttpError> {
    let older = connection.state.lock().legacy.clone();
    if let Some(url) = older {
        return legacy::post(connection, url, json).await;
    }
    let post = |json| connection.post(connection.url.clone(), json, Within::Current);
    let (mut response, mut session) = post(json.clone()).await?;
    if let Some(forgotten) = session.forgotten(&response)
        && renew(connection, forgotten).await
    {
        (response, session) = post(json).await?;
    }
    if !response.status().is_success() {
        return fail(connection, response, session, id).await;
    }
    take(connection, response, &session, id).await
}

/// Takes the answer to a request.
async fn take(
    connection: &Arc<Connection>,
    response: Response,
    session: &Session,
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
        EVENTS => {
            let followed = stream::follow(connection, response, id);
            let followed = session.ends.run_until_cancelled(followed).await;
            followed.unwrap_or(Err(SessionExpired.into()))
        }
        other => Err(HttpError::ContentType(other.to_owned())),
    }
}

/// A request that was answered with an error status.
async fn fail(
    connection: &Arc<Connection>,
    response: Response,
    session: Session,
    id: &RequestId,
) -> Result<(), HttpError> {
    let forgotten = session.forgotten(&response);
    let failure = failure(response).await;
    let error = match (&forgotten, &failure.response) {
        (Some(_), None) => HttpError::Expired(SessionExpired),
        _ => failure.into(),
    };
    connection.fail(id.clone(), error).await;
    if let Some(forgotten) = forgotten {
        connection.expire(&forgotten).await;
    }
    Ok(())
}

/// The revisions differ in which refusals they name; a server that wants to know who is asking has understood, though.
fn asks_for_the_older_way(status: StatusCode) -> bool {
    status.is_client_error() && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// Sends what has no answer.
pub(super) async fn tell(connection: Arc<Connection>, kind: Kind, json: Vec<u8>) -> Result<(), TransportError> {
    let older = connection.state.lock().legacy.clone();
    let listens = older.is_none() && matches!(kind, Kind::Initialized);
    if let (true, Some(opening)) = (listens, &mut connection.state.lock().opening) {
        opening.initialized = Some(json.clone());
    }
    let url = older.unwrap_or_else(|| connection.url.clone());
    let post = |json| connection.post(url.clone(), json, Within::Current);
    let mut posted = post(json.clone()).await;
    if let Kind::Cancelled(id) = &kind {
        let ends = connection.in_flight.lock().remove(id);
        ends.as_ref().inspect(|ends: &&CancellationToken| ends.cancel());
    }
    if let Ok((response, session)) = &posted
        && let Some(forgotten) = session.forgotten(response)
        && renew(&connection, forgotten).await
    {
        if !matches!(kind, Kind::Notification) {
            // It was about the forgotten session, or the new one began with it.
            return Ok(());
        }
        posted = post(json).await;
    }
    match posted {
        Ok((response, session)) => match session.forgotten(&response) {
            Some(forgotten) => {
                connection.expire(&forgotten).await;
                return Err(TransportError::Other(Box::new(SessionExpired)));
            }
            None if !response.status().is_success() => {
                tracing::warn!(status = %response.status(), "the server refuses a message that needs no answer");
            }
            None if listens => stream::listen(&connection, &session).begun().await,
            None => {}
        },
        Err(error) => tracing::warn!(%error, "a message that needs no answer couldn't be sent"),
    }
    Ok(())
}
