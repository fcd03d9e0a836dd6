//! The conversions between two neighbouring revisions, as they follow from the two tables.

use rustc_hash::FxHashMap;

use super::accepted::Accepted;
use crate::loss::AUTOMATIC;
use crate::tables::named::Named;
use crate::tables::rows::{
    Check, Condition, DefaultRow, Enclosing, Ensure, Join, LeftAction, LeftRow, NewString, PathStep, Refusal, Without,
};
use crate::tables::types::{Kind, TypeId, TypeRef};
use crate::tables::{Role, Table};

/// The position of a pair of types in its step. Pairs are never removed.
pub(crate) type PairId = usize;

/// The conversions from one revision to a neighbouring one.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) from: &'static Table,
    pub(crate) to: &'static Table,
    pub(crate) pairs: Vec<Pair>,
    pub(super) index: FxHashMap<(TypeRef, TypeRef), PairId>,
    pub(super) definitions: Named<Option<&'static str>>,
    pub(super) methods: Named<&'static str>,
    pub(super) client_results: Option<ResultsPlan>,
    pub(super) server_results: Option<ResultsPlan>,
}

/// A pair of types, and the conversion of values from one to the other.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) source: TypeRef,
    pub(crate) target: TypeRef,
    pub(crate) how: How,
    /// The schema of the target, if it is stricter than its types.
    pub(crate) narrower: Option<Narrower>,
    /// Whether every value stays as it is.
    pub(crate) keeps: bool,
}

/// A schema by which values are validated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Narrower {
    pub(crate) pointer: &'static str,
    /// Whether it is the schema of a message, which doesn't describe the envelope.
    pub(crate) is_message: bool,
}

#[derive(Debug)]
pub(crate) enum How {
    Object(ObjectPlan),
    Union(UnionPlan),
    Strings(StringsPlan),
    Methods(MethodsPlan),
}

/// The conversions of the results of a role. A union of results can also be the type of a value, and is converted as a
/// union there.
#[derive(Debug)]
pub(crate) struct ResultsPlan {
    /// Each result, and the result that it becomes, with the change.
    pub(crate) results: Vec<(TypeRef, Option<(TypeRef, Change)>)>,
    /// Whether the target accepts results of kinds that it doesn't declare.
    pub(crate) holds_unknown: bool,
}

/// The conversion of a value from one type to another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    Keep,
    List(Box<Change>),
    Map(Box<Change>),
    /// `null` stays.
    Nullable(Box<Change>),
    /// `null` is refused.
    NotNull(Box<Change>),
    Pair(PairId),
    /// Only an integer of 64 bits passes.
    Integer,
    /// Only an object passes.
    Object,
    /// A value that is open in the source is read as the type of the target, and validated.
    Close(TypeRef),
    /// A value becomes open JSON, which the target describes only by the schema of this definition.
    Open(TypeId),
}

