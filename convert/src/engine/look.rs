//! What the conversions of a chain look at in the values of a type. A value in which they find nothing to do is kept as text, however
//! many revisions it passes.

use std::collections::{BTreeMap, HashSet};

use mcp_wire::Schema;

use super::step::{Change, How, MemberChange, MemberPlan, MemberSource, ObjectPlan, Step, UnionPlan, VariantPlan};
use crate::tables::rows::{Condition, LeftAction};
use crate::tables::types::{Decision, Kind, ObjectType, TypeId, TypeRef, Union};

/// What is looked at in the values of a type.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Whether each value is changed.
    always: bool,
    /// Whether members are that the type doesn't declare.
    closed: bool,
    /// What is done to each declared member that is present.
    members: Vec<Glance>,
    /// The other members that are changed where they are present.
    others: Vec<&'static str>,
    /// The members that are added where they are absent.
    absent: Vec<&'static str>,
    /// Whether the value of each variant of a union may become one of another type.
    variants: Vec<bool>,
}

/// What is done to a member, besides what the type of its value says.
#[derive(Debug, Default)]
pub(super) struct Glance {
    /// Whether it is changed.
    changes: bool,
    /// Whether something may be put into it.
    fills: bool,
    /// What it is checked by.
    checks: Vec<(&'static MemberPlan, &'static Schema)>,
    /// Whether the type of its value has no name, so that nothing looks into it.
    is_basic: bool,
}

/// The looks at the types of a chain's source that a step looks into.
pub(super) fn looks(types: usize, steps: &[&'static Step]) -> Vec<Option<Look>> {
    let chain = Looker {
        steps,
        hidden: steps.iter().map(|step| hidden(step)).collect(),
    };
    let opened = chain.opened();
    let look = |id: TypeId| opened.contains(&id).then(|| chain.look(id));
    (0..types).map(look).collect()
}

struct Looker<'c> {
    steps: &'c [&'static Step],
    /// The elements that each step leaves out of lists, and when.
    hidden: Vec<BTreeMap<TypeId, Vec<&'static Condition>>>,
}

fn hidden(step: &'static Step) -> BTreeMap<TypeId, Vec<&'static Condition>> {
    let mut hidden: BTreeMap<TypeId, Vec<&'static Condition>> = BTreeMap::new();
    let plans = step.pairs.iter().filter_map(|pair| match &pair.how {
        How::Object(plan) => Some(plan),
        _ => None,
    });
    for member in plans.flat_map(|plan| &plan.members) {
        if let MemberSource::Shared(_, MemberChange::Hide { element, when, .. }) = &member.source
            && let Some(id) = object_of(step, element)
        {
            hidden.entry(id).or_default().extend(when);
        }
    }
    hidden
}

/// The type of an object that a change is for.
fn object_of(step: &Step, change: &Change) -> Option<TypeId> {
    match change {
        Change::Pair(pair) => match (&step.pairs[*pair].source, step.from.kind(&step.pairs[*pair].source)) {
            (TypeRef::Named(id), Some(Kind::Object(_))) => Some(*id),
            _ => None,
        },
        _ => None,
    }
}

impl Looker<'_> {
    /// The types that a step looks into.
    fn opened(&self) -> HashSet<TypeId> {
        let mut opened = HashSet::new();
        for (step, hidden) in self.steps.iter().zip(&self.hidden).rev() {
            let looks_into = |ty: &TypeRef| matches!(ty, TypeRef::Named(id) if opened.contains(id));
            let pairs = step.pairs.iter().filter(|pair| !pair.keeps || looks_into(&pair.target));
            let sources = pairs.filter_map(|pair| match pair.source {
                TypeRef::Named(id) => Some(id),
                _ => None,
            });
            opened = sources.chain(hidden.keys().copied()).collect();
        }
        opened
    }

    /// What is looked at in a type of the first revision, and in those that it becomes.
    fn look(&self, id: TypeId) -> Look {
        let mut look = Look::default();
        let none = ObjectType::default();
        let source = self.steps.first().and_then(|step| step.from.kind(&TypeRef::Named(id)));
        let object = match source {
            Some(Kind::Object(object)) => object,
            _ => &none,
        };
        let is_basic = |ty: &TypeRef| !matches!(ty.innermost(), TypeRef::Named(_));
        look.members = object
            .members
            .iter()
            .map(|member| Glance {
                is_basic: member.ty().is_some_and(is_basic),
                ..Glance::default()
            })
            .collect();
        let becomes: Vec<Option<usize>> = match source {
            Some(Kind::Union(union)) => {
                look.variants = vec![!is_tagged(union); union.variants.len()];
                (0..union.variants.len()).map(Some).collect()
            }
            _ => Vec::new(),
        };
        let (mut waiting, mut seen) = (vec![(0, id, becomes)], HashSet::new());
        while let Some((at, id, becomes)) = waiting.pop() {
            let Some(step) = self.steps.get(at).filter(|_| seen.insert((at, id, becomes.clone()))) else {
                continue;
            };
            for condition in self.hidden[at].get(&id).into_iter().flatten() {
                match condition.path.first() {
                    Some(name) => look.add(object, name),
                    None => look.always = true,
                }
            }
            for pair in step.pairs.iter().filter(|pair| pair.source == TypeRef::Named(id)) {
                let next = match &pair.how {
                    How::Object(plan) => {
                        look.object(object, step, plan);
                        Vec::new()
                    }
                    How::Union(plan) => look.union(step, plan, &becomes, source),
                    How::Methods(_) | How::Results(_) | How::Strings(_) => {
                        look.always = true;
                        Vec::new()
                    }
                };
                if let TypeRef::Named(target) = pair.target {
                    waiting.push((at + 1, target, next));
                }
            }
        }
        look
    }
}

