//! The result of a validation: whether the value is valid, or a list of violations.

use std::ops::ControlFlow;

use crate::path::{Path, Segment};

use super::violation::Violation;

/// The control flow of a validation, which ends as soon as its result is known.
pub(super) type Flow = ControlFlow<()>;

/// The value is valid so far.
pub(super) const FINE: Flow = Flow::Continue(());

/// Receives violations.
pub(super) trait Sink {
    /// Records that the value is invalid. `explain` adds the reasons, and is called only if they are needed.
    fn refuse(&mut self, explain: impl FnOnce(&mut Violations) -> Flow) -> Flow;
}

/// A sink that ends the validation with the first violation, without its reason.
pub(super) struct Silent;

impl Sink for Silent {
    fn refuse(&mut self, _explain: impl FnOnce(&mut Violations) -> Flow) -> Flow {
        Flow::Break(())
    }
}

/// A sink that collects violations up to [`Violations::LIMIT`].
#[derive(Default)]
pub(super) struct Violations {
    pub(super) list: Vec<Violation>,
}

impl Violations {
    /// Bounds the memory that the violations of a hostile value take.
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

/// The location of a value, linked to that of the value around it. The path is built only for a violation.
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
