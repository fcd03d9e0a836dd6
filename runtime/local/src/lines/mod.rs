//! Messages as lines of JSON, over any two streams.

mod reader;
mod transport;
mod writer;

#[cfg(any(unix, windows))]
pub(crate) use self::reader::{Line, LineReader};
pub use self::transport::{LineLimits, LineReceiver, LineTransport};
pub use self::writer::LineSender;
