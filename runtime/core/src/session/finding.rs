//! What the answer to a probe says of a server.

use http::StatusCode;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson};
use mcp_adapters::{ErrorRole, Mismatch, PeerTypes, Revision, ServerHello, hello};

use crate::error::{CallError, ConnectError, HttpFailure};

/// What the answer to a probe says of the server.
#[derive(Debug)]
pub enum Finding {
    /// It is stateless, and speaks this revision.
    Stateless(Revision, Box<ServerHello>),
    /// It is stateless, and has to be asked again in this revision.
    AskAgain(Revision),
    /// It has a handshake. A client without one gets the error.
    Handshake(ConnectError),
    /// It has a handshake, and has ended or closed the connection because of the probe. A client without one gets the error.
    HandshakeAnew(ConnectError),
    /// The answer says nothing of the era, or there is no revision in common.
    Failed(ConnectError),
}

/// What the answer to a probe in the revision `asked` says. `supported` are the revisions that this client may use.
pub fn classify(asked: Revision, supported: &[Revision], answer: Result<RawJson, CallError>) -> Finding {
    let error = match answer {
        Ok(result) => {
            return match hello::read_discovery(asked, &result) {
                Ok(read) => match choose(supported, &read.result.versions) {
                    Finding::AskAgain(revision) => Finding::Stateless(revision, Box::new(read.result)),
                    finding => finding,
                },
                // Some servers give a result to methods that they don't know.
                Err(error) => {
                    let error = CallError::InvalidResult(error.to_string());
                    Finding::Handshake(ConnectError::NotStateless(error))
                }
            };
        }
        Err(error) => error,
    };
    match &error {
        CallError::Peer(object) => match by_error(supported, object) {
            Some(finding) => finding,
            None => Finding::Handshake(ConnectError::NotStateless(error)),
        },
        CallError::Http(failure) => match by_failure(asked, supported, failure) {
            Some(Some(finding)) => finding,
            Some(None) => Finding::Handshake(ConnectError::NotStateless(error)),
            None => Finding::Failed(error.into()),
        },
        // Some servers end a successful response without an answer to methods that they don't know.
        CallError::InvalidResult(_) | CallError::Cut(_) => Finding::Handshake(ConnectError::NotStateless(error)),
        CallError::TimedOut(_) => Finding::Handshake(error.into()),
        CallError::Exited(_) | CallError::Closed => Finding::HandshakeAnew(error.into()),
        _ => Finding::Failed(error.into()),
    }
}

/// The stateless revision that a server names which refuses a handshake with this error, if this client supports one of those.
pub fn stateless_instead(supported: &[Revision], error: &ConnectError) -> Option<Revision> {
    let ConnectError::Call(error) = error else {
        return None;
    };
    match by_error(supported, error.error_object()?) {
        Some(Finding::AskAgain(revision)) => Some(revision),
        _ => None,
    }
}

/// What a server supports and this client too: a stateless revision before one with a handshake.
fn choose(supported: &[Revision], versions: &[String]) -> Finding {
    let common = || {
        supported
            .iter()
            .copied()
            .filter(|revision| versions.iter().any(|it| it == revision.as_str()))
    };
    let stateless = common().filter(|revision| revision.is_stateless()).max();
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

/// What an error says that only servers of the stateless era give.
fn by_error(supported: &[Revision], error: &ErrorObject) -> Option<Finding> {
    hello::supported_by_peer::<Revision>(error).map(|versions| choose(supported, &versions))
}

/// What a failure of HTTP says: `None` if nothing of the era, and `Some(None)` if no more than that there is a handshake.
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
    if let Some(finding) = by_error(supported, &response.error) {
        return Some(Some(finding));
    }
    let code = response.error.code;
    let has_code = |role| asked.known_error(role).is_some_and(|known| known.code == code);
    if has_code(ErrorRole::HeaderMismatch) || has_code(ErrorRole::MissingCapability) {
        // A stateless server that refuses this very request.
        return None;
    }
    Some(None)
}
