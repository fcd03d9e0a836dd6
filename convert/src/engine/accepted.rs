//! A cache of accepted texts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A cache of the texts that a check has accepted, so that it needn't read them again: a server lists the same schemas
/// to each client, and a client describes itself in the same way in each request.
///
/// A text is compared as a whole, so a crafted text can't be taken for an accepted one. When the cache is full, all
/// texts are removed.
#[derive(Debug, Default)]
pub(super) struct Accepted {
    texts: Mutex<Texts>,
}

#[derive(Debug, Default)]
struct Texts {
    known: HashMap<u64, Box<str>, BuildHasherDefault<Sampled>>,
    bytes: usize,
}

/// A hasher for samples, which are hashes already.
#[derive(Default)]
struct Sampled(u64);

impl Hasher for Sampled {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, sample: u64) {
        self.0 = sample;
    }
}

/// The maximum size of all texts in bytes.
const MOST_BYTES: usize = 1 << 20;

/// The length from which on a text isn't cached.
const LONG: usize = 1 << 14;

impl Accepted {
    /// Whether a text has been accepted, or `check` accepts it now.
    pub(super) fn or_check(&self, text: &str, check: impl FnOnce() -> bool) -> bool {
        if self.has(text) {
            return true;
        }
        let accepts = check();
        if accepts {
            self.keep(text);
        }
        accepts
    }

    /// Whether a text has been accepted.
    pub(super) fn has(&self, text: &str) -> bool {
        self.texts()
            .known
            .get(&sample(text))
            .is_some_and(|known| **known == *text)
    }

    /// Keeps an accepted text, unless it is long.
    pub(super) fn keep(&self, text: &str) {
        if text.len() < LONG {
            self.texts().keep(sample(text), text);
        }
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Texts {
    fn keep(&mut self, key: u64, text: &str) {
        if self.bytes + text.len() > MOST_BYTES {
            *self = Self::default();
        }
        self.bytes += text.len();
        if let Some(other) = self.known.insert(key, text.into()) {
            self.bytes -= other.len();
        }
    }
}

/// Hashes the length of a text and some of its words, at equal distances.
fn sample(text: &str) -> u64 {
    const DISTANCES: usize = 8;
    let bytes = text.as_bytes();
    let last = bytes.len().saturating_sub(8);
    let words = (0..=DISTANCES).map(|index| bytes[last * index / DISTANCES..].first_chunk());
    let mix = |sample: u64, word: u64| (sample.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // A text without a word is hashed by its length alone.
    let words = words.map(|word| word.map_or(0, |word| u64::from_le_bytes(*word)));
    words.fold(bytes.len() as u64, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_equal_text_is_found_even_if_samples_collide() {
        let accepted = Accepted::default();
        assert!(!accepted.or_check("{}", || false));
        assert!(accepted.or_check("{}", || true));
        assert!(accepted.or_check("{}", || false));
        // Two texts that differ only in bytes that the sample skips.
        let (one, other) = ("a".repeat(1000), "a".repeat(910) + "b" + &"a".repeat(89));
        assert_eq!(sample(&one), sample(&other));
        assert!(accepted.or_check(&one, || true));
        assert!(!accepted.or_check(&other, || false));
    }

    #[test]
    fn the_size_of_the_cache_is_limited() {
        let accepted = Accepted::default();
        for number in 0..10_000 {
            let text = format!("{number:05}") + &"a".repeat(LONG - 6);
            assert!(accepted.or_check(&text, || true));
            assert!(accepted.texts.lock().unwrap().bytes <= MOST_BYTES);
        }
        assert!(accepted.or_check(&"a".repeat(LONG), || true));
        assert!(!accepted.or_check(&"a".repeat(LONG), || false));
    }
}
