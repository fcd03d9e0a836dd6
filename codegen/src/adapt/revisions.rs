//! The plans between adjacent revisions.

use super::{Pairing, Plan, Rules, Side, plan_conversions};
use crate::model::ModelledRevision;
use crate::problem::{Problem, Problems};

/// Plans the conversions between each two adjacent revisions: those to the later one, and those back.
///
/// A rule beside a draft that matches nothing, or decides what is automatic, is a warning, and is ignored: the draft may still change.
///
/// # Errors
/// Every rule that isn't one, matches nothing, or decides what is automatic.
pub(crate) fn plan_revisions(revisions: &[ModelledRevision]) -> Result<(Vec<[Plan; 2]>, Vec<Problem>), Problems> {
    let (mut planned, mut warnings, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (before, after) in revisions.iter().zip(revisions.iter().skip(1)) {
        let mut rules = Rules::of(after.rules.clone())?;
        let plans = loop {
            let (plans, found) = plan_pair(before, after, &rules);
            if before.entry.released && after.entry.released {
                problems.extend(found);
                break plans;
            }
            let ignores_more = rules.ignore(&found);
            warnings.extend(found);
            if !ignores_more {
                break plans;
            }
        };
        planned.push(plans);
    }
    Problems::check(problems)?;
    Ok((planned, warnings))
}

/// Plans the conversions to a revision and back.
fn plan_pair(before: &ModelledRevision, after: &ModelledRevision, rules: &Rules) -> ([Plan; 2], Vec<Problem>) {
    let mut problems = Vec::new();
    let plans = [true, false].map(|upward| {
        let (from, to) = if upward { (before, after) } else { (after, before) };
        let (plan, found) = plan_conversions(Pairing {
            from: Side::of(from),
            to: Side::of(to),
            rules,
            rules_of: &after.model.revision,
            upward,
        });
        problems.extend(found);
        plan
    });
    (plans, problems)
}
