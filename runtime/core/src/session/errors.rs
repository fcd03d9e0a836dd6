//! Errors in the codes of the hub and of the peer's revision, which may have different codes for the same.

use mcp_adapters::mcp_wire::{ErrorObject, RequestId};
use mcp_adapters::{Policy, Revision, translate_error};

use super::negotiated::Negotiated;
use super::state::SessionState;
use crate::error::CallError;
use crate::side::Side;

impl<S: Side> SessionState<S> {
    /// The error of a handler, as the peer's revision has it.
    pub fn error_for_peer(&self, negotiated: &Negotiated, method: &str, error: ErrorObject) -> ErrorObject {
        self.translated_error(Revision::HUB, negotiated.revision, method, error)
    }

    /// The error of the call `id`, as the hub has it. An error response to the call is its answer, whatever the HTTP status
    /// that it comes with.
    pub fn error_from_peer(&self, negotiated: &Negotiated, method: &str, id: i64, error: CallError) -> CallError {
        let translated = |error| self.translated_error(negotiated.revision, Revision::HUB, method, error);
        match error {
            CallError::Peer(error) => CallError::Peer(translated(error)),
            CallError::Http(mut failure) => match failure.response.take() {
                Some(response) if response.id == Some(RequestId::Integer(id)) && failure.challenges.is_empty() => {
                    CallError::Peer(translated(response.error))
                }
                Some(mut response) => {
                    response.error = translated(response.error);
                    failure.response = Some(response);
                    CallError::Http(failure)
                }
                None => CallError::Http(failure),
            },
            error => error,
        }
    }

    fn translated_error(&self, from: Revision, to: Revision, method: &str, error: ErrorObject) -> ErrorObject {
        let (error, losses) = translate_error(from, to, Some(method), error, Policy::Conform);
        self.report_losses(method, &losses);
        error
    }
}
