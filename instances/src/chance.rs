//! Random choices that repeat for a seed, and that leave no alternative out for long.

use std::collections::HashMap;

use fastrand::Rng;
use serde_json::Value;

/// What a choice at a place of the schema is about; one place can have several to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum About {
    /// Which branch of a union.
    Branch,
    /// Which of the listed values.
    Listed,
    /// Which type.
    Type,
    /// Whether a member is there.
    Presence,
    /// How many optional members are there.
    Fullness,
    /// How a mutant is made.
    Mutation,
}

/// A source of choices.
///
/// Choices about one place of the schema are dealt from a shuffled deck of all alternatives, shuffled anew once it is
/// used up. So each branch and each listed value turns up in as few instances as can show them all.
pub(crate) struct Chance {
    rng: Rng,
    // Keyed by address: a schema is borrowed for as long as the decks live, and only look-ups are made, so that the
    // addresses of one run never show in what is made.
    decks: HashMap<(About, usize), Vec<usize>>,
}

impl Chance {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name, so that alike definitions don't get alike instances.
        let seed = name.bytes().fold(seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self {
            rng: Rng::with_seed(seed),
            decks: HashMap::new(),
        }
    }

    /// Deals one of `len` alternatives for a place of the schema; `len` must not be zero.
    pub(crate) fn deal(&mut self, about: About, place: &Value, len: usize) -> usize {
        let deck = self.decks.entry((about, address(place))).or_default();
        // The number of alternatives at a place depends on what else holds there, so an old deck may not fit.
        deck.retain(|&card| card < len);
        if deck.is_empty() {
            deck.extend(0..len);
            self.rng.shuffle(deck);
        }
        deck.pop().unwrap_or_default()
    }

    /// Deals yes or no for a place of the schema.
    pub(crate) fn coin(&mut self, about: About, place: &Value) -> bool {
        self.deal(about, place, 2) == 0
    }

    /// True once in `n` times, on average.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.rng.usize(0..n.max(1)) == 0
    }

    /// A number from `low` to `high`, both included; `low` if they are the wrong way round.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        self.rng.usize(low..=high.max(low))
    }

    /// An integer from `low` to `high`, both included; `low` if they are the wrong way round.
    pub(crate) fn integer(&mut self, low: i64, high: i64) -> i64 {
        self.rng.i64(low..=high.max(low))
    }

    /// One of the choices, if there is any.
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        self.rng.choice(choices)
    }
}

/// What tells one place of the schema from all others.
pub(crate) fn address(place: &Value) -> usize {
    std::ptr::from_ref(place).addr()
}
