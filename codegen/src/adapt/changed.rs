//! Validates values that a conversion may change against the assertions of the target's schema that its types don't
//! express. Such an assertion can fail even if both schemas make it: an object with fewer members may have too few, and
//! elements that have lost a member may be equal.

use std::collections::BTreeSet;

use super::planner::{Conversion, Pair, Planner};
use super::rows::{Check, Row};

/// The report's description of such values.
const REFUSED: &str = "a value that the target's schema refuses once something in it is changed";

impl Planner<'_> {
    /// Plans the validation of values that a conversion may change.
    pub(super) fn validate_changed(&mut self) {
        let changed = self.pairs_where(|pair, conversion| self.may_change(pair, conversion));
        let is_unchecked = |(pair, conversion): &(&Pair, &Conversion)| {
            !conversion.narrower && changed.contains(pair) && self.pair.to.asserts(&pair.1)
        };
        let types = self.planned.iter().filter(is_unchecked);
        let types: Vec<Pair> = types.map(|(pair, _)| pair.clone()).collect();
        let members = self.planned.iter().flat_map(|(pair, conversion)| {
            let members = self.unchecked_members(pair, conversion, &changed).into_iter();
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
        changed: &BTreeSet<Pair>,
    ) -> Vec<(String, Check)> {
        let (from, to) = (self.pair.from, self.pair.to);
        let objects = from.model.struct_of(source).zip(to.model.struct_of(target));
        let (Some((object, other)), Row::Object(row)) = (objects, &conversion.row) else {
            return Vec::new();
        };
        let unchecked = other.members.iter().filter_map(|member| {
            let planned = row.members.get(&member.name);
            if planned.is_some_and(|planned| planned.check.is_some() || planned.action.is_some()) {
                return None;
            }
            let name = planned.and_then(|planned| planned.from.as_ref());
            let own = object.member(name.unwrap_or(&member.name))?;
            let schema = to.member_schema(&to.name(target), &member.name)?;
            let is_unchecked = !schema.assertions.is_empty() && self.is_among(&own.ty, &member.ty, changed);
            let at = schema.pointers.clone();
            is_unchecked.then(|| (member.name.clone(), Check { at, drop: None }))
        });
        unchecked.collect()
    }

    /// Whether a conversion may change a value itself, apart from its parts. A member that only the target declares may
    /// be dropped, or have another name.
    fn may_change(&self, (source, target): &Pair, conversion: &Conversion) -> bool {
        let (from, to) = (self.pair.from.model, self.pair.to.model);
        let objects = from.struct_of(source).zip(to.struct_of(target));
        conversion.losses.certain
            || objects.is_some_and(|(object, other)| other.members.iter().any(|member| !object.declares(&member.name)))
    }
}
