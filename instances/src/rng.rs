//! Random choices that repeat for a seed, and that leave out no alternative for long.

use std::collections::HashMap;

use serde_json::Value;

/// What is chosen at a location of the schema. One location can have several choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Choice {
    /// Which branch of a union.
    Branch,
    /// Which of the listed values.
    Listed,
    /// Which type.
    Type,
    /// Whether a member is there.
    Presence,
    /// How many optional members are there.
    Density,
    /// How a mutant is made.
    Mutation,
}

/// A source of choices.
///
/// Choices about one location of the schema are dealt from a shuffled deck of all alternatives, shuffled again once it is
/// used up. So each branch and each listed value turns up in as few instances as can show them all.
pub(crate) struct Rng {
    rng: fastrand::Rng,
    // Keyed by address: a schema is borrowed for as long as the decks live, and only look-ups are made, so that the
    // addresses of one run never show in what is made.
    decks: HashMap<(Choice, usize), Vec<usize>>,
}

impl Rng {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name, so that alike definitions don't get alike instances.
        let seed = name.bytes().fold(seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self {
            rng: fastrand::Rng::with_seed(seed),
            decks: HashMap::new(),
        }
    }

    /// Deals one of `len` alternatives for a location of the schema; `len` must not be zero.
    pub(crate) fn deal(&mut self, choice: Choice, location: &Value, len: usize) -> usize {
        let deck = self.decks.entry((choice, address(location))).or_default();
        // The number of alternatives at a location depends on what else holds there, so an old deck may not fit.
        deck.retain(|&card| card < len);
        if deck.is_empty() {
            deck.extend(0..len);
            self.rng.shuffle(deck);
        }
        deck.pop().unwrap_or_default()
    }

    /// Deals yes or no for a location of the schema.
    pub(crate) fn coin(&mut self, choice: Choice, location: &Value) -> bool {
        self.deal(choice, location, 2) == 0
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

/// Identifies a location of the schema.
pub(crate) fn address(location: &Value) -> usize {
    std::ptr::from_ref(location).addr()
}
