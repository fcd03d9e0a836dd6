//! What the conversions of a chain look at in the values of a type. A value in which they find nothing to do is kept as text, however
//! many revisions it passes. [`looker`](super::looker) finds it out.

use mcp_wire::Schema;

use super::members::is_empty_object;
use super::seen::Seen;
use super::step::{MemberPlan, ObjectPlan, Step};

/// What is looked at in the values of a type.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Whether each value is changed.
    pub(super) always: bool,
    /// Whether members are that the type doesn't declare.
    pub(super) closed: bool,
    /// What is done to each declared member that is present.
    pub(super) members: Vec<Glance>,
    /// The other members that are changed where they are present.
    pub(super) others: Vec<&'static str>,
    /// The members that are added where they are absent, and their positions if the type declares them.
    pub(super) absent: Vec<(&'static str, Option<usize>)>,
    /// The steps that add them. What they add depends on nothing but which of them are absent.
    pub(super) plans: Vec<(&'static Step, &'static ObjectPlan)>,
    /// Whether the value of each variant of a union may become one of another type.
    pub(super) variants: Vec<bool>,
    /// Whether a value is the variant that its members say only if the schema of that variant accepts it.
    pub(super) validates_variants: bool,
}

/// What is done to a member, besides what the type of its value says.
#[derive(Debug, Default)]
pub(super) struct Glance {
    /// Whether it is changed.
    pub(super) changes: bool,
    /// Whether something may be put into it.
    pub(super) fills: bool,
    /// Whether it is changed if it is an empty object.
    pub(super) changes_empty: bool,
    /// The value that is implied where the member is absent. It is removed, and another one changed.
    pub(super) implied: Option<&'static str>,
    /// What it is checked by.
    pub(super) checks: Vec<(&'static MemberPlan, &'static Schema)>,
    /// Whether the type of its value has no name, so that nothing looks into it.
    pub(super) is_basic: bool,
}

impl Look {
    /// The members that an object lacks and conversions add, as the bits of their positions.
    pub(super) fn lacking(&self, members: &Seen<'_>) -> u64 {
        let absent = self.absent.iter().enumerate();
        let lacking = absent.filter(|(_, (_, at))| !at.is_some_and(|at| members.has(at)));
        lacking.fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// The names of these members.
    pub(super) fn lacked(&self, lacking: u64) -> impl Iterator<Item = &'static str> {
        let absent = self.absent.iter().enumerate();
        absent.filter_map(move |(index, (name, _))| (lacking >> index & 1 == 1).then_some(*name))
    }

    /// What is done to the declared member at this position.
    pub(super) fn member(&self, at: usize) -> Option<&Glance> {
        self.members.get(at)
    }

    /// Whether a member is changed that the type doesn't declare.
    pub(super) fn changes_other(&self, name: &str) -> bool {
        self.closed || self.others.contains(&name)
    }

    /// Whether a variant of a union may become one of another type, or not be known.
    pub(super) fn changes_variant(&self, at: usize) -> bool {
        self.variants.get(at).is_none_or(|changes| *changes)
    }

    /// Whether the type is a union whose variants can be kept one by one, so that it isn't tried for the union too.
    pub(super) fn is_tagged_union(&self) -> bool {
        !self.variants.is_empty() && !self.validates_variants
    }
}

impl Glance {
    /// Whether the member must be read as a tree.
    pub(super) fn needs_tree(&self) -> bool {
        self.changes || self.fills || self.changes_empty || self.implied.is_some()
    }

    /// Whether it is checked by the schema of a revision.
    pub(super) fn is_checked(&self) -> bool {
        !self.checks.is_empty()
    }

    /// Whether nothing is done to the member but to remove the implied value.
    pub(super) fn is_only_implied(&self) -> bool {
        !(self.changes || self.fills || self.changes_empty || self.is_checked())
    }

    /// Whether a value stays as it is, besides what its type says.
    pub(super) fn accepts(&self, value: &str) -> bool {
        let is_changed = self.changes_empty && is_empty_object(value);
        !is_changed && self.checks.iter().all(|(plan, schema)| plan.accepts(value, schema))
    }
}
