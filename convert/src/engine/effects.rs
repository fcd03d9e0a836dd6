//! The parts of a type's values that the conversions of a chain look at. A value in which they have nothing to change
//! is kept as text across all revisions of the chain. [`effect_analysis`](super::effect_analysis) derives these parts
//! from the steps.

use std::collections::BTreeSet;

use mcp_wire::Schema;

use super::accepted::Accepted;
use super::members::is_empty_object;
use super::seen::Seen;
use super::step::{MemberPlan, ObjectPlan, Step};

/// The parts of a type's values that conversions look at.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Whether every value may be changed.
    pub(super) always: bool,
    /// Whether all members that the type doesn't declare are changed.
    pub(super) closed: bool,
    /// The changes to each declared member that is present.
    pub(super) members: Vec<MemberEffects>,
    /// The undeclared members that are changed if they are present.
    pub(super) others: Vec<&'static str>,
    /// The members that are added if they are absent, and their positions if the type declares them.
    pub(super) absent: Vec<(&'static str, Option<usize>)>,
    /// The steps that add them, and the plans. What they add depends only on which members are absent.
    pub(super) plans: Vec<(&'static Step, &'static ObjectPlan)>,
    /// For each variant of a union, whether its value may become one of another variant or an unknown one.
    pub(super) variants: Vec<bool>,
    /// Whether members don't suffice to choose the variant of a value: its schema has to accept the value too.
    pub(super) validates_variants: bool,
    /// For each variant of such a union, members of which each other variant requires one, in every revision in which
    /// the variant is chosen. They are of ASCII letters. `None` if another variant requires no such member.
    pub(super) others_require: Vec<Option<BTreeSet<&'static str>>>,
    /// A cache of the values that conversions keep as they are, if a member of the type is checked, which takes longer
    /// than comparing the whole value.
    pub(super) unchanged: Option<Accepted>,
}

/// The changes to a member, apart from the conversion of its value's type.
#[derive(Debug, Default)]
pub(super) struct MemberEffects {
    /// Whether it is changed.
    pub(super) changes: bool,
    /// Whether a value may be put into it.
    pub(super) fills: bool,
    /// Whether it is changed if it is an empty object.
    pub(super) changes_empty: bool,
    /// The value that an absent member implies. This value is removed, and any other is changed.
    pub(super) implied: Option<&'static str>,
    /// The plans that check it, with the schemas of their targets.
    pub(super) checks: Vec<(&'static MemberPlan, &'static Schema)>,
    /// Whether the type of its value has no name, so that no conversion looks into it.
    pub(super) is_basic: bool,
}

impl Effects {
    /// Returns the members that conversions add because an object lacks them, as the bits of their positions in
    /// `absent`.
    pub(super) fn lacking(&self, members: &Seen<'_>) -> u64 {
        let absent = self.absent.iter().enumerate();
        let lacking = absent.filter(|(_, (_, at))| !at.is_some_and(|at| members.has(at)));
        lacking.fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// Returns the names of these members.
    pub(super) fn lacked(&self, lacking: u64) -> impl Iterator<Item = &'static str> {
        let absent = self.absent.iter().enumerate();
        absent.filter_map(move |(index, (name, _))| (lacking >> index & 1 == 1).then_some(*name))
    }

    /// Whether a member that the type doesn't declare is changed.
    pub(super) fn changes_other(&self, name: &str) -> bool {
        self.closed || self.others.contains(&name)
    }

    /// Whether nothing but the declared member at a position is changed, apart from the conversion of the members'
    /// types.
    pub(super) fn changes_only(&self, at: usize) -> bool {
        let mut others = self.members.iter().enumerate().filter(|(index, _)| *index != at);
        let is_left = |member: &MemberEffects| !member.needs_tree() && !member.is_checked();
        !self.always
            && !self.closed
            && self.others.is_empty()
            && self.absent.is_empty()
            && others.all(|(_, member)| is_left(member))
    }

    /// Whether a value of a union's variant may become one of another variant or an unknown one.
    pub(super) fn changes_variant(&self, at: usize) -> bool {
        self.variants.get(at).is_none_or(|changes| *changes)
    }

    /// Whether the schema of its variant has to accept a value, because the value may be one of another variant.
    pub(super) fn validates(&self, at: usize, text: &str) -> bool {
        // Searching for the names is much faster than parsing the members. Letters can only be escaped by `\u`.
        let may_have =
            |members: &BTreeSet<&str>| text.contains("\\u") || members.iter().any(|member| text.contains(member));
        let others_require = self.others_require.get(at).and_then(Option::as_ref);
        self.validates_variants && others_require.is_none_or(may_have)
    }

    /// Whether the type is a union whose variants can be kept as text one by one, so that this isn't tried for the
    /// union too.
    pub(super) fn is_tagged_union(&self) -> bool {
        !self.variants.is_empty() && !self.validates_variants
    }
}

impl MemberEffects {
    /// Whether the member must be read as a tree.
    pub(super) fn needs_tree(&self) -> bool {
        self.changes || self.fills || self.changes_empty || self.implied.is_some()
    }

    /// Whether it is checked by the schema of a revision.
    pub(super) fn is_checked(&self) -> bool {
        !self.checks.is_empty()
    }

    /// Whether the only change to the member is that the implied value is removed.
    pub(super) fn is_only_implied(&self) -> bool {
        !(self.changes || self.fills || self.changes_empty || self.is_checked())
    }

    /// Whether a value stays as it is, apart from the conversion of its type.
    pub(super) fn accepts(&self, value: &str) -> bool {
        let is_changed = self.changes_empty && is_empty_object(value);
        !is_changed && self.checks.iter().all(|(plan, schema)| plan.accepts(value, schema))
    }
}
