//! The time of the system.

pub use std::time::{Instant, SystemTime};
/// A clock that tests can pause.
pub use tokio::time::Instant as Moment;
