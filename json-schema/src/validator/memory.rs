//! The limit on the memory that compiling a document takes.
//!
//! A small document can take much memory: each of its schemas has a pointer, and a long name is in the pointers of all
//! schemas below it. Likewise, a long base URI is in the URIs of all resources below it, and a pattern can repeat its
//! parts.

use std::fmt;

use super::error::{Problem, SchemaError};

/// The number of bytes that the pointers, URIs and patterns of a document can take.
const MAX_BYTES: usize = 64 << 20;

/// The number of bytes of the longest pointer or URI.
const MAX_NAME: usize = 8 << 10;

/// The remaining memory. Once it is used up, nothing can be charged any more.
pub(super) struct Memory {
    left: usize,
}

/// The error of a document that would take too much memory.
#[derive(Debug)]
pub(super) struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the pointers, URIs and patterns of the document take more than {MAX_BYTES} bytes, or one pointer or URI more \
             than {MAX_NAME}"
        )
    }
}

impl Memory {
    pub(super) fn new() -> Self {
        Self { left: MAX_BYTES }
    }

    /// Charges memory that is about to be used.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.left = self.left.saturating_sub(bytes);
        self.check()
    }

    /// Charges a pointer or a URI.
    pub(super) fn charge_name(&mut self, name: &str) -> Result<(), TooLarge> {
        self.charge(if name.len() > MAX_NAME { MAX_BYTES } else { name.len() })
    }

    /// Fails if the memory is used up.
    pub(super) fn check(&self) -> Result<(), TooLarge> {
        if self.left > 0 { Ok(()) } else { Err(TooLarge) }
    }
}

impl From<TooLarge> for Problem {
    fn from(error: TooLarge) -> Self {
        Self::new("#", error)
    }
}

impl From<TooLarge> for SchemaError {
    fn from(error: TooLarge) -> Self {
        Self::new(vec![error.into()])
    }
}
