//! The time from JavaScript, for WebAssembly without a system clock.

pub use web_time::{Instant as Moment, Instant, SystemTime};
