#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod budget;
#[cfg_attr(
    all(target_family = "wasm", target_os = "unknown", feature = "js"),
    path = "clock_of_javascript.rs"
)]
mod clock;
mod excerpt;
mod expiring_set;
mod future;
mod name_map;
mod repolled;
mod sync;
mod used;

/// The maximum of times that are added to the current time, so that the sum doesn't overflow: 136 years.
pub const FOREVER: std::time::Duration = std::time::Duration::from_secs(u32::MAX as u64);

pub use self::budget::{Budget, Charge};
pub use self::clock::{Instant, Moment, SystemTime};
pub use self::excerpt::excerpt;
pub use self::future::{Awaited, BoxFuture, Immediate, catch_panic, task, try_all};
pub use self::name_map::NameMap;
pub use self::repolled::repolled;
pub use self::sync::Mutex;
pub use self::used::{TooMany, UsedOnce};
