//! How many bytes may be held for a peer.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// What anything costs beside its bytes: a task, a place in a queue.
const OVERHEAD: usize = 512;

/// A number of bytes, and how many of them are taken.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    taken: AtomicUsize,
    freed: Notify,
}

/// A part of a budget, which is free again when this is dropped.
#[derive(Debug)]
pub struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// A budget of `limit` bytes, of which none is taken.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            taken: AtomicUsize::new(0),
            freed: Notify::new(),
        })
    }

    /// Whether so many bytes would be there if none were taken.
    pub fn can_hold(&self, bytes: usize) -> bool {
        bytes.saturating_add(OVERHEAD) <= self.limit
    }

    /// Takes this many bytes, if they are there.
    pub fn try_charge(self: &Arc<Self>, bytes: usize) -> Option<Charge> {
        let bytes = bytes.saturating_add(OVERHEAD);
        self.try_take(bytes).then(|| self.part(bytes))
    }

    fn try_take(&self, bytes: usize) -> bool {
        let fits = |taken: usize| taken.checked_add(bytes).filter(|taken| *taken <= self.limit);
        let taken = self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits);
        taken.is_ok()
    }

    /// How many bytes are taken.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }

    /// Takes this many bytes, be they there or not.
    pub fn charge(self: &Arc<Self>, bytes: usize) -> Charge {
        let bytes = bytes.saturating_add(OVERHEAD);
        self.taken.fetch_add(bytes, Ordering::SeqCst);
        self.part(bytes)
    }

    /// Waits until something of the budget is left.
    pub async fn available(&self) {
        if self.taken() < self.limit {
            return;
        }
        let mut freed = pin!(self.freed.notified());
        loop {
            freed.as_mut().enable();
            if self.taken() < self.limit {
                return;
            }
            freed.as_mut().await;
            freed.set(self.freed.notified());
        }
    }

    fn part(self: &Arc<Self>, bytes: usize) -> Charge {
        let budget = Arc::clone(self);
        Charge { budget, bytes }
    }
}

impl Charge {
    /// Takes this many bytes more, if they are there.
    pub fn try_grow(&mut self, bytes: usize) -> bool {
        let grows = self.budget.try_take(bytes);
        self.bytes += if grows { bytes } else { 0 };
        grows
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.bytes, Ordering::SeqCst);
        self.budget.freed.notify_waiters();
    }
}
