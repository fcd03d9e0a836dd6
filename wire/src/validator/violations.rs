//! What comes of a validation: a verdict alone, or every violation up to a limit.

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
    fn refuse(&mut self, explain: impl FnOnce(&mut Violations) -> Flow) -> Flow;
}

/// Ends with the first refusal, and doesn't ask why.
pub(super) struct Silent;

impl Sink for Silent {
    fn refuse(&mut self, _explain: impl FnOnce(&mut Violations) -> Flow) -> Flow {
        Flow::Break(())
    }
}

/// Gathers violations up to [`Violations::LIMIT`].
#[derive(Default)]
pub(super) struct Violations {
    pub(super) list: Vec<Violation>,
}

impl Violations {
    /// Keeps a hostile value from filling the memory with its faults.
    pub(super) const LIMIT: usize = 100;

    pub(super) fn push(&mut self, violation: Violation) -> Flow {
        self.list.push(violation);
        if self.list.len() < Self::LIMIT {
            Flow::Continue(())
        } else {
            Flow::Break(())
        }
    }
}

impl Sink for Violations {
    fn refuse(&mut self, explain: impl FnOnce(&mut Violations) -> Flow) -> Flow {
        explain(self)
    }
}

/// Where a value is, linked to where the value around it is, so that it costs nothing unless there is a violation.
#[derive(Clone, Copy)]
pub(super) enum Location<'p> {
    Root,
    Member(&'p Location<'p>, &'p str),
    Element(&'p Location<'p>, usize),
}

impl Location<'_> {
    pub(super) fn to_path(self) -> Path {
        let mut segments = Vec::new();
        let mut location = self;
        loop {
            location = match location {
                Location::Root => return Path::from_reversed(segments),
                Location::Member(outer, name) => {
                    segments.push(Segment::shortened(name));
                    *outer
                }
                Location::Element(outer, index) => {
                    segments.push(Segment::Index(index));
                    *outer
                }
            };
        }
    }
}
