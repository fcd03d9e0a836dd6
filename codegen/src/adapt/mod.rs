//! Two models in, the planned conversions between them and their losses out.

mod accepts;
mod arguments;
mod error_rules;
mod errors;
mod lossless;
mod matching;
mod members;
mod moved;
mod pairing;
mod plan;
mod planner;
mod relation;
mod renamed;
mod report;
mod revisions;
mod rows;
pub(crate) mod rules;
mod side;
mod structs;
mod template_check;
mod variants;

pub(crate) use pairing::Pairing;
pub(crate) use plan::{Plan, plan_conversions};
pub(crate) use report::{Note, NoteKind, report};
pub(crate) use revisions::plan_revisions;
pub(crate) use rows::Row;
pub(crate) use rules::Rules;
pub(crate) use side::Side;
