//! One POST and what comes of it.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{self, ErrorResponse, RequestId};
use reqwest::header::HeaderValue;
use reqwest::{Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::connection::{Begins, Connection, EVENTS, JSON, body, failure, media_type};
use super::envelope::{Kind, answers};
use super::error::{HttpError, SessionExpired, respond};
use super::{legacy, stream};
use crate::transport::TransportError;

/// What is read of the body of a failure.
const FAILURE_BYTES: usize = 64 * 1024;

/// Sends a request in a task of its own, which sees to it that there will be an answer.
pub(super) fn start(
    connection: &Arc<Connection>,
    place: OwnedSemaphorePermit,
    id: RequestId,
    json: Vec<u8>,
    initialize: bool,
) {
    let ends = connection.closing.child_token();
    connection.in_flight().insert(id.clone(), ends.clone());
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        let done = ends.run_until_cancelled(async {
            let begins = if initialize { Begins::Session } else { Begins::Nothing };
            if let Err(error) = exchange(&connection, &id, json, begins).await {
                tracing::debug!(%id, %error, "a request failed");
                connection.deliver(error.response(id.clone())).await;
            }
        });
        let cancelled = done.await.is_none();
        if !cancelled {
            connection.in_flight().remove(&id);
        }
        drop(place);
    });
}

async fn exchange(
    connection: &Arc<Connection>,
    id: &RequestId,
    json: Vec<u8>,
    begins: Begins,
) -> Result<(), HttpError> {
    let older = connection.state().legacy.clone();
    if let Some(url) = older {
        return legacy::post(connection, url, id, json).await;
    }
    // Only what begins a session may have to be sent again.
    let again = (begins == Begins::Session).then(|| json.clone());
    let (response, session) = connection.post(connection.url.clone(), json, begins).await?;
    if !response.status().is_success() {
        return fail(connection, response, session, id, again).await;
    }
    if begins == Begins::Session {
        connection.begin(&response);
    }
    match media_type(&response).as_str() {
        JSON => {
            let answer = body(response, connection.options.message_bytes).await?;
            let answered = answers(&answer, id);
            if answered || !answer.trim_ascii().is_empty() {
                connection.deliver(answer).await;
            }
            if answered { Ok(()) } else { Err(HttpError::Unanswered) }
        }
        EVENTS => stream::follow(connection, response, id).await,
        other => Err(HttpError::ContentType(other.to_owned())),
    }
}

/// A request that was answered with an error status.
async fn fail(
    connection: &Arc<Connection>,
    response: Response,
    session: Option<HeaderValue>,
    id: &RequestId,
    again: Option<Vec<u8>>,
) -> Result<(), HttpError> {
    let status = response.status();
    let error = failure(&response);
    let said = said(response, id).await;
    if let Some(json) = again
        && asks_for_the_older_way(status)
        && !matches!(&said, Some(Said { own: true, .. }))
    {
        match legacy::begin(connection, id, json).await {
            Ok(()) => return Ok(()),
            Err(other) => tracing::debug!(%error, %other, "the server has neither way of HTTP"),
        }
    }

    let expired = session.filter(|_| status == StatusCode::NOT_FOUND);
    let answer = match (said, &expired) {
        (Some(said), _) => said.json,
        (None, Some(_)) => HttpError::Expired(SessionExpired).response(id.clone()),
        (None, None) => return Err(error),
    };
    connection.deliver(answer).await;
    if let Some(session) = expired {
        connection.expire(&session).await;
    }
    Ok(())
}

/// The revisions differ in which refusals they name; a server that wants to know who is asking has understood, though.
fn asks_for_the_older_way(status: StatusCode) -> bool {
    status.is_client_error() && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// An error response that came with an error status.
pub(super) struct Said {
    /// As the response to our request.
    pub(super) json: Vec<u8>,
    /// It was so from the beginning, and not one to nobody in particular.
    own: bool,
}

/// The error response that a failure has for its body.
pub(super) async fn said(response: Response, id: &RequestId) -> Option<Said> {
    let json = body(response, FAILURE_BYTES).await.ok()?;
    let said: ErrorResponse = mcp_wire::from_slice(&json).ok()?;
    match said.id {
        Some(other) if other != *id => None,
        Some(_) => Some(Said { json, own: true }),
        None => Some(Said {
            json: respond(id.clone(), said.error),
            own: false,
        }),
    }
}

/// Sends what has no answer.
pub(super) async fn tell(connection: Arc<Connection>, kind: Kind, json: Vec<u8>) -> Result<(), TransportError> {
    let older = connection.state().legacy.clone();
    let listens = older.is_none() && matches!(kind, Kind::Initialized);
    let url = older.unwrap_or_else(|| connection.url.clone());
    let (posted, session_ends) = {
        let session_ends = connection.state().session_ends.clone();
        (connection.post(url, json, Begins::Nothing).await, session_ends)
    };
    if let Kind::Cancelled(id) = kind {
        let ends = connection.in_flight().remove(&id);
        ends.as_ref().inspect(|ends: &&CancellationToken| ends.cancel());
    }
    match posted {
        Ok((response, Some(session))) if response.status() == StatusCode::NOT_FOUND => {
            connection.expire(&session).await;
            return Err(TransportError::Other(Box::new(SessionExpired)));
        }
        Ok((response, _)) if !response.status().is_success() => {
            tracing::warn!(status = %response.status(), "the server refuses a message that needs no answer");
        }
        Ok(_) => {
            if listens {
                let listening = stream::listen(Arc::clone(&connection));
                tokio::spawn(session_ends.run_until_cancelled_owned(listening));
            }
        }
        Err(error) => tracing::warn!(%error, "a message that needs no answer couldn't be sent"),
    }
    Ok(())
}