#[derive(Debug, Default)]
pub(crate) struct ObjectPlan {
    /// A required member that is always refused.
    pub(crate) refused: Option<(&'static str, Refusal)>,
    pub(crate) constants: Vec<ConstantPlan>,
    pub(crate) members: Vec<MemberPlan>,
    pub(crate) left: Vec<LeftPlan>,
    /// The values that have another place in the target.
    pub(crate) moves: Vec<MovesPlan>,
    /// If the target's type is closed, the undeclared members that aren't dropped: constants, because a value that was
    /// carried in place of one is undeclared, and the envelope of a message.
    pub(crate) closed: Option<Vec<&'static str>>,
}

/// A constant of the target that the source doesn't always have.
#[derive(Debug)]
pub(crate) struct ConstantPlan {
    pub(crate) name: &'static str,
    pub(crate) json: &'static str,
    pub(crate) required: bool,
    pub(crate) source: ConstantSource,
}

#[derive(Debug, PartialEq)]
pub(crate) enum ConstantSource {
    /// The same constant, or another one that means the same.
    Same,
    Other,
    /// A member with any value. If it has a tag, only this value means the same as the constant.
    Member(Option<&'static str>),
    Undeclared,
}

/// A member of the target that isn't the same in the source.
#[derive(Debug)]
pub(crate) struct MemberPlan {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) source: MemberSource,
    pub(crate) default: Option<DefaultRow>,
    pub(crate) check: Option<Check>,
    pub(crate) declared: Vec<(&'static str, &'static str)>,
    /// Whether it can be absent in the source, but not in the target.
    pub(crate) lacks: bool,
    /// Whether the source always has it, so that the only meaning of `null` is that it is absent.
    pub(crate) null_is_absence: bool,
    /// A cache of the values that need no change by `check` and `declared`.
    pub(super) accepted: Accepted,
}

#[derive(Debug)]
pub(crate) enum MemberSource {
    /// The member of the source with this name.
    Shared(&'static str, MemberChange),
    Adopted(Adopted),
}

/// An undeclared member of the source, or a constant, that becomes a declared member of the target.
#[derive(Debug)]
pub(crate) struct Adopted {
    pub(crate) constant: Option<&'static str>,
    pub(crate) ty: TypeRef,
    pub(crate) pointer: Option<&'static str>,
    /// The key of the supply's value for an absent member.
    pub(crate) supplied: Option<&'static str>,
    /// Whether values are moved into elements of lists in it, also if it is undeclared.
    pub(crate) is_filled: bool,
    /// A cache of valid values.
    pub(super) accepted: Accepted,
}

#[derive(Debug)]
pub(crate) enum MemberChange {
    Plain(Change),
    /// The name of a revision, or a tag, becomes another one. Other values are converted by `change`.
    Text {
        from: &'static str,
        to: &'static str,
        change: Change,
    },
    Variants(UnionPlan),
    Fill(Change),
    Empty(Change),
    /// The value becomes the only element of a list.
    Wrap(ValuePlan),
    /// The only element of a list becomes the value.
    Unwrap(ValuePlan),
    /// Each element of a list, or value of a map, becomes a member of an object.
    Enclose(EnclosedPlan),
    /// A member of each element of a list takes its place.
    Extract(EnclosedPlan),
    Ensure(Change, EnsurePlan),
    Omit {
        entry: Change,
        unless: &'static str,
        rule: &'static str,
    },
    Hide {
        element: Change,
        when: Vec<Condition>,
        rule: &'static str,
    },
    /// Each element is split by its member, a list of parts.
    Split {
        element: Change,
        member: &'static str,
        rule: &'static str,
    },
    Join(JoinPlan),
    Without(Without),
    Drop {
        rule: &'static str,
    },
    Refuse(Refusal),
}

/// A member of the source that the target doesn't declare.
#[derive(Debug)]
pub(crate) struct LeftPlan {
    pub(crate) name: &'static str,
    /// Whether its value is constant.
    pub(crate) constant: bool,
    pub(crate) row: LeftRow,
    pub(crate) ensure: Option<EnsurePlan>,
}

/// A member of the source with values that have another place in the target.
#[derive(Debug)]
pub(crate) struct MovesPlan {
    pub(crate) name: &'static str,
    /// Whether its value is constant.
    pub(crate) constant: bool,
    /// Whether the rest of it becomes a member of the target, and that one is required.
    pub(crate) rest: Option<Required>,
    pub(crate) moves: Vec<MovePlan>,
}

/// Whether a member is required.
pub(crate) type Required = bool;

#[derive(Debug)]
pub(crate) struct MovePlan {
    /// The path in the source, which begins with the member.
    pub(crate) from: Vec<PathStep>,
    /// The path in the target.
    pub(crate) to: Vec<PathStep>,
    pub(crate) value: ValuePlan,
    /// Whether the path in the target leads into an optional member of the source. The conversion back drops it if
    /// nothing else is in it.
    pub(crate) fills: bool,
}

/// The conversion of a value that has another place in the target, or is in a list there, or no longer.
#[derive(Debug)]
pub(crate) struct ValuePlan {
    pub(crate) change: Change,
    /// Whether `null` is a value there.
    pub(crate) holds_null: bool,
}

/// The conversion between the elements of a list, or the values of a map, and members of objects.
#[derive(Debug)]
pub(crate) struct EnclosedPlan {
    pub(crate) row: Enclosing,
    /// Whether the source has a map, and whether the target has one.
    pub(crate) are_maps: [bool; 2],
    pub(crate) change: Change,
    /// The required constants of the objects, and their JSON.
    pub(crate) constants: Vec<(&'static str, &'static str)>,
    /// The number of bytes that an object needs besides the values of its members.
    pub(crate) added: usize,
}

/// An element that a list of the target must have, and the type of its elements.
#[derive(Debug)]
pub(crate) struct EnsurePlan {
    pub(crate) row: Ensure,
    pub(crate) element: TypeRef,
}

/// The conversion of a list to one element.
#[derive(Debug)]
pub(crate) struct JoinPlan {
    pub(crate) row: Join,
    /// The change of an element to the target's type.
    pub(crate) change: Change,
    pub(crate) target: TypeRef,
}

#[derive(Debug)]
pub(crate) struct UnionPlan {
    pub(crate) source: TypeRef,
    pub(crate) target: TypeRef,
    /// Each variant of the source.
    pub(crate) variants: Vec<VariantPlan>,
    /// Whether the target accepts objects of variants that it doesn't declare.
    pub(crate) holds_unknown: bool,
    /// Whether the target distinguishes its variants by a tag, and the source doesn't. A value may then have the tag of no
    /// variant of the target, or of another one.
    pub(crate) gains_tag: bool,
}

#[derive(Debug)]
pub(crate) enum VariantPlan {
    /// The value becomes one of the variant of the target at this position.
    Becomes(usize, Change),
    /// The value becomes the variant that its tag decides, or its members, or else what the last plan says.
    OneOf(Vec<VariantPlan>),
    Replace {
        template: &'static str,
        rule: &'static str,
    },
    Refuse(Refusal),
    None(&'static str),
}

#[derive(Debug)]
pub(crate) struct StringsPlan {
    /// The values of the source that the target doesn't allow.
    pub(crate) refused: Vec<&'static str>,
    /// The values of the target, if no others are valid there.
    pub(crate) only: Option<Vec<&'static str>>,
    /// The values that become others in the target.
    pub(crate) changed: Named<NewString>,
}

#[derive(Debug)]
pub(crate) struct MethodsPlan {
    pub(crate) methods: Vec<(&'static str, Option<Change>)>,
    /// The methods that only the target has.
    pub(crate) only_there: Vec<&'static str>,
    /// Whether the target accepts messages of methods that it doesn't declare.
    pub(crate) holds_unknown: bool,
}

impl Step {
    /// Returns the name of a definition in the target.
    pub(crate) fn definition(&self, name: &'static str) -> Option<&'static str> {
        let becomes = match self.definitions.get(name) {
            Some(becomes) => (*becomes)?,
            None => name,
        };
        self.to.definition(becomes).map(|(name, _)| name)
    }

    /// Returns the name of a method in the target.
    pub(crate) fn method<'m>(&self, name: &'m str) -> &'m str {
        self.methods.get(name).copied().unwrap_or(name)
    }

