//! Input from a peer that isn't a message.

use std::time::Duration;

use mcp_adapters::mcp_wire::{DecodeError, DecodeErrorKind, ErrorObject, error_code};
use mcp_runtime_util::{Moment, Mutex, excerpt};

/// Returns the error for input that isn't a message.
pub fn not_a_message(error: &DecodeError) -> ErrorObject {
    let code = match error.kind() {
        DecodeErrorKind::Syntax => error_code::PARSE_ERROR,
        _ => error_code::INVALID_REQUEST,
    };
    ErrorObject::new(code, error.to_string())
}

/// The minimum time between two warnings: a peer that prints its log to its output must not flood ours.
const QUIET: Duration = Duration::from_secs(10);

/// Logs ignored messages to `tracing`.
#[derive(Debug, Default)]
pub struct IgnoredMessages(Mutex<Warned>);

#[derive(Debug, Default)]
struct Warned {
    last: Option<Moment>,
    /// The number of ignored messages since then.
    suppressed: u64,
}

impl IgnoredMessages {
    /// Logs a message: as a warning if the last warning is long enough ago, and otherwise at the debug level.
    pub fn log(&self, error: &ErrorObject, message: &[u8]) {
        let (reason, beginning) = (&error.message, excerpt(message));
        match self.suppressed() {
            Some(suppressed) => {
                tracing::warn!(%reason, %beginning, suppressed, "ignored what the peer sent: it is not a message")
            }
            None => tracing::debug!(%reason, %beginning, "ignored what the peer sent: it is not a message"),
        }
    }

    /// Returns the number of messages since the last warning, if it is time for another warning.
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
