//! What the adapters do about a change, from the notes of the plans.

use super::change::{Change, ChangeKind, Subject};
use crate::adapt::{Note, NoteKind, Plan};

pub(super) struct Adapters<'p> {
    plans: &'p [Plan; 2],
}

impl<'p> Adapters<'p> {
    pub(super) fn new(plans: &'p [Plan; 2]) -> Self {
        Self { plans }
    }

    /// Puts what the plans note beside a change. What they don't note is moved.
    pub(super) fn describe(&self, change: &mut Change) {
        let mut upward = true;
        let [up, down] = self.plans.each_ref().map(|plan| {
            // A type that is in several places may be refused in another one, but not where all of its values fit.
            let fits = change.what
                == if upward {
                    ChangeKind::Loosened
                } else {
                    ChangeKind::Tightened
                };
            upward = false;
            let notes = plan.notes.iter().filter(|note| is_about(note, &change.planned_as));
            let notes = notes.filter(|note| !fits || note.kind != NoteKind::Refused);
            let mut notes: Vec<String> = notes.map(describe).collect();
            notes.dedup();
            if notes.is_empty() && change.subject == Subject::Type {
                notes.push("moved".into());
            }
            notes
        });
        (change.up, change.down) = (up, down);
    }
}

/// Whether a note is about one of these names: itself, a variant of it, or it as a variant or an error of something.
fn is_about(note: &Note, names: &[String]) -> bool {
    names.iter().any(|name| {
        let rest = note.at.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
            || note.at.ends_with(&format!("[{name}]"))
            || note.at.ends_with(&format!(" {name}"))
    })
}

fn describe(note: &Note) -> String {
    match note.kind {
        NoteKind::Automatic => note.what.clone(),
        NoteKind::Rule => {
            let action = note.what.split(':').next().unwrap_or_default();
            format!("by rule: {action}")
        }
        NoteKind::Refused => format!("refused: {}", note.what),
    }
}
