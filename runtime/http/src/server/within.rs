//! Timeouts of futures that are often ready immediately.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::timeout;

/// Waits for a future, but not longer than this time. Sets no timer if the future is ready immediately.
pub(crate) async fn within<T>(time: Duration, mut future: Pin<&mut impl Future<Output = T>>) -> Result<T, Elapsed> {
    match poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => timeout(time, future).await,
    }
}
