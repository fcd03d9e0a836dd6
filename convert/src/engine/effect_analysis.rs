//! Derives from the steps of a chain what they look at in the types of the first revision, and in the types that these
//! become.

use std::collections::BTreeSet;

use mcp_wire::JsonType;
use rustc_hash::{FxHashMap, FxHashSet};

use super::accepted::Accepted;
use super::effects::{Effects, MemberEffects};
use super::step::{
    Change, How, MemberChange, MemberPlan, MemberSource, ObjectPlan, PairId, Step, UnionPlan, VariantPlan,
};
use crate::tables::Table;
use crate::tables::rows::{Condition, LeftAction, PathStep};
use crate::tables::types::{Decision, Kind, ObjectType, TypeId, TypeRef, Union, Variant};

/// Finds the parts of values that the steps of a chain look at.
pub(super) struct EffectAnalysis<'c> {
    pub(super) steps: &'c [&'static Step],
    /// For each step, the types of the elements that it leaves out of lists, and the conditions.
    hidden: Vec<Vec<(TypeId, &'static [Condition])>>,
    /// For each step, the pairs of each type.
    pairs: Vec<FxHashMap<TypeId, Vec<PairId>>>,
}

fn pairs_by_type(step: &'static Step) -> FxHashMap<TypeId, Vec<PairId>> {
    let mut by_type: FxHashMap<TypeId, Vec<PairId>> = FxHashMap::default();
    for (index, pair) in step.pairs.iter().enumerate() {
        if let TypeRef::Named(id) = pair.source {
            by_type.entry(id).or_default().push(index);
        }
    }
    by_type
}

fn hidden(step: &'static Step) -> Vec<(TypeId, &'static [Condition])> {
    let plans = step.pairs.iter().filter_map(|pair| match &pair.how {
        How::Object(plan) => Some(plan),
        _ => None,
    });
    let members = plans.flat_map(|plan| &plan.members);
    let hidden = members.filter_map(|member| match &member.source {
        MemberSource::Shared(_, MemberChange::Hide { element, when, .. }) => {
            Some((object_of(step, element)?, when.as_slice()))
        }
        _ => None,
    });
    hidden.collect()
}

/// Returns the object type that a change applies to.
fn object_of(step: &Step, change: &Change) -> Option<TypeId> {
    match change {
        Change::Pair(pair) => match (&step.pairs[*pair].source, step.from.kind(&step.pairs[*pair].source)) {
            (TypeRef::Named(id), Some(Kind::Object(_))) => Some(*id),
            _ => None,
        },
        _ => None,
    }
}

