#![doc = include_str!("../README.md")]

mod lines;
#[cfg(windows)]
pub mod named_pipe;
#[cfg(any(unix, windows))]
mod serve;
#[cfg(any(unix, windows))]
pub mod stdio;
#[cfg(unix)]
pub mod unix;

pub use self::lines::{LineLimits, LineReceiver, LineSender, LineTransport};
#[cfg(any(unix, windows))]
pub use self::serve::{Accept, Serve};
#[cfg(any(unix, windows))]
pub use self::stdio::stdio;
