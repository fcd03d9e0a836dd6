//! Report of the plans for reviewers: what is automatic, what a rule covers, and what is refused.

use serde::Serialize;
use serde_json::json;

use super::Plan;
use crate::error::EmitError;
use crate::templates::render;

/// An entry of the report: a value that isn't simply copied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Note {
    #[serde(skip)]
    pub(crate) kind: NoteKind,
    pub(crate) at: String,
    pub(crate) what: String,
}

/// The reason for what happens to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NoteKind {
    /// The two schemas imply it.
    Automatic,
    /// A rule requires it.
    Rule,
    /// There is no conversion: a value of this kind is refused.
    Refused,
}

/// Writes the plans as a Markdown document.
pub(crate) fn report<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Result<String, EmitError> {
    let plans = plans.into_iter().map(|plan| {
        let sections = [
            ("Automatic", NoteKind::Automatic),
            ("By rule", NoteKind::Rule),
            ("Refused", NoteKind::Refused),
        ];
        let sections = sections.map(|(title, kind)| {
            let notes = plan.notes.iter().filter(|note| note.kind == kind);
            json!({"title": title, "notes": Vec::from_iter(notes)})
        });
        json!({"from": plan.from, "to": plan.to, "pairs": plan.conversions.len(), "sections": sections})
    });
    render("documents/adapters.md", json!({"plans": Vec::from_iter(plans)}))
}