impl<'c> EffectAnalysis<'c> {
    pub(super) fn new(steps: &'c [&'static Step]) -> Self {
        Self {
            steps,
            hidden: steps.iter().map(|step| hidden(step)).collect(),
            pairs: steps.iter().map(|step| pairs_by_type(step)).collect(),
        }
    }

    /// Returns the effects on each type of the chain's source that a step looks into.
    pub(super) fn all_effects(&self, types: usize) -> Vec<Option<Effects>> {
        let opened = self.opened();
        let effects = |id: TypeId| opened.contains(&id).then(|| self.effects(id, None));
        (0..types).map(effects).collect()
    }

    /// Returns the types of the chain's source that a step looks into.
    fn opened(&self) -> FxHashSet<TypeId> {
        let mut opened = FxHashSet::default();
        for (step, hidden) in self.steps.iter().zip(&self.hidden).rev() {
            let looks_into = |ty: &TypeRef| matches!(ty, TypeRef::Named(id) if opened.contains(id));
            let pairs = step.pairs.iter().filter(|pair| !pair.keeps || looks_into(&pair.target));
            let sources = pairs.filter_map(|pair| match pair.source {
                TypeRef::Named(id) => Some(id),
                _ => None,
            });
            opened = sources.chain(hidden.iter().map(|(id, _)| *id)).collect();
        }
        opened
    }

    /// Returns what is looked at in a type of the first revision, and in the types that it becomes. `pairs` has the
    /// pair of each step, if it is known; otherwise all pairs of the type count.
    pub(super) fn effects(&self, id: TypeId, pairs: Option<&[PairId]>) -> Effects {
        let mut effects = Effects::default();
        let none = ObjectType::default();
        let table = self.steps.first().map(|step| step.from);
        let source = table.and_then(|table| table.kind(&TypeRef::Named(id)));
        let object = match source {
            Some(Kind::Object(object)) => object,
            _ => &none,
        };
        let is_basic = |ty: &TypeRef| !matches!(ty.innermost(), TypeRef::Named(_));
        effects.members = object
            .members
            .iter()
            .map(|member| MemberEffects {
                is_basic: member.ty().is_some_and(is_basic),
                ..MemberEffects::default()
            })
            .collect();
        let becomes: Vec<Option<usize>> = match source {
            Some(Kind::Union(union)) => {
                effects.variants = vec![false; union.variants.len()];
                effects.validates_variants = !is_tagged(union);
                if let Some(table) = table.filter(|_| effects.validates_variants) {
                    let variants = 0..union.variants.len();
                    effects.others_require = variants.map(|at| others_require(table, union, at)).collect();
                }
                (0..union.variants.len()).map(Some).collect()
            }
            _ => Vec::new(),
        };
        let (mut reached, mut conditions) = (Vec::new(), Vec::new());
        let (mut waiting, mut seen) = (vec![(0, id, becomes)], FxHashSet::default());
        while let Some((at, id, becomes)) = waiting.pop() {
            let Some(step) = self.steps.get(at).filter(|_| seen.insert((at, id, becomes.clone()))) else {
                continue;
            };
            let hidden = self.hidden[at].iter().filter(|(hidden, _)| *hidden == id);
            for condition in hidden.flat_map(|(_, when)| *when) {
                match condition.path.first() {
                    Some(name) => {
                        effects.add(object, name);
                        conditions.push(*name);
                    }
                    None => effects.always = true,
                }
            }
            let own = match pairs {
                Some(pairs) => &pairs[at..=at],
                None => self.pairs[at].get(&id).map_or(&[][..], Vec::as_slice),
            };
            for pair in own.iter().map(|index| &step.pairs[*index]) {
                if pair.narrower.is_some() {
                    effects.always = true;
                    effects.variants.fill(true);
                }
                let next = match &pair.how {
                    How::Object(plan) => {
                        effects.object(object, step, plan);
                        for name in opened_members(step, &pair.source, plan) {
                            effects.add(object, name);
                        }
                        reached.push(at);
                        effects.plans.push((*step, plan));
                        Vec::new()
                    }
                    How::Union(plan) => effects.union(step, plan, &becomes, source),
                    How::Methods(_) | How::Strings(_) => {
                        effects.always = true;
                        Vec::new()
                    }
                };
                if let TypeRef::Named(target) = pair.target {
                    waiting.push((at + 1, target, next));
                }
            }
        }
        // Each step has exactly one plan for the object.
        let is_certain = reached.iter().copied().eq(0..self.steps.len());
        let adds = is_certain && object.members.len() <= 64 && effects.adds_alone() && !effects.lacks(&conditions);
        effects.always |= !effects.absent.is_empty() && !adds;
        // A member that one step removes may be added again by another.
        conditions.extend(effects.absent.iter().map(|(name, _)| *name));
        for (member, member_effects) in object.members.iter().zip(&mut effects.members) {
            let is_removed = is_certain && member_effects.is_only_implied() && !conditions.contains(&member.name);
            member_effects.changes |= member_effects.implied.is_some() && !is_removed;
            effects.always |= member.required && member_effects.changes;
        }
        let is_checked = effects.members.iter().any(MemberEffects::is_checked);
        effects.unchanged = is_checked.then(Accepted::default);
        effects
    }
}

impl Effects {
    fn object(&mut self, source: &ObjectType, step: &'static Step, plan: &'static ObjectPlan) {
        self.always |= plan.refused.is_some();
        self.closed |= plan.closed.is_some();
        for constant in &plan.constants {
            self.add(source, constant.name);
            if constant.required {
                self.add_absent(source, constant.name);
            }
        }
        for member in &plan.members {
            self.plan(source, step, member);
        }
        for left in &plan.left {
            match (left.row.implied, self.member_effects(source, left.name)) {
                (Some(implied), Some(member_effects)) if member_effects.implied.is_none() => {
                    member_effects.implied = Some(implied)
                }
                _ => self.add(source, left.name),
            }
            if let Some(LeftAction::Copy { to: path, .. }) = &left.row.action {
                self.fill(source, path);
            }
        }
        for planned in &plan.moves {
            self.add(source, planned.name);
            planned.moves.iter().for_each(|planned| self.fill(source, &planned.to));
        }
    }

    /// Notes that a value may be put at a path.
    fn fill(&mut self, source: &ObjectType, path: &[PathStep]) {
        if let Some(member_effects) = PathStep::first(path).and_then(|name| self.member_effects(source, name)) {
            member_effects.fills = true;
        }
    }

