//! The limit on the memory that decoding a text can take.
//!
//! A small text can decode to a large value: in an array of `{}`, each element takes three bytes of text, but as much
//! memory as any other value of its type.

use super::Reader;
use crate::error::{DecodeError, DecodeErrorKind, Decoded};

/// The number of bytes of memory for each byte of text.
///
/// The capacity of lists and the size of allocations are charged. Among the smallest valid elements of all revisions,
/// resources (`{"name":"","uri":""}`, 296 bytes) and prompts (`{"name":""}`, 160 bytes) take the most: up to 23 times
/// their text. Only lists of elements that no revision declares, such as the content `{"type":""}`, take more than the
/// factor.
const FACTOR: usize = 24;

/// The number of bytes of memory that every text can take, so that only long texts are refused.
const FLOOR: usize = 1 << 20;

/// The number of bytes that an allocation takes besides its text: the smallest block of the usual allocators.
pub(crate) const ALLOCATION: usize = 32;

/// Returns the number of bytes of memory that decoding `text` can take.
pub(super) fn budget(text: &str) -> usize {
    text.len().saturating_mul(FACTOR).max(FLOOR)
}

impl Reader<'_> {
    /// Returns the number of bytes of memory that the rest of the text can take.
    pub(crate) fn budget(&self) -> usize {
        self.budget
    }

    /// Charges memory that is about to be allocated.
    ///
    /// # Errors
    /// When the text has taken more memory than the limit.
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
    /// When the text has taken more memory than the limit.
    #[inline]
    pub fn push<T>(&mut self, list: &mut Vec<T>, item: T) -> Decoded<()> {
        if list.len() == list.capacity() {
            self.grow(list)?;
        }
        list.push(item);
        Ok(())
    }

    /// Grows the list by half instead of doubling it, because reserved memory is charged even if it is unused.
    fn grow<T>(&mut self, list: &mut Vec<T>) -> Decoded<()> {
        let more = (list.capacity() / 2).max(4);
        self.charge(more.saturating_mul(size_of::<T>()))?;
        list.reserve_exact(more);
        Ok(())
    }

    #[cold]
    fn over_budget(&self) -> DecodeError {
        let expected = format!(
            "a value that takes at most {} bytes of memory, {FACTOR} for each byte of the text",
            budget(self.text)
        );
        let kind = DecodeErrorKind::MemoryLimit;
        DecodeError::new(kind, expected, "one that takes more", self.position)
    }
}
