//! Budgets that limit the bytes held for a peer.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The overhead that each charge adds to its bytes, for example for a task or a place in a queue.
const OVERHEAD: usize = 512;

/// A limited number of bytes, and how many of them are taken.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    taken: AtomicUsize,
    freed: Notify,
}

/// Bytes taken from a budget. Dropping this returns them.
#[derive(Debug)]
pub struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// Creates a budget of `limit` bytes, none of which are taken.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            taken: AtomicUsize::new(0),
            freed: Notify::new(),
        })
    }

    /// Whether the budget could hold this many bytes if none were taken.
    pub fn can_hold(&self, bytes: usize) -> bool {
        bytes.saturating_add(OVERHEAD) <= self.limit
    }

    /// Takes this many bytes, if they are available.
    pub fn try_charge(self: &Arc<Self>, bytes: usize) -> Option<Charge> {
        let bytes = bytes.saturating_add(OVERHEAD);
        self.try_take(bytes).then(|| self.part(bytes))
    }

    fn try_take(&self, bytes: usize) -> bool {
        let fits = |taken: usize| taken.checked_add(bytes).filter(|taken| *taken <= self.limit);
        let taken = self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits);
        taken.is_ok()
    }

    /// Returns how many bytes are taken.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }

    /// Takes this many bytes, even if that exceeds the limit.
    pub fn charge(self: &Arc<Self>, bytes: usize) -> Charge {
        let bytes = bytes.saturating_add(OVERHEAD);
        self.taken.fetch_add(bytes, Ordering::SeqCst);
        self.part(bytes)
    }

    /// Waits until the budget isn't exhausted.
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
    /// Takes this many additional bytes, if they are available.
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
