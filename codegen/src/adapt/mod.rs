//! Two models in, the planned conversions between them and their losses out.

mod accepts;
mod arguments;
mod error_rules;
mod errors;
mod faults;
mod lossless;
mod matching;
mod members;
mod moved;
mod object;
mod plan;
mod planner;
mod relation;
mod renamed;
mod report;
mod revisions;
pub mod rules;
mod side;
mod structs;
mod template_check;
mod variants;

pub use errors::ErrorPlan;
pub(crate) use matching::candidates;
pub use object::{
    Check, ConstantPlan, ConstantSource, DefaultPlan, EnsurePlan, MemberConversion, MemberPlan, StructPlan,
    UndeclaredAction, UndeclaredMember, ValuePlan,
};
pub use plan::{Plan, plan_conversions};
pub use planner::{PairInput, PlanKind};
pub use report::{Note, NoteKind, report};
pub use revisions::{PlannedRevision, plan_protocol};
pub use rules::{Action, Rules};
pub use side::Side;

use crate::model::TypeRef;

/// What becomes of a variant of a union, or of a value that is in no union.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantPlan {
    /// The variant of the source; `None` where the source isn't a union.
    pub variant: Option<String>,
    /// What it holds.
    pub from: TypeRef,
    /// Whether the source holds it behind a pointer.
    pub boxed: bool,
    /// What becomes of it.
    pub how: VariantConversion,
}

/// What becomes of a variant.
#[derive(Debug, Clone, PartialEq)]
pub enum VariantConversion {
    /// It is converted, and held by this variant of the target; `None` where the target isn't a union.
    Converted {
        /// The variant of the target.
        variant: Option<String>,
        /// Whether the target holds it behind a pointer.
        boxed: bool,
        /// Whether it is the same type, which is moved as it is.
        moved: bool,
    },
    /// This JSON is in its place.
    Replaced {
        /// The JSON, with placeholders.
        template: String,
        /// The rule.
        rule: String,
    },
    /// The target has nothing that corresponds.
    NoCounterpart {
        /// What the variant is called.
        name: String,
    },
    /// A rule refuses it.
    Refused(Refusal),
}

/// Why a value can't be represented.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The JSON-RPC error code.
    pub code: i64,
    /// What the peer is told.
    pub because: String,
    /// The rule, or that there is none.
    pub rule: String,
}

impl Refusal {
    /// What the schemas alone refuse, with JSON-RPC's "invalid params".
    fn automatic(because: String) -> Self {
        Self {
            code: -32602,
            because,
            rule: AUTOMATIC.to_owned(),
        }
    }
}

/// What automatic losses name as their rule.
pub const AUTOMATIC: &str = "automatic";
