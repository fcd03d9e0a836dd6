//! The limits of one validation: its steps, and its levels of nested schemas and values.

use std::cell::{Cell, OnceCell};

use super::context::Context;
use super::violation::{Violation, ViolationKind};
use super::violations::{FINE, Flow};

/// The maximum number of steps of a validation. A step is the application of a rule to a value, or an equal amount of
/// work inside a rule.
///
/// Validating a list of two million numbers by a schema of any JSON value takes some 20 million. All steps take at most
/// a second.
pub(super) const MAX_STEPS: u64 = 50_000_000;

/// The maximum number of schemas that are applied within each other, which bounds the stack.
pub(super) const MAX_LEVELS: usize = 1024;

/// The maximum number of steps that look for the best explanation of violations.
const MAX_EXPLANATION: u64 = 1_000_000;

/// The remaining steps and levels of a validation.
pub(super) struct Budget {
    steps: Cell<u64>,
    levels: Cell<usize>,
    explanation: Cell<u64>,
    exceeded: OnceCell<Violation>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            steps: Cell::new(MAX_STEPS),
            levels: Cell::new(MAX_LEVELS),
            explanation: Cell::new(MAX_EXPLANATION),
            exceeded: OnceCell::new(),
        }
    }

    /// Spends steps. Once they are used up, every call ends the validation, and its verdict is ignored.
    pub(super) fn spend(&self, steps: u64, context: Context<'_>) -> Flow {
        match self.steps.get().checked_sub(steps) {
            Some(left) => {
                self.steps.set(left);
                FINE
            }
            None => self.exceed(context, || {
                format!("a value that can be validated in {MAX_STEPS} steps")
            }),
        }
    }

    /// Takes a level until the result is dropped.
    pub(super) fn descend(&self, context: Context<'_>) -> Option<Level<'_>> {
        let level = self.level();
        if level.is_none() {
            let _ = self.exceed(context, || {
                format!("a value that can be validated by at most {MAX_LEVELS} schemas within each other")
            });
        }
        level
    }

    /// Takes a level, and spends steps of an explanation. `None` if they are used up, and from then on.
    pub(super) fn explain(&self, steps: usize) -> Option<Level<'_>> {
        let left = self.explanation.get().checked_sub(steps as u64);
        let level = left.and_then(|_| self.level());
        self.explanation.set(level.as_ref().and(left).unwrap_or(0));
        level
    }

    /// Returns the violation of a validation that couldn't be finished.
    pub(super) fn into_exceeded(self) -> Option<Violation> {
        self.exceeded.into_inner()
    }

    fn level(&self) -> Option<Level<'_>> {
        self.levels.set(self.levels.get().checked_sub(1)?);
        Some(Level(&self.levels))
    }

    #[cold]
    fn exceed(&self, context: Context<'_>, expected: impl FnOnce() -> String) -> Flow {
        self.steps.set(0);
        self.exceeded.get_or_init(|| Violation {
            kind: ViolationKind::Unfinished,
            path: context.location.to_path(),
            expected: expected(),
            found: "one that takes more".to_owned(),
            schema: context.node.at.clone(),
        });
        Flow::Break(())
    }
}

/// A level of nested schemas, which is released when this is dropped.
pub(super) struct Level<'b>(&'b Cell<usize>);

impl Drop for Level<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}
