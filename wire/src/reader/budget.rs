//! How much memory a value may take while it is decoded.
//!
//! A small text can stand for much memory: an array of `{}` takes three bytes an element, and an element that holds
//! nothing takes as much as any other of its type.

use super::Reader;
use crate::error::{DecodeError, DecodeErrorKind, Decoded};

/// How many bytes of memory a byte of text may take.
///
/// What is charged is the size of elements, with what a list reserves for more of them, and of allocations. Of the types
/// of all revisions, those whose smallest valid elements take the most are resources (`{"name":"","uri":""}`, 296 bytes)
/// and prompts (`{"name":""}`, 160 bytes): up to 23 times their text. Above the factor are lists
/// of elements that say nothing, such as the content `{"type":""}`, which no revision declares.
const FACTOR: usize = 24;

/// What any text may take, in bytes, so that only long ones are ever refused.
const FLOOR: usize = 1 << 20;

/// What an allocation takes beside the text that it holds, in bytes: the smallest block that usual allocators give.
pub(crate) const ALLOCATION: usize = 32;

/// How many bytes of memory decoding `text` may take.
pub(super) fn budget(text: &str) -> usize {
    text.len().saturating_mul(FACTOR).max(FLOOR)
}

impl Reader<'_> {
    /// Takes note of memory that is about to be allocated.
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

    /// Appends to a list, and takes note of the memory that the list reserves.
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

    /// By half rather than to twice the size, because what is reserved is charged, used or not.
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
