//! Finds conversions that lose and refuse nothing, so that a rule in their place would only hide them.

use std::collections::{BTreeMap, BTreeSet};

use super::planner::{Conversion, Pair, Planner};
use crate::model::TypeRef;

impl Planner<'_> {
    /// Reports rules on members that would be converted without loss if there were no rule.
    pub(super) fn report_shadowing(&mut self) {
        if self.covered.is_empty() {
            return;
        }
        let lossy = self.pairs_where(|_, conversion| conversion.losses.certain);
        let mut needed: BTreeMap<usize, bool> = BTreeMap::new();
        for (index, (source, target)) in &self.covered {
            *needed.entry(*index).or_default() |= self.is_among(source, target, &lossy);
        }
        for (index, _) in needed.into_iter().filter(|(_, is_needed)| !is_needed) {
            self.wrong_rule(
                index,
                "the member is converted automatically, and nothing of it is lost",
            );
        }
    }

    /// Returns the pairs for which `holds` is true, or is true of a part, at any depth. Types can be recursive.
    pub(super) fn pairs_where(&self, holds: impl Fn(&Pair, &Conversion) -> bool) -> BTreeSet<Pair> {
        let mut found = BTreeSet::new();
        loop {
            let before = found.len();
            for (pair, conversion) in &self.planned {
                let mut parts = conversion.losses.parts.iter();
                if holds(pair, conversion) || parts.any(|(source, target)| self.is_among(source, target, &found)) {
                    found.insert(pair.clone());
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// Whether the innermost types of two types are one of these pairs. Pairs without a plan count too.
    pub(super) fn is_among(&self, source: &TypeRef, target: &TypeRef, pairs: &BTreeSet<Pair>) -> bool {
        match self.pair.innermost(source, target) {
            (TypeRef::Integer, TypeRef::Number) | (TypeRef::RawObject, TypeRef::Any) => false,
            (source, target) if source.named().is_none() && source == target => false,
            (source, target) => {
                let pair = (source.clone(), target.clone());
                pairs.contains(&pair) || !self.planned.contains_key(&pair)
            }
        }
    }
}