    /// Returns the change from one type to another, if they are paired.
    pub(crate) fn change(&self, source: &TypeRef, target: &TypeRef) -> Option<Change> {
        let (source, target) = (self.from.resolve(source), self.to.resolve(target));
        let inner = |source: &TypeRef, target: &TypeRef| self.change(source, target).map(Box::new);
        Some(match basic(self.from, source, target) {
            Basic::Is(change) => change,
            Basic::List(source, target) => Change::List(inner(source, target)?),
            Basic::Map(source, target) => Change::Map(inner(source, target)?),
            Basic::Nullable(source, target) => Change::Nullable(inner(source, target)?),
            Basic::NotNull(source, target) => Change::NotNull(inner(source, target)?),
            Basic::Wrapped(source, target) => self.change(source, target)?,
            Basic::Pair => Change::Pair(*self.index.get(&(source.clone(), target.clone()))?),
        })
    }

    /// Returns the conversions of the results of a role. `None` if one of the revisions declares no results.
    pub(crate) fn results(&self, role: Role) -> Option<&ResultsPlan> {
        match role {
            Role::Client => self.client_results.as_ref(),
            Role::Server => self.server_results.as_ref(),
        }
    }

    /// Whether a change leaves every value as it is.
    pub(crate) fn keeps(&self, change: &Change) -> bool {
        match change {
            Change::Keep => true,
            Change::List(inner) | Change::Map(inner) | Change::Nullable(inner) => self.keeps(inner),
            Change::Pair(pair) => self.pairs[*pair].keeps,
            Change::NotNull(_) | Change::Integer | Change::Object | Change::Close(_) | Change::Open(_) => false,
        }
    }

    /// Whether the source of a pair can be an empty object.
    pub(super) fn has_empty(&self, pair: PairId) -> bool {
        let object = self.from.object(&self.pairs[pair].source);
        object.is_some_and(|object| !object.members.iter().any(|member| member.required))
    }

    /// Finds the pairs that keep every value: all except those that change something themselves, and those that contain
    /// such a pair.
    pub(super) fn find_kept(&mut self) {
        loop {
            let lost: Vec<PairId> = (0..self.pairs.len())
                .filter(|pair| self.pairs[*pair].keeps && !self.pair_keeps(&self.pairs[*pair]))
                .collect();
            if lost.is_empty() {
                return;
            }
            for pair in lost {
                self.pairs[pair].keeps = false;
            }
        }
    }

