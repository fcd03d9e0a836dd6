//! A queue that keeps messages in their order of arrival although some take longer to process.

use std::collections::VecDeque;
use std::sync::Arc;

use mcp_runtime_util::Mutex;
use tokio::sync::Notify;

/// A queue of messages. A message's turn comes when all earlier ones have left the queue.
#[derive(Debug, Default)]
pub struct OrderedQueue {
    state: Mutex<State>,
    left: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// The numbers of the tickets, in ascending order.
    waiting: VecDeque<u64>,
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
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(number);
        let queue = Arc::clone(self);
        Ticket { queue, number }
    }
}

impl Ticket {
    /// Waits until this position is the first in the queue.
    pub async fn wait_turn(&self) {
        loop {
            let left = self.queue.left.notified();
            if self.queue.state.lock().waiting.front() == Some(&self.number) {
                return;
            }
            left.await;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        if let Ok(at) = state.waiting.binary_search(&self.number) {
            state.waiting.remove(at);
        }
        drop(state);
        self.queue.left.notify_waiters();
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
}
