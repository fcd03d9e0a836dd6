//! What comes of judging: a verdict alone, or every violation up to a limit.

use std::ops::ControlFlow;

use crate::path::{Path, Segment};

use super::violation::Violation;

/// Breaks off as soon as nothing more is to be learnt.
pub(super) type Flow = ControlFlow<()>;

/// Nothing was refused.
pub(super) const FINE: Flow = Flow::Continue(());

/// Takes note of refusals.
pub(super) trait Sink {
    /// Takes note that the value is refused; `explain` says why, and is only called if that matters.
    fn refuse(&mut self, explain: impl FnOnce(&mut Findings) -> Flow) -> Flow;
}

/// Ends with the first refusal, and doesn't ask why.
pub(super) struct Silent;

impl Sink for Silent {
    fn refuse(&mut self, _explain: impl FnOnce(&mut Findings) -> Flow) -> Flow {
        Flow::Break(())
    }
}

/// Gathers violations up to [`Findings::LIMIT`].
#[derive(Default)]
pub(super) struct Findings {
    pub(super) violations: Vec<Violation>,
}

impl Findings {
    /// Keeps a hostile value from filling the memory with its faults.
    pub(super) const LIMIT: usize = 100;

    pub(super) fn push(&mut self, violation: Violation) -> Flow {
        self.violations.push(violation);
        if self.violations.len() < Self::LIMIT {
            Flow::Continue(())
        } else {
            Flow::Break(())
        }
    }
}

impl Sink for Findings {
    fn refuse(&mut self, explain: impl FnOnce(&mut Findings) -> Flow) -> Flow {
        explain(self)
    }
}

/// A place in the value, linked to the places around it, so that it costs nothing unless a violation is found there.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Root,
    Member(&'p Place<'p>, &'p str),
    Element(&'p Place<'p>, usize),
}

impl Place<'_> {
    pub(super) fn to_path(self) -> Path {
        let mut segments = Vec::new();
        let mut place = self;
        loop {
            place = match place {
                Place::Root => return Path::from_reversed(segments),
                Place::Member(outer, name) => {
                    segments.push(Segment::shortened(name));
                    *outer
                }
                Place::Element(outer, index) => {
                    segments.push(Segment::Index(index));
                    *outer
                }
            };
        }
    }
}
