//! Boxed futures, futures that panic, and several futures at once.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Boxes the future of a task, because the code that runs tasks is compiled again for each type of future.
pub fn task(future: impl Future<Output = ()> + Send + 'static) -> BoxFuture<'static, ()> {
    Box::pin(future)
}

/// Marks functions that return a value rather than a future.
#[derive(Debug)]
pub enum Immediate {}

/// Marks functions that return a future rather than a value.
#[derive(Debug)]
pub enum Awaited {}

/// Waits for a future that can panic, and returns its output or the message of its panic. Values that the future has
/// borrowed stay as they were when it panicked.
pub async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    let polled = poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(panic) => Poll::Ready(Err(panic_text(&*panic))),
        },
    );
    polled.await
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Waits concurrently, within this task, for all of these futures, or for the first that fails.
pub async fn try_all<T, E>(mut futures: Vec<BoxFuture<'_, Result<T, E>>>) -> Result<Vec<T>, E> {
    let mut done = Vec::with_capacity(futures.len());
    let polled = poll_fn(|context| {
        let mut index = 0;
        while let Some(future) = futures.get_mut(index) {
            match future.as_mut().poll(context) {
                Poll::Pending => index += 1,
                Poll::Ready(Ok(value)) => {
                    done.push(value);
                    drop(futures.swap_remove(index));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        match futures.is_empty() {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    });
    polled.await.map(|()| done)
}
