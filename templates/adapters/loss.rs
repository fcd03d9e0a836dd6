//! What is lost on the way from one revision to another.

use std::fmt;

use mcp_wire::Path;
use mcp_wire::path::Segment;

/// Something that was in the source and isn't in the target, or the other way round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where in the source value.
    pub path: Path,
    /// What happened.
    pub kind: LossKind,
    /// What did it: the revision and place of a rule in `schema/<revision>/adapt.yaml`, or `automatic`.
    pub rule: &'static str,
}

/// What happened to a value that couldn't be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossKind {
    /// It was left out.
    Dropped,
    /// Something else stands in its place.
    Replaced,
    /// Less of it is there.
    Narrowed,
    /// The source had none, and the target has one.
    Defaulted,
}

/// A loss whose path is still being put together, from the inside outwards.
#[derive(Debug)]
pub(crate) struct Reversed {
    pub(crate) path: Vec<Segment>,
    pub(crate) kind: LossKind,
    pub(crate) rule: &'static str,
}

/// Leaves out what one step of a chain put in and a later one took out again.
pub(crate) fn without_detours(mut losses: Vec<Loss>) -> Vec<Loss> {
    let mut at = 0;
    while at < losses.len() {
        if losses[at].kind == LossKind::Defaulted {
            let made = losses[at].path.segments();
            let later = &losses[at + 1..];
            let dropped = later
                .iter()
                .position(|loss| loss.kind == LossKind::Dropped && made.starts_with(loss.path.segments()));
            if let Some(dropped) = dropped.map(|dropped| at + 1 + dropped) {
                if losses[dropped].path == losses[at].path {
                    losses.remove(dropped);
                }
                losses.remove(at);
                continue;
            }
        }
        at += 1;
    }
    losses
}

impl LossKind {
    /// The kind as reports name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Replaced => "replaced",
            Self::Narrowed => "narrowed",
            Self::Defaulted => "defaulted",
        }
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {} ({})", self.path, self.kind, self.rule)
    }
}
