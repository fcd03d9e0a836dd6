//! A mutex without poisoning.

use std::sync::{Mutex as StdMutex, MutexGuard, PoisonError};

/// A mutex that ignores poisoning: a panic while it is locked leaves the value as it is, and other threads continue
/// with it.
#[derive(Debug, Default)]
pub struct Mutex<T>(StdMutex<T>);

impl<T> Mutex<T> {
    /// Creates a mutex with this value.
    pub const fn new(value: T) -> Self {
        Self(StdMutex::new(value))
    }

    /// Waits until no other thread holds the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