    fn pair_keeps(&self, pair: &Pair) -> bool {
        if pair.narrower.is_some() {
            return false;
        }
        match &pair.how {
            How::Object(plan) => {
                let is_kept = |member: &MemberPlan| match &member.source {
                    MemberSource::Shared(name, MemberChange::Plain(change)) => {
                        *name == member.name && !member.does_more() && self.keeps(change)
                    }
                    _ => false,
                };
                plan.refused.is_none()
                    && plan.closed.is_none()
                    && plan.constants.is_empty()
                    && plan.left.is_empty()
                    && plan.moves.is_empty()
                    && plan.members.iter().all(is_kept)
            }
            How::Union(plan) => self.union_keeps(plan),
            How::Strings(plan) => plan.refused.is_empty() && plan.only.is_none() && plan.changed.is_empty(),
            How::Methods(plan) => {
                let keeps = |change: &Option<Change>| change.as_ref().is_some_and(|change| self.keeps(change));
                plan.holds_unknown && plan.only_there.is_empty() && plan.methods.iter().all(|(_, change)| keeps(change))
            }
        }
    }

    fn union_keeps(&self, plan: &UnionPlan) -> bool {
        let count = match self.to.kind(&plan.target) {
            Some(Kind::Union(union)) => union.variants.len(),
            _ => 0,
        };
        count == plan.variants.len()
            && plan.variants.iter().all(|variant| match variant {
                VariantPlan::Becomes(_, change) => self.keeps(change),
                _ => false,
            })
    }
}

impl MemberPlan {
    /// Whether the plan does more than `source`.
    pub(super) fn does_more(&self) -> bool {
        self.lacks || self.default.is_some() || !self.has_no_check()
    }

    /// Whether the source may have a `null` that the target's type can't hold.
    pub(super) fn refuses_null(&self) -> bool {
        match &self.source {
            MemberSource::Shared(_, MemberChange::Plain(change)) => {
                matches!(change, Change::NotNull(_) | Change::Object)
            }
            MemberSource::Shared(_, MemberChange::Wrap(plan) | MemberChange::Unwrap(plan)) => !plan.holds_null,
            _ => false,
        }
    }
}

impl LeftPlan {
    pub(crate) fn rule(&self) -> &'static str {
        match &self.row.action {
            None => AUTOMATIC,
            Some(LeftAction::Drop { rule } | LeftAction::Copy { rule, .. } | LeftAction::Supply { rule, .. }) => rule,
            Some(LeftAction::Ensure(ensure)) => ensure.rule,
            Some(LeftAction::Refuse(refusal)) => refusal.rule,
        }
    }
}

/// The relation of two types, as far as their notation determines it.
pub(super) enum Basic<'t> {
    Is(Change),
    List(&'t TypeRef, &'t TypeRef),
    Map(&'t TypeRef, &'t TypeRef),
    Nullable(&'t TypeRef, &'t TypeRef),
    NotNull(&'t TypeRef, &'t TypeRef),
    Wrapped(&'t TypeRef, &'t TypeRef),
    Pair,
}

pub(super) fn basic<'t>(from: &Table, source: &'t TypeRef, target: &'t TypeRef) -> Basic<'t> {
    match (source, target) {
        (TypeRef::List(source), TypeRef::List(target)) => Basic::List(source, target),
        (TypeRef::Map(source), TypeRef::Map(target)) => Basic::Map(source, target),
        (TypeRef::Nullable(source), TypeRef::Nullable(target)) => Basic::Nullable(source, target),
        (_, TypeRef::Any) => Basic::Is(Change::Keep),
        (source, TypeRef::Nullable(inner)) if *source != TypeRef::Any => Basic::Wrapped(source, inner),
        (TypeRef::Nullable(inner), target) if !target.is_open() => Basic::NotNull(inner, target),
        (TypeRef::Object | TypeRef::Map(_), TypeRef::Object) => Basic::Is(Change::Keep),
        (TypeRef::Named(_), TypeRef::Object)
            if matches!(from.kind(source), Some(Kind::Object(_) | Kind::Methods(_))) =>
        {
            Basic::Is(Change::Keep)
        }
        (_, TypeRef::Object) => Basic::Is(Change::Object),
        (source, target) if source.is_open() => Basic::Is(Change::Close(target.clone())),
        (TypeRef::Integer, TypeRef::Number) => Basic::Is(Change::Keep),
        (TypeRef::Number, TypeRef::Integer) => Basic::Is(Change::Integer),
        (TypeRef::Id, TypeRef::Id) | (TypeRef::String | TypeRef::Integer, TypeRef::Id) => Basic::Is(Change::Keep),
        (TypeRef::Id, _) | (_, TypeRef::Id) => Basic::Is(Change::Close(target.clone())),
        (TypeRef::Named(_), TypeRef::String) if matches!(from.kind(source), Some(Kind::Strings(_))) => {
            Basic::Is(Change::Keep)
        }
        (source, target) if !is_named(source) && !is_named(target) => Basic::Is(Change::Keep),
        _ => Basic::Pair,
    }
}

fn is_named(ty: &TypeRef) -> bool {
    matches!(ty, TypeRef::Named(_))
}
