//! Futures whose type is erased, and futures that panic.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A task as a future on the heap, because what runs tasks is compiled again for each type of them.
pub fn task(future: impl Future<Output = ()> + Send + 'static) -> BoxFuture<'static, ()> {
    Box::pin(future)
}

/// Distinguishes functions that give a value from those that give a future.
#[derive(Debug)]
pub enum Immediate {}

/// Distinguishes functions that give a future from those that give a value.
#[derive(Debug)]
pub enum Awaited {}

/// Waits for a future that may panic; the text of its panic. What the future has borrowed is as it was when it panicked.
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
        .unwrap_or_else(|| "a panic without a text".to_owned())
}

/// Waits for all of these futures, which take turns in this task, or for the first that fails.
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
