//! The losses of conversions.

use std::collections::HashMap;
use std::fmt;

use mcp_wire::Path;
use mcp_wire::path::Segment;

/// The `rule` of losses and refusals that no written rule causes.
pub const AUTOMATIC: &str = "automatic";

/// A difference between the source and the target of a conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The path in the source value. In a chain of conversions it is the path in the source of the step that caused the
    /// loss, whose lists can be shorter or longer than in the original value, or take the place of a value. An added
    /// value has the name of the target.
    pub path: Path,
    /// The kind.
    pub kind: LossKind,
    /// The cause: the revision and place of a rule in `schema/<revision>/adapt.yaml`, or `automatic`.
    pub rule: &'static str,
}

/// The kinds of losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossKind {
    /// The value was left out.
    Dropped,
    /// The value was replaced by another one.
    Replaced,
    /// The value was shortened.
    Narrowed,
    /// The value was added to the target.
    Defaulted,
}

/// A loss whose path is still being built, the innermost segment first.
#[derive(Debug, Clone)]
pub(crate) struct PendingLoss {
    pub(crate) path: Vec<Segment>,
    pub(crate) kind: LossKind,
    pub(crate) rule: &'static str,
}

/// Completes the paths of losses, and removes losses that cancel each other out.
pub(crate) fn finished(losses: Vec<PendingLoss>) -> Vec<Loss> {
    let finished = losses.into_iter().map(|loss| Loss {
        path: Path::from_reversed(loss.path),
        kind: loss.kind,
        rule: loss.rule,
    });
    without_detours(finished.collect())
}

/// Removes the losses of values that one step of a chain added and a later step dropped.
pub(crate) fn without_detours(losses: Vec<Loss>) -> Vec<Loss> {
    let added = |loss: &&Loss| loss.kind == LossKind::Defaulted;
    let Some(deepest) = losses.iter().filter(added).map(|loss| loss.path.segments().len()).max() else {
        return losses;
    };
    // Only drops at or above the path of an added value matter. Where there are many losses, most are deeper.
    let mut dropped: HashMap<&[Segment], Vec<usize>> = HashMap::new();
    for (at, loss) in losses.iter().enumerate() {
        if loss.kind == LossKind::Dropped && loss.path.segments().len() <= deepest {
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
            // If the paths differ, the dropped value had more in it than the added one.
            detours[place] |= depth == path.len();
        }
    }
    let mut detours = detours.into_iter();
    let mut kept = losses;
    kept.retain(|_| !detours.next().unwrap_or(false));
    kept
}

impl LossKind {
    /// Returns the name of the kind in reports.
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
