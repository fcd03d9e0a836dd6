//! How much memory a value may take while it is decoded.
//!
//! A small text can decode to a large value: in an array of `{}`, each element takes three bytes of text, but as much memory
//! as any other value of its type.

use super::Reader;
use crate::error::{DecodeError, DecodeErrorKind, Decoded};

/// How many bytes of memory a byte of text may take.
///
/// Charged are the capacity of lists and the size of allocations. Among the smallest valid elements of all revisions,
/// resources (`{"name":"","uri":""}`, 296 bytes) and prompts (`{"name":""}`, 160 bytes) take the most: up to 23 times their
/// text. Only lists of elements that no revision declares, such as the content `{"type":""}`, take more than the factor.
const FACTOR: usize = 24;

/// How many bytes of memory every text may take, so that only long texts are refused.
const FLOOR: usize = 1 << 20;

/// How many bytes an allocation takes beside the text that it holds: the smallest block of usual allocators.
pub(crate) const ALLOCATION: usize = 32;

/// How many bytes of memory decoding `text` may take.
pub(super) fn budget(text: &str) -> usize {
    text.len().saturating_mul(FACTOR).max(FLOOR)
}

impl Reader<'_> {
    /// Charges memory that is about to be allocated.
    ///
    /// # Errors
    /// When the text has taken more than it may.
    #[inline]
    pub(crate) fn charge(&mut self, bytes: usize) -> Decoded<()> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(self.over_budget()),
        }
    }

    /// Appends to a list, and charges the memory that the list reserves.
    ///
    /// # Errors
    /// When the text has taken more than it may.
    #[inline]
    pub(crate) fn push<T>(&mut self, list: &mut Vec<T>, item: T) -> Decoded<()> {
        if list.len() == list.capacity() {
            self.grow(list)?;
        }
        list.push(item);
        Ok(())
    }

    /// Grows by half instead of doubling, because reserved memory is charged, used or not.
    fn grow<T>(&mut self, list: &mut Vec<T>) -> Decoded<()> {
        let more = (list.capacity() / 2).max(4);
        self.charge(more.saturating_mul(size_of::<T>()))?;
        list.reserve_exact(more);
        Ok(())
    }

    #[cold]
    fn over_budget(&self) -> DecodeError {
        let expected = format!(
            "a value that takes at most {} bytes of memory, {FACTOR} for each of the text's",
            budget(self.text)
        );
        let kind = DecodeErrorKind::MemoryLimit;
        DecodeError::new(kind, expected, "one that takes more", self.position)
    }
}
