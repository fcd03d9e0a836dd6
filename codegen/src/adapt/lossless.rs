//! Which conversions lose and refuse nothing, so that a rule in their place would only hide them.

use std::collections::{BTreeMap, BTreeSet};

use super::planner::{Pair, Planner};
use crate::model::TypeRef;

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
            for (pair, planned) in &self.planned {
                let losses = &planned.losses;
                let mut parts = losses.parts.iter();
                if losses.certain || parts.any(|(source, target)| self.loses(source, target, &lossy)) {
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
        let (source, target) = (self.pair.from.model.resolve(source), self.pair.to.model.resolve(target));
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
}
