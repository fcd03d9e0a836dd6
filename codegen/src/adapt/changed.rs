//! Validates values that a conversion may change against the assertions of the target's schema that its types don't
//! express. Such an assertion can fail even if both schemas make it: an object with fewer members may have too few, and
//! elements that have lost a member may be equal.

use super::lossless::Pairs;
use super::pairing::Objects;
use super::planner::{Conversion, Pair, Planner};
use super::rows::{Check, Row};

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
            let members = self.unchecked_members(pair, conversion, &unchanged).into_iter();
            members.map(move |(member, check)| (pair.clone(), member, check))
        });
        let members: Vec<(Pair, String, Check)> = members.collect();
        for pair in types {
            self.refused(&self.pair.from.name(&pair.0), REFUSED);
            self.planned
                .entry(pair)
                .and_modify(|conversion| conversion.narrower = true);
        }
        for (pair, member, check) in members {
            let at = format!("{}.{member}", self.pair.from.name(&pair.0));
            self.refused(&at, REFUSED);
            if let Some(Row::Object(row)) = self.planned.get_mut(&pair).map(|conversion| &mut conversion.row) {
                row.members.entry(member).or_default().check = Some(check);
            }
        }
    }

    /// Returns the members of an object of the target that need a check. A value that a rule sets is validated with the
    /// object.
    fn unchecked_members(
        &self,
        (source, target): &Pair,
        conversion: &Conversion,
        unchanged: &Pairs<'_>,
    ) -> Vec<(String, Check)> {
        let (Some(objects), Row::Object(row)) = (self.pair.objects(source, target), &conversion.row) else {
            return Vec::new();
        };
        let unchecked = objects.to.members.iter().filter_map(|member| {
            let planned = row.members.get(&member.name);
            if planned.is_some_and(|planned| planned.check.is_some() || planned.action.is_some()) {
                return None;
            }
            let name = planned.and_then(|planned| planned.from.as_ref());
            let own = objects.from.member(name.unwrap_or(&member.name))?;
            let schema = self.pair.to.member_schema(objects.to_name, &member.name)?;
            let is_unchecked = !schema.assertions.is_empty() && !self.is_among(&own.ty, &member.ty, unchanged);
            let at = schema.pointers.clone();
            is_unchecked.then(|| (member.name.clone(), Check { at, drop: None }))
        });
        unchecked.collect()
    }

    /// Whether a conversion may change a value itself, apart from its parts. A member that only the target declares may
    /// be dropped, or have another name.
    fn may_change(&self, (source, target): &Pair, conversion: &Conversion) -> bool {
        let adds = |Objects { from, to, .. }| to.members.iter().any(|member| !from.declares(&member.name));
        conversion.losses.certain || self.pair.objects(source, target).is_some_and(adds)
    }
}
