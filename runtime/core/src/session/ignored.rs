//! Input from a peer that is ignored, because it isn't a message, or is an error without an id.

use mcp_adapters::mcp_wire::{DecodeError, DecodeErrorKind, ErrorObject, error_code};
use mcp_runtime_util::excerpt;

use super::warning_limit::WarningLimit;

/// Returns the error for input that isn't a message.
pub fn not_a_message(error: &DecodeError) -> ErrorObject {
    let code = match error.kind() {
        DecodeErrorKind::Syntax => error_code::PARSE_ERROR,
        _ => error_code::INVALID_REQUEST,
    };
    ErrorObject::new(code, error.to_string())
}

/// Logs ignored messages to `tracing`.
#[derive(Debug, Default)]
pub struct IgnoredMessages(WarningLimit);

impl IgnoredMessages {
    /// Logs a message: as a warning if the last warning is long enough ago, and otherwise at the debug level.
    pub fn log(&self, error: &ErrorObject, message: &[u8]) {
        let (reason, beginning) = (&error.message, excerpt(message));
        match self.0.suppressed() {
            Some(suppressed) => {
                tracing::warn!(%reason, %beginning, suppressed, "ignored what the peer sent")
            }
            None => tracing::debug!(%reason, %beginning, "ignored what the peer sent"),
        }
    }
}
