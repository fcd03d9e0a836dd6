//! What changed between two revisions, from their models, and what the adapters do about it.

mod adapters;
mod change;
mod facts;
mod methods;
mod pair;
mod place;
mod render;
mod types;

use crate::adapt::Plan;
use crate::model::ModelledRevision;

use self::adapters::Adapters;
pub use self::change::{Change, ChangeKind, Compatibility, Diff, Subject};
pub(crate) use methods::direction;
pub(crate) use pair::Pair;
pub(crate) use place::{name_of, way_to};
pub(crate) use render::deprecations;

/// Compares two revisions, by the plans of the conversions up and down between them.
pub(crate) fn diff(earlier: &ModelledRevision, later: &ModelledRevision, plans: &[Plan; 2], ruled: bool) -> Diff {
    let pair = Pair::new(&earlier.model, &later.model, &plans[0]);
    let mut changes = methods::changes(&pair);
    changes.extend(types::changes(&pair));
    changes.extend(methods::error_codes(&pair));
    changes.extend(facts::changes(earlier, later));
    let adapters = Adapters::new(plans);
    for change in &mut changes {
        adapters.describe(change);
    }
    changes.sort_by(|a, b| (a.subject, &a.name).cmp(&(b.subject, &b.name)));
    changes.dedup();
    Diff {
        from: earlier.model.revision.clone(),
        to: later.model.revision.clone(),
        ruled,
        summary: match ruled {
            true => later.model.summary.clone(),
            // It is about the revision before.
            false => Vec::new(),
        },
        changes,
        deprecated: later
            .model
            .deprecated
            .iter()
            .filter(|entry| entry.since == later.model.revision)
            .cloned()
            .collect(),
    }
}
