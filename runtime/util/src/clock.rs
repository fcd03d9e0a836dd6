//! The time of the system. In WebAssembly without a system, JavaScript has it.

#[cfg(not(all(target_family = "wasm", target_os = "unknown", feature = "js")))]
pub use std::time::{Instant, SystemTime};
/// The time that tests may pause.
#[cfg(not(all(target_family = "wasm", target_os = "unknown", feature = "js")))]
pub use tokio::time::Instant as Moment;

#[cfg(all(target_family = "wasm", target_os = "unknown", feature = "js"))]
pub use web_time::{Instant as Moment, Instant, SystemTime};
