//! The time in WebAssembly without a system, which JavaScript has.

pub use web_time::{Instant as Moment, Instant, SystemTime};
