//! Finds conversions that lose and refuse nothing, so that a rule in their place would only hide them.

use std::collections::{BTreeMap, BTreeSet};

use super::planner::{Conversion, Pair, Planner};
use crate::model::TypeRef;

/// Pairs of types. They are references, so that a lookup copies nothing.
pub(super) type Pairs<'p> = BTreeSet<(&'p TypeRef, &'p TypeRef)>;

impl Planner<'_> {
    /// Reports rules on members that would be converted without loss if there were no rule.
    pub(super) fn report_shadowing(&mut self) {
        if self.covered.is_empty() {
            return;
        }
        let lossless = self.pairs_without(|_, conversion| conversion.lossy);
        let mut needed: BTreeMap<usize, bool> = BTreeMap::new();
        for (index, (source, target)) in &self.covered {
            *needed.entry(*index).or_default() |= !self.is_among(source, target, &lossless);
        }
        for (index, _) in needed.into_iter().filter(|(_, is_needed)| !is_needed) {
            let what = "the member is converted automatically, and nothing of it is lost";
            self.wrong_rule(index, what);
        }
    }

    /// Returns the planned pairs for which `holds` is false, and is false of all parts, at any depth. Types can be
    /// recursive.
    pub(super) fn pairs_without(&self, holds: impl Fn(&Pair, &Conversion) -> bool) -> Pairs<'_> {
        let kept = self.plan.conversions.iter();
        let mut kept: Vec<_> = kept.filter(|(pair, conversion)| !holds(pair, conversion)).collect();
        loop {
            let pairs: Pairs<'_> = kept.iter().map(|((source, target), _)| (source, target)).collect();
            let before = kept.len();
            kept.retain(|(_, conversion)| {
                let mut parts = conversion.parts.iter();
                parts.all(|(source, target)| self.is_among(source, target, &pairs))
            });
            if kept.len() == before {
                return pairs;
            }
        }
    }

    /// Whether the innermost types of two types are one of these pairs, or are the same in all revisions.
    pub(super) fn is_among(&self, source: &TypeRef, target: &TypeRef, pairs: &Pairs<'_>) -> bool {
        match self.pair.innermost(source, target) {
            (TypeRef::Integer, TypeRef::Number) | (TypeRef::RawObject, TypeRef::Any) => true,
            (source, target) if source.named().is_none() && source == target => true,
            pair => pairs.contains(&pair),
        }
    }
}
