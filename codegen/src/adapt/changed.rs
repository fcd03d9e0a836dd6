//! What the target's schema says beyond its types of a value that the conversion may change. It needn't hold any more, also where both
//! schemas say it: an object with fewer members may have too few, and elements that have lost a member may be the same.

use super::planner::{Conversion, Pair, Planner};
use super::rows::{Check, Row};

/// What the report says of them.
const REFUSED: &str = "a value that the target's schema refuses once something in it is changed";

impl Planner<'_> {
    /// Has such values validated.
    pub(super) fn validate_changed(&mut self) {
        let changed = self.pairs_where(|pair, conversion| self.may_change(pair, conversion));
        let (mut types, mut members) = (Vec::new(), Vec::new());
        for (pair, conversion) in &self.planned {
            let (source, target) = pair;
            let (from, to) = (self.pair.from, self.pair.to);
            if !conversion.narrower && changed.contains(pair) && to.asserts(target) {
                types.push(pair.clone());
            }
            let objects = from.model.struct_of(source).zip(to.model.struct_of(target));
            let (Some((object, other)), Row::Object(row)) = (objects, &conversion.row) else {
                continue;
            };
            for member in &other.members {
                let planned = row.members.get(&member.name);
                let name = planned
                    .and_then(|planned| planned.from.as_ref())
                    .unwrap_or(&member.name);
                let is_checked = planned.is_some_and(|planned| planned.check.is_some() || planned.action.is_some());
                let Some(own) = object.member(name).filter(|_| !is_checked) else {
                    continue;
                };
                let schema = to.member_schema(&self.pair.name(to, target), &member.name);
                let schema = schema.filter(|schema| !schema.assertions.is_empty());
                if let Some(schema) = schema.filter(|_| self.is_among(&own.ty, &member.ty, &changed)) {
                    let at = schema.pointers().map(str::to_owned).collect();
                    members.push((pair.clone(), member.name.clone(), Check { at, drop: None }));
                }
            }
        }
        for pair in types {
            self.refused(&self.pair.name(self.pair.from, &pair.0), REFUSED);
            self.planned
                .entry(pair)
                .and_modify(|conversion| conversion.narrower = true);
        }
        for (pair, member, check) in members {
            self.refused(
                &format!("{}.{member}", self.pair.name(self.pair.from, &pair.0)),
                REFUSED,
            );
            if let Some(Row::Object(row)) = self.planned.get_mut(&pair).map(|conversion| &mut conversion.row) {
                row.members.entry(member).or_default().check = Some(check);
            }
        }
    }

    /// Whether a conversion may change a value, whatever that is made of. A member that only the target declares may be dropped, or have
    /// another name.
    fn may_change(&self, (source, target): &Pair, conversion: &Conversion) -> bool {
        let (from, to) = (self.pair.from.model, self.pair.to.model);
        let objects = from.struct_of(source).zip(to.struct_of(target));
        conversion.losses.certain
            || objects.is_some_and(|(object, other)| other.members.iter().any(|member| !object.declares(&member.name)))
    }
}
