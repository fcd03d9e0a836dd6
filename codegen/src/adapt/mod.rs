//! Plans the conversions between two models, and their losses.

mod arguments;
mod elements;
mod error_rules;
mod errors;
mod lossless;
mod matching;
mod members;
mod moves;
mod pairing;
mod path;
mod plan;
mod planner;
mod relation;
mod renamed;
mod report;
mod rows;
pub(crate) mod rules;
mod strings;
mod structs;
mod template_check;
mod variants;
mod walk;

pub(crate) use members::{NOTHING_SUPPLIES, OTHER_TYPE};
pub(crate) use path::{Step, steps, text};
pub(crate) use plan::{Plan, Plans};
pub(crate) use report::{Note, NoteKind, report};
pub(crate) use rules::{Rule, Rules};
pub(crate) use strings::UNDECLARED_VALUE;
pub(crate) use variants::{NO_VARIANT, name_in_place};
pub(crate) use walk::{PlannedPairs, plan_pair, plan_revisions, plan_without_wrong};
