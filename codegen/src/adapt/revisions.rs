//! The plans between adjacent revisions.

use serde_json::Value;

use super::{PairInput, Plan, Rules, Side, plan_conversions};
use crate::facts::Facts;
use crate::load::Entry;
use crate::model::{Model, ModelledRevision};
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;

/// A revision with the conversions between it and the one before it.
#[derive(Debug)]
pub struct PlannedRevision {
    /// What the manifest says of the revision.
    pub entry: Entry,
    /// The model.
    pub model: Model,
    /// The schema that the validator keeps.
    pub schema: Value,
    /// What the schema can't say about the revision as a whole.
    pub facts: Facts,
    /// The rules between the revision and the one before it.
    pub rules: Rules,
    /// The plan from the revision before, then the plan back to it; none for the first revision.
    pub plans: Vec<Plan>,
}

/// Plans the conversions between each two adjacent revisions.
///
/// A rule beside a draft that matches nothing, or decides what is automatic, is a warning, and is ignored: the draft may still change.
///
/// # Errors
/// Every rule that isn't one, matches nothing, or decides what is automatic.
pub fn plan_protocol(protocol: Protocol<ModelledRevision>) -> Result<Protocol<PlannedRevision>, Problems> {
    let mut planned = protocol.try_map(|revision| {
        Ok(PlannedRevision {
            rules: Rules::of(revision.rules)?,
            entry: revision.entry,
            model: revision.model,
            schema: revision.schema,
            facts: revision.facts,
            plans: Vec::new(),
        })
    })?;
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    for later in 1..planned.revisions.len() {
        let (before, after) = (&planned.revisions[later - 1], &planned.revisions[later]);
        let mut rules = after.rules.clone();
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
        planned.revisions[later].rules = rules;
        planned.revisions[later].plans = plans.into();
    }
    Problems::check(problems)?;
    planned.warnings.extend(warnings);
    Ok(planned)
}

/// Plans the conversions to a revision and back.
fn plan_pair(before: &PlannedRevision, after: &PlannedRevision, rules: &Rules) -> ([Plan; 2], Vec<Problem>) {
    let mut problems = Vec::new();
    let plans = [true, false].map(|upward| {
        let (from, to) = if upward { (before, after) } else { (after, before) };
        let (plan, found) = plan_conversions(PairInput {
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

impl PlannedRevision {
    fn side(&self) -> Side<'_> {
        Side {
            model: &self.model,
            schema: &self.schema,
        }
    }
}

impl Protocol<PlannedRevision> {
    /// The plans between adjacent revisions: for each pair the way up, then the way down.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.revisions.iter().flat_map(|revision| &revision.plans)
    }
}
