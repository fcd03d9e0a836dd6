//! The types of a store's results.

use std::error::Error;
use std::pin::Pin;

/// The future of a store's operation.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The error of a store.
pub type StoreError = Box<dyn Error + Send + Sync>;
