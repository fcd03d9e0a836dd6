//! A new session in place of one that the server has forgotten.

use std::sync::Arc;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{MessageHeader, RequestId};
use reqwest::Response;
use reqwest::header::HeaderValue;
use tokio::time::{Instant, timeout};

use super::connection::{Connection, EVENTS, Item, JSON, Opening, Within, body, failure, media_type};
use super::envelope::{Kind, answers, kind};
use super::error::{HttpError, SessionExpired};
use super::stream::{self, Events, Listening, is_message};
use crate::message::Incoming;

/// Begins a session in place of a forgotten one, unless that has been done already; `false` if there is none.
///
/// This happens in a task of its own, because whoever waits for it may go, and does so if it belongs to the forgotten session.
pub(super) async fn renew(connection: &Arc<Connection>, forgotten: HeaderValue) -> bool {
    let closing = connection.closing.clone();
    let connection = Arc::clone(connection);
    let renewing = tokio::spawn(closing.run_until_cancelled_owned(async move {
        let _turn = connection.renewing.lock().await;
        let opening = {
            let state = connection.state.lock();
            let opening = state.opening.clone();
            if state.session.id != Some(forgotten) {
                return opening.is_some();
            }
            opening
        };
        let Some(opening) = opening else { return false };
        let begun = timeout(connection.options.patience, begin(&connection, opening)).await;
        match begun.unwrap_or(Err(HttpError::Unanswered)) {
            Ok(Some(listening)) => listening.begun().await,
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "the server has forgotten the session and begins no other");
                // Others that wait here for the same are not to ask again.
                connection.state.lock().opening = None;
                return false;
            }
        }
        tracing::info!("the server had forgotten the session, and another has begun");
        if let Some(told) = &connection.options.renewed {
            told();
        }
        true
    }));
    matches!(renewing.await, Ok(Some(true)))
}

/// Sends again what the session began with, and makes what comes of it the current session.
async fn begin(connection: &Arc<Connection>, opening: Opening) -> Result<Option<Listening>, HttpError> {
    let (Kind::Initialize(id), Some(revision)) = (kind(&opening.initialize), opening.revision) else {
        return Err(SessionExpired.into());
    };
    let post = |json: &[u8], within| connection.post(connection.url.clone(), json.to_vec(), within);
    let (response, _) = post(&opening.initialize, Within::None).await?;
    let response = succeeded(response).await?;
    let session = connection.begun(&response);
    if negotiated(connection, response, &id).await? != Some(revision) {
        return Err(SessionExpired.into());
    }
    if let Some(initialized) = &opening.initialized {
        let (response, _) = post(initialized, Within::Next(session.clone())).await?;
        succeeded(response).await?;
    }
    // Answers to the forgotten session could be taken for others' in the new one.
    connection.hand(Item::Incoming(Incoming::Renewed)).await;
    let forgotten = {
        let mut state = connection.state.lock();
        state.renewed = Some(Instant::now());
        std::mem::replace(&mut state.session, session.clone())
    };
    forgotten.ends.cancel();
    let listens = opening.initialized.is_some();
    Ok(listens.then(|| stream::listen(connection, &session)))
}

async fn succeeded(response: Response) -> Result<Response, HttpError> {
    match response.status().is_success() {
        true => Ok(response),
        false => Err(failure(response).await.into()),
    }
}

/// The revision that the answer to `initialize` names, if it is known.
async fn negotiated(
    connection: &Connection,
    response: Response,
    id: &RequestId,
) -> Result<Option<Revision>, HttpError> {
    let limit = connection.options.message_bytes;
    let answer = match media_type(&response).as_str() {
        JSON => body(response, limit).await?,
        EVENTS => {
            let mut events = Events::new(response, limit);
            loop {
                let event = events.next().await.ok_or(HttpError::Unanswered)?;
                if is_message(&event) && answers(&event.data, id) {
                    break event.data;
                }
                if is_message(&event) {
                    connection.deliver(event.data).await;
                }
            }
        }
        other => return Err(HttpError::ContentType(other.to_owned())),
    };
    let named = || {
        let result = MessageHeader::from_slice(&answer).ok()?.result()?;
        let named = result.get(&["protocolVersion"]).ok()??;
        named.string().ok().map(|named| named.parse().ok())
    };
    named().ok_or(HttpError::Unanswered)
}
