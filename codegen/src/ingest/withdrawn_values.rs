//! Values of enumerations, and variants of unions, that a new revision doesn't have.

use std::collections::BTreeMap;

use super::renamed::{one_or_all, suggestion};
use crate::adapt::{NO_VARIANT, NoteKind, Plan, UNDECLARED_VALUE};
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
        replaceable(after, what, &places)
    });
    warnings.collect()
}

/// Returns a warning for each variant that a new revision doesn't have, since conversions refuse its values.
///
/// Variants that are named by their types are results, which conversions don't refuse before their requests.
pub(super) fn withdrawn_variants([before, after]: [&ModelledRevision; 2], [up, _]: &[Plan; 2]) -> Vec<Problem> {
    let notes = up.notes.iter();
    let refused = notes.filter(|note| note.kind == NoteKind::Refused && note.what == NO_VARIANT);
    let mut found = BTreeMap::<&str, (Vec<&str>, Vec<String>)>::new();
    for note in refused {
        let variant = note.at.strip_suffix(']').and_then(|at| at.split_once('['));
        if let Some((union, variant)) = variant.filter(|(_, variant)| !before.model.types.contains_key(*variant)) {
            let (unions, places) = found.entry(variant).or_default();
            unions.push(union);
            places.push(note.at.clone());
        }
    }
    let warnings = found.into_iter().map(|(variant, (unions, places))| {
        let what = format!(
            "{} has no variant `{variant}` of {}: conversions from {} refuse its values",
            up.to,
            unions.join(", "),
            up.from
        );
        replaceable(after, what, &places)
    });
    warnings.collect()
}

/// Returns a warning of refused values, with the rule that replaces them.
fn replaceable(after: &ModelledRevision, what: String, places: &[String]) -> Problem {
    let condition = "if another value is right in their place";
    suggestion(after, what, condition, one_or_all(places), "up: {replace: …}")
}
