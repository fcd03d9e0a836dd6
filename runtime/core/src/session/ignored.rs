//! What a peer sends that is not a message.

use std::time::Duration;

use mcp_adapters::mcp_wire::{DecodeError, DecodeErrorKind, ErrorObject, error_code};
use mcp_runtime_util::{Moment, Mutex, excerpt};

/// The error for JSON that is not a message.
pub fn not_a_message(error: &DecodeError) -> ErrorObject {
    let code = match error.kind() {
        DecodeErrorKind::Syntax => error_code::PARSE_ERROR,
        _ => error_code::INVALID_REQUEST,
    };
    ErrorObject::new(code, error.to_string())
}

/// The time between two warnings: a peer that prints its log to its output must not fill ours.
const QUIET: Duration = Duration::from_secs(10);

/// Logs ignored messages to `tracing`.
#[derive(Debug, Default)]
pub struct IgnoredMessages(Mutex<Warned>);

#[derive(Debug, Default)]
struct Warned {
    last: Option<Moment>,
    /// The number of messages since then.
    suppressed: u64,
}

impl IgnoredMessages {
    /// Logs a message: as a warning if the last one is long enough ago.
    pub fn log(&self, error: &ErrorObject, message: &[u8]) {
        let (reason, beginning) = (&error.message, excerpt(message));
        match self.suppressed() {
            Some(suppressed) => {
                tracing::warn!(%reason, %beginning, suppressed, "ignored what the peer sent: it is not a message")
            }
            None => tracing::debug!(%reason, %beginning, "ignored what the peer sent: it is not a message"),
        }
    }

    /// The number of messages without a warning since the last one, if it is time for another.
    fn suppressed(&self) -> Option<u64> {
        let mut warned = self.0.lock();
        if warned.last.is_some_and(|last| last.elapsed() < QUIET) {
            warned.suppressed += 1;
            return None;
        }
        warned.last = Some(Moment::now());
        Some(std::mem::take(&mut warned.suppressed))
    }
}