    fn plan(&mut self, source: &ObjectType, step: &'static Step, plan: &'static MemberPlan) {
        match &plan.source {
            MemberSource::Shared(name, MemberChange::Plain(change))
                if *name == plan.name && is_by_type(step, change) =>
            {
                if !plan.has_no_check()
                    && let Some(member_effects) = self.member_effects(source, name)
                {
                    member_effects.checks.push((plan, step.to.schema));
                }
            }
            MemberSource::Shared(name, MemberChange::Hide { element, .. })
                if *name == plan.name && object_of(step, element).is_some() => {}
            MemberSource::Shared(name, MemberChange::Fill(change))
                if *name == plan.name && is_by_type(step, change) =>
            {
                match self.member_effects(source, name) {
                    Some(member_effects) => member_effects.changes_empty = true,
                    None => self.others.push(name),
                }
                self.add_absent(source, name);
            }
            MemberSource::Shared(name, change) => {
                self.always |= matches!(change, MemberChange::Fill(_));
                self.add(source, name);
                self.add(source, plan.name);
            }
            MemberSource::Adopted(adopted) => {
                self.add(source, plan.name);
                if let Some(name) = adopted.constant {
                    self.add(source, name);
                }
                if plan.required || adopted.supplied.is_some() {
                    self.add_absent(source, plan.name);
                }
            }
        }
        if plan.lacks {
            self.add_absent(source, plan.name);
        }
    }

    fn add_absent(&mut self, source: &ObjectType, name: &'static str) {
        if !self.absent.iter().any(|(known, _)| *known == name) {
            let at = source.members.iter().position(|member| member.name == name);
            self.absent.push((name, at));
        }
    }

    /// Whether one of these members is added if it is absent.
    fn lacks(&self, names: &[&str]) -> bool {
        self.absent.iter().any(|(absent, _)| names.contains(absent))
    }

    /// Whether the added members depend only on which members are absent, and nothing else depends on them.
    fn adds_alone(&self) -> bool {
        let is_added = |name: &&str| self.lacks(&[*name]);
        let is_alone = |member: &MemberPlan| match &member.source {
            MemberSource::Adopted(_) => true,
            MemberSource::Shared(_, MemberChange::Plain(_) | MemberChange::Fill(_)) if is_added(&member.name) => true,
            MemberSource::Shared(name, MemberChange::Text { .. }) if *name == member.name => true,
            MemberSource::Shared(name, _) => !is_added(name) && !is_added(&member.name),
        };
        self.absent.len() <= 64
            && self.plans.iter().all(|(_, plan)| {
                plan.members.iter().all(is_alone)
                    && !plan.left.iter().any(|left| is_added(&left.name))
                    && !plan.constants.iter().any(|constant| is_added(&constant.name))
            })
    }

    fn member_effects(&mut self, source: &ObjectType, name: &str) -> Option<&mut MemberEffects> {
        let at = source.members.iter().position(|member| member.name == name)?;
        self.members.get_mut(at)
    }

    fn add(&mut self, source: &ObjectType, name: &'static str) {
        match self.member_effects(source, name) {
            Some(member_effects) => member_effects.changes = true,
            None => self.others.push(name),
        }
    }

    /// Follows the variants of the first union through a step. `becomes` has the position that each of them has before
    /// the step; the result has the positions after it.
    fn union(
        &mut self,
        step: &'static Step,
        plan: &'static UnionPlan,
        becomes: &[Option<usize>],
        first: Option<&Kind>,
    ) -> Vec<Option<usize>> {
        let (Some(Kind::Union(first)), Some(Kind::Union(union))) = (first, step.from.kind(&plan.source)) else {
            // An object that becomes a union is its own only variant. The variants of other unions aren't followed.
            let keeps = |variant: &VariantPlan| match variant {
                VariantPlan::Becomes(_, change) => is_by_type(step, change) && !opens(step, &plan.source, change),
                _ => false,
            };
            self.always |= !plan.variants.iter().all(keeps);
            return Vec::new();
        };
        let next = becomes.iter().enumerate().map(|(variant, at)| {
            let planned = at.and_then(|at| plan.variants.get(at).map(|plan| (at, plan)));
            match planned {
                Some((at, VariantPlan::Becomes(to, change)))
                    if !plan.gains_tag
                        && is_by_type(step, change)
                        && !opens(step, &union.variants[at].ty, change)
                        && is_told_alike((first, variant), (union, at), becomes) =>
                {
                    if let Some(known) = self.others_require.get_mut(variant) {
                        let added = others_require(step.from, union, at);
                        *known = known.take().zip(added).map(|(known, added)| &known | &added);
                    }
                    Some(*to)
                }
                _ => {
                    self.variants[variant] = true;
                    None
                }
            }
        });
        next.collect()
    }
}

