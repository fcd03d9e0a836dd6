//! What is lost on the way from one revision to another.

use std::collections::HashMap;
use std::fmt;

use mcp_wire::Path;
use mcp_wire::path::Segment;

/// What automatic losses and refusals name as their rule.
pub const AUTOMATIC: &str = "automatic";

/// Something that was in the source and isn't in the target, or the other way round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where in the source value. In a chain it is the value that the step began with, whose lists may have become shorter or
    /// longer by then.
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
pub(crate) fn without_detours(losses: Vec<Loss>) -> Vec<Loss> {
    if !losses.iter().any(|loss| loss.kind == LossKind::Defaulted) {
        return losses;
    }
    let mut dropped: HashMap<&[Segment], Vec<usize>> = HashMap::new();
    for (at, loss) in losses.iter().enumerate() {
        if loss.kind == LossKind::Dropped {
            dropped.entry(loss.path.segments()).or_default().push(at);
        }
    }
    let mut detours = vec![false; losses.len()];
    for (at, made) in losses.iter().enumerate() {
        if made.kind != LossKind::Defaulted {
            continue;
        }
        let path = made.path.segments();
        let taken_out = (0..=path.len()).find_map(|depth| {
            let places = dropped.get(&path[..depth])?;
            let later = places.partition_point(|place| *place < at);
            places.get(later).map(|place| (depth, *place))
        });
        if let Some((depth, place)) = taken_out {
            detours[at] = true;
            // What was dropped had more in it than what was made, unless it is the same.
            detours[place] |= depth == path.len();
        }
    }
    let mut detours = detours.into_iter();
    let mut kept = losses;
    kept.retain(|_| !detours.next().unwrap_or(false));
    kept
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
