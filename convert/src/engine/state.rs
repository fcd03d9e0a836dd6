//! State of a running conversion.

use std::sync::Arc;

use mcp_wire::path::Segment;
use mcp_wire::{KnownJson, MAX_DEPTH, Places, Reader, error_code};

use crate::loss::{AUTOMATIC, LossKind, PendingLoss};
use crate::policy::Policy;
use crate::supply::Supply;
use crate::unrepresentable::Unrepresentable;

/// State of a running conversion: the policy, the supply, the losses so far, and limits.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) policy: Policy,
    pub(crate) supply: Option<Arc<Supply>>,
    pub(crate) losses: Vec<PendingLoss>,
    /// Whether every value that can be read as a tree is.
    pub(crate) only_trees: bool,
    /// The maximum depth of the source.
    pub(crate) deepest: usize,
    /// The values of the source that have been read as text, if the reader remembered them.
    pub(crate) places: Places,
    /// The revision that the source names, and the one that steps have replaced it by.
    pub(super) renamed: Option<(&'static str, &'static str)>,
    /// The number of nested pairs of types that are being converted.
    depth: usize,
    /// The number of bytes that rules can still add.
    room: Option<usize>,
}

/// The maximum number of nested pairs of types. A value of the maximum depth has a union and an object on each level.
const MAX_PAIRS: usize = 4 * MAX_DEPTH;

/// The number of bytes that rules can add for each byte of the source.
const FACTOR: usize = 8;

/// The number of bytes that rules can add to any source.
const FLOOR: usize = 1 << 20;

impl State {
    pub(crate) fn new(policy: Policy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    pub(crate) fn carries(&self) -> bool {
        self.policy == Policy::Carry
    }

    /// Sets the number of bytes that rules can add, by the length of the source.
    pub(crate) fn begin(&mut self, source: &str) {
        self.room = Some(source.len().saturating_mul(FACTOR).max(FLOOR));
    }

    /// Counts bytes that a rule adds.
    ///
    /// # Errors
    /// When rules have added more than the limit.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Unrepresentable> {
        let room = self.room.unwrap_or(FLOOR);
        let left = room.checked_sub(bytes);
        self.room = Some(left.ok_or_else(|| {
            let because = "the other revision needs many times as much text for the value";
            Unrepresentable::new(error_code::INVALID_PARAMS, because, AUTOMATIC)
        })?);
        Ok(())
    }

    /// Returns a reader of the converted JSON. It skips known values without reading them, unless conversions may have
    /// nested them too deep.
    pub(crate) fn reader<'k>(&self, json: &'k KnownJson) -> Reader<'k> {
        // Rules add far fewer levels of nesting than the other half of the limit.
        match self.deepest <= MAX_DEPTH / 2 {
            true => Reader::of_known(json),
            false => Reader::new(json.text()),
        }
    }

    /// Enters a pair of types; [`leave`](Self::leave) leaves it.
    ///
    /// # Errors
    /// When a value is nested too deep, or types contain themselves endlessly.
    pub(crate) fn enter(&mut self) -> Result<(), Unrepresentable> {
        if self.depth == MAX_PAIRS {
            let because = "the value is nested too deep";
            return Err(Unrepresentable::new(error_code::INVALID_PARAMS, because, AUTOMATIC));
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Records a loss of the current value.
    pub(crate) fn lose(&mut self, kind: LossKind, rule: &'static str) {
        self.lose_within(&[], kind, rule);
    }

    /// Records a loss of a member of the current value.
    pub(crate) fn lose_member(&mut self, member: &str, kind: LossKind, rule: &'static str) {
        self.lose_within(&[member], kind, rule);
    }

    /// Records a loss at a path inside the current value.
    pub(crate) fn lose_within(&mut self, path: &[&str], kind: LossKind, rule: &'static str) {
        let segments = path.iter().rev().map(|member| Segment::Member((*member).to_owned()));
        let path = segments.collect();
        self.losses.push(PendingLoss { path, kind, rule });
    }
}

/// A member or an element of the current value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'p> {
    Member(&'p str),
    Element(usize),
}

impl Part<'_> {
    pub(super) fn segment(self) -> Segment {
        match self {
            Self::Member(member) => Segment::Member(member.to_owned()),
            Self::Element(index) => Segment::Index(index),
        }
    }
}
