//! The plans between adjacent revisions.

use super::{Pairing, Plan, Rules, plan_conversions};
use crate::problem::{Problem, Problems};
use crate::protocol::{ModelledRevision, Protocol};

/// Plans the conversions between each two adjacent revisions.
///
/// A rule beside a draft that matches nothing, or decides what is automatic, is a warning, and is ignored: the draft may still change.
///
/// # Errors
/// Every rule that isn't one, matches nothing, or decides what is automatic.
pub(crate) fn plan_protocol(mut protocol: Protocol) -> Result<Protocol, Problems> {
    let mut problems = Vec::new();
    for later in 1..protocol.revisions.len() {
        let (before, after) = (&protocol.revisions[later - 1], &protocol.revisions[later]);
        let mut rules = Rules::of(after.rules.clone())?;
        let plans = loop {
            let (plans, found) = plan_pair(before, after, &rules);
            if before.entry.released && after.entry.released {
                problems.extend(found);
                break plans;
            }
            let ignores_more = rules.ignore(&found);
            protocol.warnings.extend(found);
            if !ignores_more {
                break plans;
            }
        };
        protocol.revisions[later].plans = plans.into();
    }
    Problems::check(problems)?;
    Ok(protocol)
}

/// Plans the conversions to a revision and back.
fn plan_pair(before: &ModelledRevision, after: &ModelledRevision, rules: &Rules) -> ([Plan; 2], Vec<Problem>) {
    let mut problems = Vec::new();
    let plans = [true, false].map(|upward| {
        let (from, to) = if upward { (before, after) } else { (after, before) };
        let (plan, found) = plan_conversions(Pairing {
            from: from.side(),
            to: to.side(),
            rules,
            rules_of: &after.model.revision,
            upward,
        });
        problems.extend(found);
        plan
    });
    (plans, problems)
}

impl Protocol {
    /// The plans between adjacent revisions: for each pair the way up, then the way down.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.revisions.iter().flat_map(|revision| &revision.plans)
    }
}
