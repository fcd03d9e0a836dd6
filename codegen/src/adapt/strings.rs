//! Plans the conversion of each value of an enumeration.

use serde_json::{Map, json};

use super::plan::Conversion;
use super::planner::Planner;
use super::rules::Action;
use crate::model::TypeRef;

/// The note about a value of an enumeration that the target's enumeration doesn't have.
pub(crate) const UNDECLARED_VALUE: &str = "the value: the target doesn't declare it";

impl Planner<'_> {
    /// Plans the values of an enumeration that the target's enumeration doesn't have.
    pub(super) fn plan_strings(
        &mut self,
        (source, values): (&TypeRef, &[String]),
        (target, others): (&TypeRef, &[String]),
    ) -> Conversion {
        let name = self.pair.from.name(source);
        let closed = self.pair.to.is_enumeration(target);
        let (mut lossy, mut row) = (false, Map::new());
        for value in values.iter().filter(|value| !others.contains(value)) {
            let place = format!("{name}[{value}]");
            let new = self.pair.renamed_value((source, value), target);
            if let Some((index, new)) = new.filter(|(_, new)| others.iter().any(|other| other == new)) {
                self.ruled(&place, "renamed", index);
                row.insert(value.clone(), json!(new));
            } else if closed {
                lossy = true;
                match self.rule(&place) {
                    Some((index, action @ Action::Replace(new))) => {
                        self.ruled(&place, &action.word(), index);
                        let checked = self.pair.can_hold(None, new, target);
                        self.check_arguments(index, checked);
                        let rule = self.pair.rule_name(index);
                        row.insert(value.clone(), json!({"replace": new, "rule": rule}));
                    }
                    Some((index, other)) => self.wrong_action(index, other, "a value of an enumeration"),
                    None => self.refused(&place, UNDECLARED_VALUE),
                }
            }
        }
        // A value that the source refuses too is passed on: it was never valid, and the conversion shouldn't
        // hide that.
        let closed = closed && !self.pair.from.is_enumeration(source);
        if closed {
            self.refused(&name, "a value that neither side declares: the target allows no other");
        }
        let row = (!row.is_empty()).then(|| ("strings", json!(row)));
        Conversion {
            row,
            ..Conversion::implied(closed || lossy)
        }
    }
}
