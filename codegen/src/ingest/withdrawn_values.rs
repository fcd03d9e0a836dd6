//! Values of enumerations that a new revision doesn't have.

use std::collections::BTreeMap;

use super::renamed::{one_or_all, suggestion};
use crate::adapt::{NoteKind, Plan, UNDECLARED_VALUE};
use crate::model::ModelledRevision;
use crate::problem::Problem;

/// Returns a warning for each enumeration with values that a new revision doesn't have, since conversions refuse them.
pub(super) fn withdrawn_values(after: &ModelledRevision, [up, _]: &[Plan; 2]) -> Vec<Problem> {
    let notes = up.notes.iter();
    let refused = notes.filter(|note| note.kind == NoteKind::Refused && note.what == UNDECLARED_VALUE);
    let mut found = BTreeMap::<&str, (Vec<String>, Vec<String>)>::new();
    for note in refused {
        if let Some((name, value)) = note.at.split_once('[') {
            let (places, values) = found.entry(name).or_default();
            places.push(note.at.clone());
            values.push(format!("`{}`", value.trim_end_matches(']')));
        }
    }
    let warnings = found.into_iter().map(|(name, (places, values))| {
        let what = format!(
            "{} has no {} in {name}: conversions from {} refuse these values",
            up.to,
            values.join(", "),
            up.from
        );
        let condition = "if another value is right in their place";
        suggestion(after, what, condition, one_or_all(&places), "up: {replace: …}")
    });
    warnings.collect()
}
