//! Validates values that a conversion may change against the assertions of the target's schema that its types don't
//! express. Such an assertion can fail even if both schemas make it: an object with fewer members may have too few, and
//! elements that have lost a member may be equal.

use serde_json::Value;

use super::pairing::Objects;
use super::planner::{Conversion, Pair, Planner};

/// The report's description of such values.
const REFUSED: &str = "a value that the target's schema refuses once something in it is changed";

impl Planner<'_> {
    /// Plans the validation of values that a conversion may change.
    pub(super) fn validate_changed(&mut self) {
        let unchanged = self.pairs_without(|pair, conversion| self.may_change(pair, conversion));
        let is_unchecked = |(pair, conversion): &(&Pair, &Conversion)| {
            !conversion.narrower && !unchanged.contains(&(&pair.0, &pair.1)) && self.pair.to.asserts(&pair.1)
        };
        let types = self.planned.iter().filter(is_unchecked);
        let types: Vec<Pair> = types.map(|(pair, _)| pair.clone()).collect();
        let members = self.planned.iter().flat_map(|(pair, conversion)| {
            let members = conversion.losses.unchecked_members.iter();
            let members = members.filter(|(_, (source, target), _)| !self.is_among(source, target, &unchanged));
            members.map(|(member, _, check)| (pair.clone(), member.clone(), check.clone()))
        });
        let members: Vec<(Pair, String, Value)> = members.collect();
        for pair in types {
            self.refused(&self.pair.from.name(&pair.0), REFUSED);
            self.planned
                .entry(pair)
                .and_modify(|conversion| conversion.narrower = true);
        }
        for (pair, member, check) in members {
            let at = format!("{}.{member}", self.pair.from.name(&pair.0));
            self.refused(&at, REFUSED);
            if let Some((_, row)) = self
                .planned
                .get_mut(&pair)
                .and_then(|conversion| conversion.row.as_mut())
            {
                row["members"][member]["check"] = check;
            }
        }
    }

    /// Whether a conversion may change a value itself, apart from its parts. A member that only the target declares may
    /// be dropped, or have another name.
    fn may_change(&self, (source, target): &Pair, conversion: &Conversion) -> bool {
        let adds = |Objects { from, to, .. }| to.members.iter().any(|member| !from.declares(&member.name));
        conversion.losses.certain || self.pair.objects(source, target).is_some_and(adds)
    }
}