/// Whether a change is only the conversion of the value's type.
fn is_by_type(step: &Step, change: &Change) -> bool {
    match change {
        Change::Keep => true,
        Change::List(inner) | Change::Map(inner) | Change::Nullable(inner) => is_by_type(step, inner),
        Change::Pair(pair) => {
            let pair = &step.pairs[*pair];
            pair.keeps || matches!(step.from.kind(&pair.source), Some(Kind::Object(_) | Kind::Union(_)))
        }
        Change::NotNull(_) | Change::Integer | Change::Object | Change::Close(_) | Change::Open(_) => false,
    }
}

/// Returns the members that become open JSON.
fn opened_members(step: &'static Step, source: &TypeRef, plan: &ObjectPlan) -> impl Iterator<Item = &'static str> {
    let members = step.from.object(source).into_iter().flat_map(|object| &object.members);
    let opened = members.filter(move |member| {
        let planned = plan.members.iter().find_map(|planned| match &planned.source {
            MemberSource::Shared(name, change) if *name == member.name => Some(change),
            _ => None,
        });
        let change = match planned {
            Some(MemberChange::Plain(change)) => change,
            // A member without a plan stays as it is.
            None => &Change::Keep,
            Some(_) => return false,
        };
        member.ty().is_some_and(|ty| opens(step, ty, change))
    });
    opened.map(|member| member.name)
}

/// Whether values of a named type become open JSON by a change. Later steps don't change them any more, even if they
/// change the type elsewhere.
fn opens(step: &Step, ty: &TypeRef, change: &Change) -> bool {
    match (step.from.resolve(ty), change) {
        (TypeRef::List(inner) | TypeRef::Map(inner) | TypeRef::Nullable(inner), _) => {
            let change = match change {
                Change::List(change) | Change::Map(change) | Change::Nullable(change) | Change::NotNull(change) => {
                    change
                }
                change => change,
            };
            opens(step, inner, change)
        }
        (ty, Change::Keep) => !matches!(step.from.kind(ty), None | Some(Kind::Strings(_))),
        _ => false,
    }
}

/// Whether one tag distinguishes the objects of a union, or there is at most one object.
fn is_tagged(union: &Union) -> bool {
    match &union.objects {
        None | Some(Decision::Is(_)) => true,
        Some(Decision::Tag {
            cases,
            absent,
            others: None,
            ..
        }) => {
            let mut decisions = cases.iter().map(|(_, decision)| decision).chain(absent.as_deref());
            decisions.all(|decision| matches!(decision, Decision::Is(_)))
        }
        Some(_) => false,
    }
}

/// Whether a variant of one union is distinguished in the same way as one of a later union. `becomes` has the positions
/// of the first union's variants in the later one.
fn is_told_alike((first, variant): (&Union, usize), (later, at): (&Union, usize), becomes: &[Option<usize>]) -> bool {
    match (is_tagged(first), is_tagged(later)) {
        (true, true) => tags(first, variant) == tags(later, at),
        (false, false) => {
            let becomes = |variant: usize| becomes.get(variant).copied().flatten();
            let first = first.objects.as_ref().and_then(|decision| decision.mapped(&becomes));
            first == later.objects
        }
        _ => false,
    }
}

/// Returns a member for each other object of a union that this one requires and the variant doesn't. Their names are of
/// ASCII letters. `None` if one has no such member.
fn others_require(table: &Table, union: &Union, at: usize) -> Option<BTreeSet<&'static str>> {
    let required = |variant: &Variant| match table.kind(&variant.ty) {
        Some(Kind::Object(object)) => {
            let required = object.members.iter().filter(|member| member.required);
            Some(required.map(|member| member.name).collect::<Vec<_>>())
        }
        _ => None,
    };
    let own = required(union.variants.get(at)?)?;
    let others = union.variants.iter().enumerate();
    let others = others.filter(|(other, variant)| *other != at && variant.json_type == JsonType::Object);
    let is_of_letters = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let distinguishes = |name: &&'static str| !own.contains(name) && is_of_letters(name);
    let members = others.map(|(_, other)| required(other)?.into_iter().find(distinguishes));
    members.collect()
}

/// Returns the tag, whether its values are strings, and those that identify a variant.
fn tags(union: &Union, at: usize) -> (&'static str, bool, Vec<&'static str>) {
    match &union.objects {
        Some(Decision::Tag {
            member,
            types,
            cases,
            absent,
            ..
        }) => {
            let of_variant = |decision: &Decision| matches!(decision, Decision::Is(index) if *index == at);
            let own = cases.iter().filter(|(_, decision)| of_variant(decision));
            let absent = absent.as_deref().filter(|absent| of_variant(absent));
            let mut values: Vec<&'static str> = own.flat_map(|(values, _)| values.iter().copied()).collect();
            values.extend(absent.map(|_| ""));
            values.sort_unstable();
            (member, types.is_none(), values)
        }
        _ => ("", true, Vec::new()),
    }
}
