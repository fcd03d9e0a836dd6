//! How a client finds the era of a server: the answer to a probe is evidence of one or of the other.

use http::StatusCode;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, error_code};
use mcp_adapters::{ErrorRole, Mismatch, PeerTypes, Revision, ServerHello, hello};

use crate::error::{CallError, ConnectError, HttpFailure};

/// What the answer to a probe says of the server.
#[derive(Debug)]
pub enum Finding {
    /// It is stateless, and speaks this revision.
    Stateless(Revision, Box<Option<ServerHello>>),
    /// It is stateless, and has to be asked again in this revision.
    AskAgain(Revision),
    /// It has a handshake.
    Handshake,
    /// It has a handshake, and has ended or closed the connection because of the probe.
    HandshakeAnew,
    /// The answer says nothing of the era, or there is no revision in common.
    Failed(ConnectError),
}

/// What the answer to a probe in the revision `asked` says. `supported` are the revisions that this client may use.
pub fn classify(asked: Revision, supported: &[Revision], answer: Result<OpenJson, CallError>) -> Finding {
    let error = match answer {
        Ok(result) => {
            return match hello::read_discovery(asked, &result) {
                Ok(read) => match choose(supported, &read.result.versions) {
                    Finding::AskAgain(revision) => Finding::Stateless(revision, Box::new(Some(read.result))),
                    finding => finding,
                },
                // Some servers give a result to methods that they don't know.
                Err(_) => Finding::Handshake,
            };
        }
        Err(error) => error,
    };
    match &error {
        CallError::Peer(object) => by_error(supported, object).unwrap_or(Finding::Handshake),
        CallError::Http(failure) => match by_failure(asked, supported, failure) {
            Some(finding) => finding,
            None => Finding::Failed(error.into()),
        },
        CallError::TimedOut(_) | CallError::InvalidResult(_) => Finding::Handshake,
        CallError::Exited(_) | CallError::Closed => Finding::HandshakeAnew,
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
    let stateless = common().filter(|revision| revision.stands_alone()).max();
    match stateless {
        Some(revision) => Finding::AskAgain(revision),
        None if common().next().is_some() => Finding::Handshake,
        None => Finding::Failed(ConnectError::Mismatch(Mismatch {
            requested: versions.join(", "),
            supported: supported.to_vec(),
        })),
    }
}

/// What an error says that only servers of the stateless era give.
fn by_error(supported: &[Revision], error: &ErrorObject) -> Option<Finding> {
    hello::supported_by_peer::<Revision>(error).map(|versions| choose(supported, &versions))
}

/// What a failure of HTTP says; `None` if it says nothing of the era.
fn by_failure(asked: Revision, supported: &[Revision], failure: &HttpFailure) -> Option<Finding> {
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
        return Some(Finding::Handshake);
    };
    if let Some(finding) = by_error(supported, &response.error) {
        return Some(finding);
    }
    let code = response.error.code;
    let has_code = |role| asked.known_error(role).is_some_and(|known| known.code == code);
    if has_code(ErrorRole::HeaderMismatch) || has_code(ErrorRole::MissingCapability) {
        // A stateless server that refuses this very request.
        return None;
    }
    if code == error_code::METHOD_NOT_FOUND && failure.status == StatusCode::NOT_FOUND {
        return Some(Finding::Stateless(asked, Box::new(None)));
    }
    Some(Finding::Handshake)
}
