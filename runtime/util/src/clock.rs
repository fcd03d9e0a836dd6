//! The time of the system.

pub use std::time::{Instant, SystemTime};
/// The time that tests may pause.
pub use tokio::time::Instant as Moment;
