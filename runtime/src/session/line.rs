//! The order in which messages are passed on.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::sync::Mutex;

/// A line of messages. Each has its turn when all before it have left.
#[derive(Debug, Default)]
pub struct Line {
    state: Mutex<State>,
    left: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    waiting: BTreeSet<u64>,
}

/// The place of a message in a [`Line`]. The message leaves the line when this is dropped.
#[derive(Debug)]
pub struct Place {
    line: Arc<Line>,
    number: u64,
}

impl Line {
    /// Takes the last place.
    pub fn join(self: &Arc<Self>) -> Place {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number);
        let line = Arc::clone(self);
        Place { line, number }
    }
}

impl Place {
    /// Waits until this place is the first.
    pub async fn turn(&self) {
        loop {
            let left = self.line.left.notified();
            if self.line.state.lock().waiting.first() == Some(&self.number) {
                return;
            }
            left.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.state.lock().waiting.remove(&self.number);
        self.line.left.notify_waiters();
    }
}

/// The place of a message that may never be sent: that a call is cancelled.
#[derive(Debug, Default)]
pub struct ReservedPlace(Mutex<Option<Place>>);

impl ReservedPlace {
    /// Takes the last place for the message, if it has none.
    pub fn reserve(&self, line: &Arc<Line>) {
        self.0.lock().get_or_insert_with(|| line.join());
    }

    /// The reserved place, or else the last one.
    pub fn take(&self, line: &Arc<Line>) -> Place {
        self.0.lock().take().unwrap_or_else(|| line.join())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn places_have_their_turns_in_order_and_those_that_leave_are_skipped() {
        let line = Arc::new(Line::default());
        let (first, second, third) = (line.join(), line.join(), line.join());
        first.turn().await;
        let waiting = tokio::spawn(async move { third.turn().await });
        drop(second);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "the first is still there");
        drop(first);
        waiting.await.unwrap();
    }
}
