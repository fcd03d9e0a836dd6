//! What is automatic, what a rule covers and what is refused, to be read and reviewed as text.

use std::fmt::Write as _;

use super::Plan;
use crate::markdown::{cell, table};

/// Something that isn't simply moved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Note {
    pub(crate) kind: NoteKind,
    pub(crate) at: String,
    pub(crate) what: String,
}

/// Who decides what happens to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NoteKind {
    /// The two schemas imply it.
    Automatic,
    /// A rule says so.
    Rule,
    /// Nobody can: a value of this kind is refused.
    Refused,
}

/// The plans as a Markdown document; each pair with the way up first.
pub(crate) fn report<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> String {
    let mut text = String::from(
        "# Conversions between revisions\n\nWhat is written below is all that happens besides moving: members that \
         both revisions declare are moved, and so are\nundeclared ones. A loss is recorded wherever a value is dropped \
         or replaced; what is refused is an error with a path\nand a JSON-RPC code.\n\nAn undeclared member that the \
         target declares becomes that member, or is dropped where the target would find it\ninvalid; so is one in an open \
         object. A method that only the target has is refused: the peer's revision doesn't have it.\n\
         Bounds are compared at members: those of a list's elements are left to the\n\
         validation of the message.\n",
    );
    for plan in plans {
        // Writing to a string can't fail.
        let _ = write!(
            text,
            "\n## {} to {}\n\n{} pairs of types.\n",
            plan.from,
            plan.to,
            plan.conversions.len()
        );
        for (kind, title) in [
            (NoteKind::Automatic, "Automatic"),
            (NoteKind::Rule, "By rule"),
            (NoteKind::Refused, "Refused"),
        ] {
            let notes = plan.notes.iter().filter(|note| note.kind == kind);
            let table = table(
                ["Where", "What"],
                notes.map(|note| [format!("`{}`", note.at), cell(&note.what)]),
            );
            if !table.is_empty() {
                let _ = write!(text, "\n### {title}\n{table}");
            }
        }
    }
    text
}
