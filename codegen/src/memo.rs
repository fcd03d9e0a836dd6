//! Memoization: results of functions, by their inputs.

use std::cell::RefCell;
use std::sync::Arc;

/// A shared value that is compared by its address, because comparing the contents would take as long as computing the
/// value.
#[derive(Debug)]
pub(crate) struct Same<T>(Arc<T>);

impl<T> Same<T> {
    pub(crate) fn of(value: &Arc<T>) -> Self {
        Self(Arc::clone(value))
    }
}

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The results of a function by its input, the most recently used first. The key is the input itself, so no result is
/// stale. `KEPT` is enough for one directory and a few similar ones.
#[derive(Debug)]
pub(crate) struct Memo<K, V, const KEPT: usize = 24>(RefCell<Vec<(K, V)>>);

impl<K, V, const KEPT: usize> Default for Memo<K, V, KEPT> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: PartialEq, V: Clone, const KEPT: usize> Memo<K, V, KEPT> {
    /// Returns the result for an input, and computes it if it isn't known.
    pub(crate) fn get(&self, input: K, make: impl FnOnce(&K) -> V) -> V {
        self.find(|known| *known == input).unwrap_or_else(|| {
            let made = make(&input);
            self.keep(input, made)
        })
    }

    /// Returns the result for the input that meets a condition.
    pub(crate) fn find(&self, is_same: impl Fn(&K) -> bool) -> Option<V> {
        let mut kept = self.0.borrow_mut();
        let index = kept.iter().position(|(input, _)| is_same(input))?;
        let found = kept.remove(index);
        let result = found.1.clone();
        kept.insert(0, found);
        Some(result)
    }

    /// Keeps the result for an input, and returns it.
    pub(crate) fn keep(&self, input: K, result: V) -> V {
        let mut kept = self.0.borrow_mut();
        kept.insert(0, (input, result.clone()));
        kept.truncate(KEPT);
        result
    }
}
