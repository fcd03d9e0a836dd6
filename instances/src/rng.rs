//! Random choices that are reproducible from a seed, and cover all alternatives soon.

use std::collections::HashMap;

use serde_json::Value;

/// The subject of a choice at a location of the schema. One location can have several choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Choice {
    /// The branch of a union.
    Branch,
    /// One of the listed values.
    Listed,
    /// The type.
    Type,
    /// Whether a member is present.
    Presence,
    /// The proportion of optional members.
    Density,
    /// The kind of mutation.
    Mutation,
}

/// A source of choices.
///
/// Choices at one location of the schema are dealt from a shuffled deck of all alternatives, which is shuffled again
/// once it is used up. So the fewest possible instances cover all branches and all listed values.
pub(crate) struct Rng {
    rng: fastrand::Rng,
    // Keyed by address, because schemas are borrowed longer than the decks live. The map is never iterated, so the
    // addresses don't influence the values.
    decks: HashMap<(Choice, usize), Vec<usize>>,
}

impl Rng {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name, so that similar definitions don't get similar instances.
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
        // The number of alternatives at a location depends on the other constraints, so an old deck can contain invalid
        // ones.
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

    /// Returns true once in `n` times, on average.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.rng.usize(0..n.max(1)) == 0
    }

    /// Returns a number from `low` to `high`, both included; `low` if it is greater than `high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        self.rng.usize(low..=high.max(low))
    }

    /// Returns an integer from `low` to `high`, both included; `low` if it is greater than `high`.
    pub(crate) fn integer(&mut self, low: i64, high: i64) -> i64 {
        self.rng.i64(low..=high.max(low))
    }

    /// Returns one of the choices, if there are any.
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        self.rng.choice(choices)
    }
}

/// Returns the identity of a location of the schema.
pub(crate) fn address(location: &Value) -> usize {
    std::ptr::from_ref(location).addr()
}
