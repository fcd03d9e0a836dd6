//! A queue that keeps messages in their order of arrival although some take longer to process.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use mcp_runtime_util::Mutex;

/// A queue of messages. A message's turn comes when all earlier ones have left the queue.
#[derive(Debug, Default)]
pub struct OrderedQueue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// The positions in ascending order. Only the first is woken: waking all for each message would take quadratic time.
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    waker: Option<Waker>,
}

impl State {
    fn position(&self, number: u64) -> Option<usize> {
        self.waiting
            .binary_search_by_key(&number, |waiting| waiting.number)
            .ok()
    }
}

/// The position of a message in an [`OrderedQueue`]. Dropping this removes the message from the queue.
#[derive(Debug)]
pub struct Ticket {
    queue: Arc<OrderedQueue>,
    number: u64,
}

impl OrderedQueue {
    /// Joins the queue at its end.
    pub fn join(self: &Arc<Self>) -> Ticket {
        let mut state = self.0.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(Waiting { number, waker: None });
        let queue = Arc::clone(self);
        Ticket { queue, number }
    }
}

impl Ticket {
    /// Waits until this position is the first in the queue.
    pub async fn wait_turn(&self) {
        poll_fn(|context| {
            let mut state = self.queue.0.lock();
            match state.position(self.number) {
                Some(at) if at > 0 => {
                    state.waiting[at].waker = Some(context.waker().clone());
                    Poll::Pending
                }
                _ => Poll::Ready(()),
            }
        })
        .await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.queue.0.lock();
        let at = state.position(self.number);
        at.and_then(|at| state.waiting.remove(at));
        let first = state.waiting.front_mut().filter(|_| at == Some(0));
        let waker = first.and_then(|first| first.waker.take());
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The position reserved for a message that may never be sent: the cancellation of a call.
#[derive(Debug, Default)]
pub struct ReservedTicket(Mutex<Option<Ticket>>);

impl ReservedTicket {
    /// Reserves a position at the end of the queue, unless there is one already.
    pub fn reserve(&self, queue: &Arc<OrderedQueue>) {
        self.0.lock().get_or_insert_with(|| queue.join());
    }

    /// Takes the reserved position, or else joins the queue at its end.
    pub fn take(&self, queue: &Arc<OrderedQueue>) -> Ticket {
        self.0.lock().take().unwrap_or_else(|| queue.join())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn turns_come_in_order_and_dropped_tickets_are_skipped() {
        let queue = Arc::new(OrderedQueue::default());
        let (first, second, third) = (queue.join(), queue.join(), queue.join());
        first.wait_turn().await;
        let waiting = tokio::spawn(async move { third.wait_turn().await });
        drop(second);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "the first is still there");
        drop(first);
        waiting.await.unwrap();
    }

    #[test]
    fn only_the_next_position_is_woken() {
        use std::pin::pin;
        use std::sync::atomic::{AtomicUsize, Ordering};
        use std::task::{Context, Wake};

        struct Count(AtomicUsize);

        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }

        let queue = Arc::new(OrderedQueue::default());
        let (first, second, third) = (queue.join(), queue.join(), queue.join());
        let [of_second, of_third] = [(); 2].map(|()| Arc::new(Count(AtomicUsize::new(0))));
        for (ticket, count) in [(&second, &of_second), (&third, &of_third)] {
            let waker = Waker::from(Arc::clone(count));
            let polled = pin!(ticket.wait_turn()).poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
        }
        let woken = || [&of_second, &of_third].map(|count| count.0.load(Ordering::Relaxed));
        drop(first);
        assert_eq!(woken(), [1, 0]);
        drop(second);
        assert_eq!(woken(), [1, 1]);
    }
}
