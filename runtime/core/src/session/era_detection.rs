//! Classification of a server's era by its response to a probe.

use http::StatusCode;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, error_code};
use mcp_adapters::{ErrorRole, Mismatch, PeerTypes, Revision, ServerDescription, session_messages};

use crate::error::{CallError, ConnectError, HttpFailure};

/// The conclusion from the response to a probe.
#[derive(Debug)]
pub enum Finding {
    /// The server is stateless, and supports this revision.
    Stateless(Revision, Box<ServerDescription>),
    /// The server is stateless, and must be probed again in this revision.
    AskAgain(Revision),
    /// The server has a handshake. A client that supports only stateless revisions gets the error.
    Handshake(ConnectError),
    /// The server has a handshake, and has exited or closed the connection because of the probe, so the client must
    /// connect again. A client that supports only stateless revisions gets the error.
    HandshakeAfterReconnect(ConnectError),
    /// The response doesn't reveal the era, or there is no revision in common.
    Failed(ConnectError),
}

/// Classifies the response to a probe in the revision `asked`. `supported` are the revisions that this client supports.
pub fn classify(asked: Revision, supported: &[Revision], answer: Result<RawJson, CallError>) -> Finding {
    let error = match answer {
        Ok(result) => {
            return match session_messages::read_discovery(asked, &result) {
                Ok(read) => match choose(asked, supported, &read.result.versions) {
                    Finding::AskAgain(revision) => Finding::Stateless(revision, Box::new(read.result)),
                    finding => finding,
                },
                // Some servers return a result for unknown methods.
                Err(error) => {
                    let error = CallError::InvalidResult(error.to_string());
                    Finding::Handshake(ConnectError::NotStateless(error))
                }
            };
        }
        Err(error) => error,
    };
    match &error {
        CallError::Peer(object) => match by_error(asked, supported, object) {
            Some(finding) => finding,
            // The server can know the request, and have failed.
            None if object.code == error_code::INTERNAL_ERROR => Finding::Handshake(error.into()),
            None => Finding::Handshake(ConnectError::NotStateless(error)),
        },
        CallError::Http(failure) => match by_failure(asked, supported, failure) {
            Some(Some(finding)) => finding,
            Some(None) => Finding::Handshake(ConnectError::NotStateless(error)),
            None => Finding::Failed(error.into()),
        },
        // Some servers respond to unknown methods with a successful HTTP response that has no JSON-RPC response in it.
        CallError::InvalidResult(_) | CallError::Cut(_) => Finding::Handshake(ConnectError::NotStateless(error)),
        CallError::TimedOut(_) => Finding::Handshake(error.into()),
        CallError::Exited(_) | CallError::Closed => Finding::HandshakeAfterReconnect(error.into()),
        _ => Finding::Failed(error.into()),
    }
}

/// Returns a stateless revision that this client supports, if the server has named one in refusing a handshake in the
/// revision `asked` with this error.
pub fn stateless_instead(asked: Revision, supported: &[Revision], error: &ConnectError) -> Option<Revision> {
    let ConnectError::Call(error) = error else {
        return None;
    };
    match by_error(asked, supported, error.error_object()?) {
        Some(Finding::AskAgain(revision)) => Some(revision),
        _ => None,
    }
}

/// Chooses among the revisions that both the server and this client support: the one that this client has asked for, or
/// else the latest. A stateless one takes precedence over one with a handshake.
fn choose(asked: Revision, supported: &[Revision], versions: &[String]) -> Finding {
    let common = || {
        supported
            .iter()
            .copied()
            .filter(|revision| versions.iter().any(|it| it == revision.as_str()))
    };
    let stateless = common().filter(|revision| revision.is_stateless());
    let stateless = stateless.max_by_key(|revision| (*revision == asked, *revision));
    let mismatch = || {
        ConnectError::Mismatch(Mismatch {
            requested: versions.join(", "),
            supported: supported.to_vec(),
        })
    };
    match stateless {
        Some(revision) => Finding::AskAgain(revision),
        None if common().next().is_some() => Finding::Handshake(mismatch()),
        None => Finding::Failed(mismatch()),
    }
}

/// Classifies an error that only servers of the stateless era send; `None` for another error.
fn by_error(asked: Revision, supported: &[Revision], error: &ErrorObject) -> Option<Finding> {
    session_messages::supported_by_peer::<Revision>(error).map(|versions| choose(asked, supported, &versions))
}

/// Classifies an HTTP failure: `None` if it doesn't reveal the era, and `Some(None)` if it reveals only that the server
/// has a handshake.
fn by_failure(asked: Revision, supported: &[Revision], failure: &HttpFailure) -> Option<Option<Finding>> {
    let says_nothing = [
        StatusCode::UNAUTHORIZED,
        StatusCode::FORBIDDEN,
        StatusCode::PROXY_AUTHENTICATION_REQUIRED,
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    if !failure.status.is_client_error() || says_nothing.contains(&failure.status) {
        return None;
    }
    let Some(response) = &failure.response else {
        return Some(None);
    };
    if let Some(finding) = by_error(asked, supported, &response.error) {
        return Some(Some(finding));
    }
    let code = response.error.code;
    let has_code = |role| asked.known_error(role).is_some_and(|known| known.code == code);
    if has_code(ErrorRole::HeaderMismatch) || has_code(ErrorRole::MissingCapability) {
        // A stateless server that refuses this particular request.
        return None;
    }
    Some(None)
}
