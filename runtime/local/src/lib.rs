#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod lines;
#[cfg(all(feature = "named-pipe", windows))]
pub mod named_pipe;
#[cfg(any(all(feature = "unix", unix), all(feature = "named-pipe", windows)))]
mod serve;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(all(feature = "unix", unix))]
pub mod unix;

pub use self::lines::{LineLimits, LineReceiver, LineSender, LineTransport};
#[cfg(any(all(feature = "unix", unix), all(feature = "named-pipe", windows)))]
pub use self::serve::{Accept, Serve};
#[cfg(feature = "stdio")]
pub use self::stdio::stdio;
