//! Finds conversions that change nothing, or lose nothing.
//!
//! Values that a conversion may change are validated against the assertions of the target's schema that its types don't
//! express. Such an assertion can fail even if both schemas make it: an object with fewer members may have too few, and
//! elements that have lost a member may be equal. A rule in the place of a conversion that loses and refuses nothing would
//! only hide it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::plan::{Conversion, Pair};
use super::planner::Planner;
use crate::model::TypeRef;

/// The report's description of values that may be changed.
const REFUSED: &str = "a value that the target's schema refuses once something in it is changed";

/// Pairs of types. They are references, so that a lookup copies nothing.
type Pairs<'p> = BTreeSet<(&'p TypeRef, &'p TypeRef)>;

impl Planner<'_> {
    /// Plans the validation of values that a conversion may change.
    pub(super) fn validate_changed(&mut self) {
        let unchanged = self.pairs_without(|conversion| conversion.lossy || conversion.adds_members);
        let mut unchecked: Vec<(Pair, Option<(String, Value)>)> = Vec::new();
        for (pair, conversion) in &self.plan.conversions {
            let assertions = self.pair.to.assertions(&pair.1).filter(|it| !it.is_empty());
            if assertions.is_some() && !conversion.narrower && !unchanged.contains(&(&pair.0, &pair.1)) {
                unchecked.push((pair.clone(), None));
            }
            let members = conversion.unchecked_members.iter();
            let members = members.filter(|(_, (source, target), _)| !self.is_among(source, target, &unchanged));
            unchecked.extend(members.map(|(member, _, check)| (pair.clone(), Some((member.clone(), check.clone())))));
        }
        for (pair, member) in unchecked {
            let Some(conversion) = self.plan.conversions.get_mut(&pair) else {
                continue;
            };
            let mut at = self.pair.from.name(&pair.0);
            if let (Some((member, check)), Some((_, row))) = (member, &mut conversion.row) {
                at = format!("{at}.{member}");
                row["members"][member]["check"] = check;
            } else {
                conversion.narrower = true;
            }
            self.refused(&at, REFUSED);
        }
    }

    /// Reports rules on members that would be converted without loss if there were no rule.
    pub(super) fn report_shadowing(&mut self) {
        if self.covered.is_empty() {
            return;
        }
        let lossless = self.pairs_without(|conversion| conversion.lossy);
        let is_lossless = |(_, (source, target)): &&(usize, Pair)| self.is_among(source, target, &lossless);
        let (shadowing, needed): (Vec<_>, Vec<_>) = self.covered.iter().partition(is_lossless);
        let needed = BTreeSet::from_iter(needed.into_iter().map(|(index, _)| *index));
        let shadowing = BTreeSet::from_iter(shadowing.into_iter().map(|(index, _)| *index));
        for index in shadowing.difference(&needed) {
            let what = "the member is converted automatically, and nothing of it is lost";
            self.wrong_rule(*index, what);
        }
    }

    /// Returns the planned pairs for which `holds` is false, and is false of all parts, at any depth. Types can be
    /// recursive.
    fn pairs_without(&self, holds: impl Fn(&Conversion) -> bool) -> Pairs<'_> {
        let kept = self.plan.conversions.iter();
        let mut kept: Vec<_> = kept.filter(|(_, conversion)| !holds(conversion)).collect();
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
    fn is_among(&self, source: &TypeRef, target: &TypeRef, pairs: &Pairs<'_>) -> bool {
        match self.pair.innermost(source, target) {
            (TypeRef::Integer, TypeRef::Number) | (TypeRef::RawObject, TypeRef::Any) => true,
            (source, target) if source.named().is_none() && source == target => true,
            pair => pairs.contains(&pair),
        }
    }
}
