//! Plans the conversions between two models, and their losses.

mod arguments;
mod errors;
mod lossless;
mod matching;
mod members;
mod pairing;
mod plan;
mod planner;
mod relation;
mod renamed;
mod report;
mod rows;
pub(crate) mod rules;
mod structs;
mod template_check;
mod variants;

pub(crate) use plan::{Plan, PlannedPairs, Plans, plan_pair, plan_revisions};
pub(crate) use report::{Note, NoteKind, report};
pub(crate) use rules::Rules;
