//! Which conversions lose and refuse nothing, so that a rule in their place would only hide them.

use std::collections::{BTreeMap, BTreeSet};

use super::matching::candidates;
use super::planner::{PlanKind, Planner};
use super::{ConstantSource, MemberConversion, StructPlan, ValuePlan, VariantConversion};
use crate::model::TypeRef;

/// The types of a value on both sides.
type Pair = (TypeRef, TypeRef);

/// Pairs whose conversion may lose or refuse something.
type LossyPairs = BTreeSet<Pair>;

impl Planner<'_> {
    /// Notes the rules on members that would be converted whole without them.
    pub(super) fn report_shadowing(&mut self) {
        if self.covered.is_empty() {
            return;
        }
        let lossy = self.lossy();
        let mut needed: BTreeMap<usize, bool> = BTreeMap::new();
        for (index, (source, target)) in &self.covered {
            *needed.entry(*index).or_default() |= self.loses(source, target, &lossy);
        }
        for (index, _) in needed.into_iter().filter(|(_, is_needed)| !is_needed) {
            self.wrong_rule(
                index,
                "the member is converted automatically, and nothing of it is lost",
            );
        }
    }

    /// A pair is lossy itself or by what it is made of, which may be itself.
    fn lossy(&self) -> LossyPairs {
        let mut lossy = LossyPairs::new();
        loop {
            let before = lossy.len();
            for (pair, how) in &self.planned {
                if !lossy.contains(pair) && self.is_lossy(pair, how, &lossy) {
                    lossy.insert(pair.clone());
                }
            }
            if lossy.len() == before {
                return lossy;
            }
        }
    }

    /// Whether something of a value may be lost, as far as is known.
    fn loses(&self, source: &TypeRef, target: &TypeRef, lossy: &LossyPairs) -> bool {
        let (source, target) = (self.from.model.resolve(source), self.to.model.resolve(target));
        match (source, target) {
            (TypeRef::List(source), TypeRef::List(target))
            | (TypeRef::Map(source), TypeRef::Map(target))
            | (TypeRef::Nullable(source), TypeRef::Nullable(target)) => self.loses(source, target, lossy),
            (TypeRef::Integer, TypeRef::Number) | (TypeRef::RawObject, TypeRef::Any) => false,
            _ if source.named().is_none() && source == target => false,
            _ => {
                let pair = (source.clone(), target.clone());
                lossy.contains(&pair) || !self.planned.contains_key(&pair)
            }
        }
    }

    fn is_lossy(&self, (source, target): &Pair, how: &PlanKind, lossy: &LossyPairs) -> bool {
        let named = |name: &String| TypeRef::Named(name.clone());
        match how {
            PlanKind::Struct(plan) => self.is_lossy_object(source, plan, lossy),
            PlanKind::Union(variants) => {
                let targets = candidates(self.to.model, target);
                variants.iter().any(|plan| match &plan.how {
                    VariantConversion::Converted { variant, .. } => {
                        let target = targets.iter().find(|target| target.name == *variant);
                        target.is_none_or(|target| self.loses(&plan.from, &target.ty, lossy))
                    }
                    _ => true,
                })
            }
            PlanKind::Strings { refused, closed } => *closed || !refused.is_empty(),
            PlanKind::Wrapped { moved } => !moved,
            PlanKind::Unwrapped { .. } => true,
            PlanKind::Methods(methods) => methods.iter().any(|(ty, other)| {
                let other = other.as_ref();
                other.is_none_or(|other| self.loses(&named(ty), &named(other), lossy))
            }),
            PlanKind::Results(results) => results.iter().any(|(ty, other)| {
                let other = other.as_ref();
                other.is_none_or(|other| self.loses(ty, other, lossy))
            }),
            // Nothing is lost where the target leaves open what the source declares, but its meaning.
            PlanKind::Opened | PlanKind::Closed => true,
        }
    }

    fn is_lossy_object(&self, source: &TypeRef, plan: &StructPlan, lossy: &LossyPairs) -> bool {
        let drops = !plan.undeclared.is_empty() || plan.closed && !self.is_closed(self.from, source.named());
        let constant = plan.constants.iter().any(|constant| match constant.source {
            ConstantSource::Same { optional } => optional && !constant.optional,
            ConstantSource::Undeclared => !constant.optional,
            ConstantSource::Other { .. } | ConstantSource::Member(_) => true,
        });
        let member = plan.members.iter().any(|member| {
            let is_lossy = match &member.value {
                ValuePlan::Shared(own, MemberConversion::Moved | MemberConversion::Converted) => {
                    member.to.required && !own.required || self.loses(&own.ty, &member.to.ty, lossy)
                }
                ValuePlan::Shared(..) => true,
                ValuePlan::Adopted { constant, .. } => {
                    member.to.required
                        && !constant.as_ref().is_some_and(|constant| constant.required)
                        && member.default.is_none()
                }
            };
            let is_defaulted = member.default.as_ref().is_some_and(|default| !default.implied);
            is_lossy || is_defaulted || member.checked.is_some() || !member.declared.is_empty()
        });
        drops || constant || member
    }
}
