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
        let mut unchecked: Vec<(Pair, Option<(String, Value)>)> = Vec::new();
        for (pair, conversion) in &self.plan.conversions {
            let is_unchanged = unchanged.contains(&(&pair.0, &pair.1));
            if !conversion.narrower && !is_unchanged && self.pair.to.asserts(&pair.1) {
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

    /// Whether a conversion may change a value itself, apart from its parts. A member that only the target declares may
    /// be dropped, or have another name.
    fn may_change(&self, (source, target): &Pair, conversion: &Conversion) -> bool {
        let adds = |Objects { from, to, .. }| to.members.iter().any(|member| !from.declares(&member.name));
        conversion.lossy || self.pair.objects(source, target).is_some_and(adds)
    }
}
