//! Futures that wake themselves.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::{BoxFuture, Mutex};

/// The number of polls in succession before other tasks get their turn.
const TIMES: usize = 4;

/// The future isn't being polled: waking it wakes its task.
const IDLE: u8 = 0;
/// It is being polled, and hasn't been woken during this poll.
const POLLED: u8 = 1;
/// It has been woken during this poll.
const WOKEN: u8 = 2;

/// Polls a future again immediately if it was woken during a poll, for example because it woke itself.
///
/// A task that wakes itself goes to the end of its thread's queue, and another thread is woken to help with that queue.
/// That takes several system calls; a second poll takes none.
pub async fn repolled<T>(mut future: BoxFuture<'_, T>) -> T {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    poll_fn(|context| {
        wakes.wake_later(context.waker());
        for _ in 0..TIMES {
            wakes.state.store(POLLED, Ordering::Release);
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            let was_woken = wakes.state.swap(IDLE, Ordering::AcqRel) == WOKEN;
            if polled.is_ready() || !was_woken {
                return polled;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

#[derive(Default)]
struct Wakes {
    state: AtomicU8,
    /// The task that polls the future.
    task: Mutex<Option<Waker>>,
}

impl Wakes {
    /// Sets the task to wake when the future is woken while it isn't being polled.
    fn wake_later(&self, waker: &Waker) {
        let mut task = self.task.lock();
        if !task.as_ref().is_some_and(|task| task.will_wake(waker)) {
            *task = Some(waker.clone());
        }
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let polled = |state| (state != IDLE).then_some(WOKEN);
        let noted = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, polled);
        if noted.is_err() {
            let task = self.task.lock().clone();
            if let Some(task) = task {
                task.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// The number of times that a task was woken.
    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls a future once that wakes itself `wakes` times. Returns whether it is ready, how often its task was woken,
    /// and its waker.
    fn poll_once(wakes: usize) -> (bool, Arc<Count>, Waker) {
        let (mut left, mut kept) = (wakes, None);
        let future = poll_fn(|context| {
            kept = Some(context.waker().clone());
            context.waker().wake_by_ref();
            let poll = if left == 0 { Poll::Ready(()) } else { Poll::Pending };
            left = left.saturating_sub(1);
            poll
        });
        let count = Arc::new(Count::default());
        let task = Waker::from(Arc::clone(&count));
        let polled = pin!(repolled(Box::pin(future))).poll(&mut Context::from_waker(&task));
        (polled.is_ready(), count, kept.expect("it was polled"))
    }

    #[test]
    fn a_future_that_wakes_itself_is_polled_again_without_waking_its_task() {
        let (ready, count, _) = poll_once(TIMES - 1);
        assert!(ready);
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_future_that_keeps_waking_itself_yields_to_other_tasks() {
        let (ready, count, waker) = poll_once(usize::MAX);
        assert!(!ready);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        waker.wake();
        assert_eq!(count.0.load(Ordering::Relaxed), 2, "a later wake wakes the task");
    }
}
