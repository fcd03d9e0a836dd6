//! The renewal of a session that the server has lost.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{MessageHeader, RawJson, RequestId};
use mcp_adapters::{Revision, session_messages};
use mcp_runtime_core::transport::Incoming;
use tokio::time::{Instant, timeout};

use super::body::Response;
use super::classify::{PostKind, classify};
use super::connection::{Connection, Inbound};
use super::deliver::answer;
use super::error::{HttpError, SessionExpired};
use super::opening::OpeningStream;
use super::response::failure;
use super::state::{Handshake, RemoteSession, SessionId, SessionScope};

/// Opens the standalone stream of a session.
pub(super) type Listen = fn(&Arc<Connection>, &RemoteSession) -> OpeningStream;

/// Starts a session in place of a lost one, unless that has already been done; `false` if that fails.
///
/// It runs in its own task, because a caller that belongs to the lost session is cancelled meanwhile.
pub(super) async fn renew(connection: &Arc<Connection>, lost: SessionId, listen: Listen) -> bool {
    let closing = connection.closing.clone();
    let connection = Arc::clone(connection);
    let renewing = tokio::spawn(closing.run_until_cancelled_owned(async move {
        let _turn = connection.renewing.lock().await;
        let handshake = {
            let state = connection.state.lock();
            let handshake = state.handshake.clone();
            if state.session.id != Some(lost) {
                return handshake.is_some();
            }
            handshake
        };
        let Some(handshake) = handshake else { return false };
        let renewed = timeout(
            connection.options.timeout,
            repeat_handshake(&connection, handshake, listen),
        )
        .await;
        match renewed.unwrap_or(Err(HttpError::MissingResponse)) {
            Ok(Some(stream)) => stream.opened().await,
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "the server has lost the session, and a new one can't be started");
                // Other callers that wait for the renewal must not try it again.
                connection.state.lock().handshake = None;
                return false;
            }
        }
        tracing::info!("the server had lost the session, and a new one has started");
        if let Some(observer) = &connection.options.renewed {
            observer();
        }
        true
    }));
    matches!(renewing.await, Ok(Some(true)))
}

/// Repeats the handshake, and makes the new session the current one.
async fn repeat_handshake(
    connection: &Arc<Connection>,
    handshake: Handshake,
    listen: Listen,
) -> Result<Option<OpeningStream>, HttpError> {
    let (PostKind::Initialize(id), Some(revision)) = (classify(&handshake.initialize), handshake.revision) else {
        return Err(SessionExpired.into());
    };
    let post = |json: &[u8], within| connection.post(connection.url.clone(), json.to_vec(), within);
    let (response, _) = post(&handshake.initialize, SessionScope::None).await?;
    let response = succeeded(response).await?;
    let session = connection.session_of(&response);
    if negotiated(connection, response, &id).await? != Some(revision) {
        return Err(SessionExpired.into());
    }
    if let Some(initialized) = &handshake.initialized {
        let (response, _) = post(initialized, SessionScope::Next(session.clone())).await?;
        succeeded(response).await?;
    }
    // Before the new session is used: responses to requests of the lost session could be mistaken for responses in the
    // new one.
    connection.hand(Inbound::Incoming(Incoming::Renewed)).await;
    let replaced = {
        let mut state = connection.state.lock();
        state.renewed = Some(Instant::now());
        std::mem::replace(&mut state.session, session.clone())
    };
    replaced.ended.cancel();
    let listens = handshake.initialized.is_some();
    Ok(listens.then(|| listen(connection, &session)))
}

async fn succeeded(response: Response) -> Result<Response, HttpError> {
    match response.status().is_success() {
        true => Ok(response),
        false => Err(failure(response, true).await.into()),
    }
}

/// The revision in the response to `initialize`, if this build has it.
async fn negotiated(
    connection: &Arc<Connection>,
    response: Response,
    id: &RequestId,
) -> Result<Option<Revision>, HttpError> {
    let answer = answer(connection, response, id).await?;
    let named = || {
        let result = MessageHeader::from_slice(&answer).ok()?.result()?;
        result.decode_as::<RawJson>().ok()
    };
    let result = named().ok_or(HttpError::MissingResponse)?;
    Ok(session_messages::negotiated_version(&result))
}