impl Look {
    fn object(&mut self, source: &ObjectType, step: &'static Step, plan: &'static ObjectPlan) {
        self.always |= plan.refused.is_some();
        self.closed |= plan.closed.is_some();
        for constant in &plan.constants {
            self.add(source, constant.name);
            self.absent.extend(constant.required.then_some(constant.name));
        }
        for member in &plan.members {
            self.member(source, step, member);
        }
        for left in &plan.left {
            self.add(source, left.name);
            if let Some(LeftAction::Copy { to: path, .. } | LeftAction::Move(path)) = &left.row.action
                && let Some(glance) = path.first().and_then(|name| self.glance(source, name))
            {
                glance.fills = true;
            }
        }
    }

    fn member(&mut self, source: &ObjectType, step: &'static Step, plan: &'static MemberPlan) {
        match &plan.source {
            MemberSource::Shared(name, MemberChange::Plain(change))
                if *name == plan.name && is_by_type(step, change) =>
            {
                if !plan.has_no_check()
                    && let Some(glance) = self.glance(source, name)
                {
                    glance.checks.push((plan, step.schema()));
                }
            }
            MemberSource::Shared(name, MemberChange::Hide { element, .. })
                if *name == plan.name && object_of(step, element).is_some() => {}
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
                let is_added = plan.required || adopted.supplied.is_some();
                self.absent.extend(is_added.then_some(plan.name));
            }
        }
        self.absent.extend(plan.lacks.then_some(plan.name));
    }

    fn glance(&mut self, source: &ObjectType, name: &str) -> Option<&mut Glance> {
        let at = source.members.iter().position(|member| member.name == name)?;
        self.members.get_mut(at)
    }

    fn add(&mut self, source: &ObjectType, name: &'static str) {
        match self.glance(source, name) {
            Some(glance) => glance.changes = true,
            None => self.others.push(name),
        }
    }

    /// What becomes of the variants that those of the first union, by their positions, are now.
    fn union(
        &mut self,
        step: &'static Step,
        plan: &'static UnionPlan,
        becomes: &[Option<usize>],
        first: Option<&Kind>,
    ) -> Vec<Option<usize>> {
        let (Some(Kind::Union(first)), Some(Kind::Union(union))) = (first, step.from.kind(&plan.source)) else {
            // The object that becomes a union is its own only variant; those of other unions aren't followed.
            let keeps =
                |variant: &VariantPlan| matches!(variant, VariantPlan::Becomes(_, change) if is_by_type(step, change));
            self.always |= !plan.variants.iter().all(keeps);
            return Vec::new();
        };
        let next = becomes.iter().enumerate().map(|(variant, at)| {
            let planned = at.and_then(|at| plan.variants.get(at).map(|plan| (at, plan)));
            match planned {
                Some((at, VariantPlan::Becomes(to, change)))
                    if is_by_type(step, change) && is_tagged(union) && tags(union, at) == tags(first, variant) =>
                {
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

    /// Whether each value is changed, or most of them, since they lack a member.
    pub(super) fn changes_most(&self) -> bool {
        self.always || !self.absent.is_empty()
    }

    /// Whether the declared member at this position is changed.
    pub(super) fn changes(&self, at: usize) -> bool {
        self.members.get(at).is_some_and(|glance| glance.changes)
    }

    /// Whether a member is changed that the type doesn't declare.
    pub(super) fn changes_other(&self, name: &str) -> bool {
        self.closed || self.others.contains(&name)
    }

    /// The checks of the declared member at this position.
    pub(super) fn checked(&self, at: usize) -> Option<&Glance> {
        self.members.get(at).filter(|glance| !glance.checks.is_empty())
    }

    /// Whether the type of the declared member at this position has no name.
    pub(super) fn is_basic(&self, at: usize) -> bool {
        self.members.get(at).is_some_and(|glance| glance.is_basic)
    }

    /// Whether the declared member at this position must be read as a tree.
    pub(super) fn needs_tree(&self, at: usize) -> bool {
        self.members
            .get(at)
            .is_some_and(|glance| glance.changes || glance.fills)
    }

    /// Whether a variant of a union may become one of another type, or not be known.
    pub(super) fn changes_variant(&self, at: usize) -> bool {
        self.variants.get(at).is_none_or(|changes| *changes)
    }
}

impl Glance {
    /// Whether the checks accept a value.
    pub(super) fn accepts(&self, value: &str) -> bool {
        self.checks.iter().all(|(plan, schema)| plan.accepts(value, schema))
    }
}

/// Whether a change does nothing but what the type of the value says.
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

/// Whether each object of a union is told by one tag, or there is only one.
fn is_tagged(union: &Union) -> bool {
    match &union.objects {
        None | Some(Decision::Is(_)) => true,
        Some(Decision::Tag { cases, absent, .. }) => {
            let mut decisions = cases.iter().map(|(_, decision)| decision).chain(absent.as_deref());
            decisions.all(|decision| matches!(decision, Decision::Is(_)))
        }
        Some(_) => false,
    }
}

/// The tag and the values of it that tell a variant.
fn tags(union: &Union, at: usize) -> (&'static str, Vec<&'static str>) {
    match &union.objects {
        Some(Decision::Tag { member, cases, absent }) => {
            let of_variant = |decision: &Decision| matches!(decision, Decision::Is(index) if *index == at);
            let own = cases.iter().filter(|(_, decision)| of_variant(decision));
            let absent = absent.as_deref().filter(|absent| of_variant(absent));
            let mut values: Vec<&'static str> = own.flat_map(|(values, _)| values.iter().copied()).collect();
            values.extend(absent.map(|_| ""));
            values.sort_unstable();
            (member, values)
        }
        _ => ("", Vec::new()),
    }
}
