//! The changes between two revisions, from their models, and what the adapters do about them.

mod change;
mod facts;
mod methods;
mod pair;
mod place;
mod render;
mod types;

use crate::adapt::{Note, NoteKind, Plan};
use crate::model::ModelledRevision;

pub use self::change::{Change, ChangeKind, Compatibility, Diff, Subject};
pub(crate) use methods::direction;
pub(crate) use pair::Pair;
pub(crate) use place::{describe_type, name_of, way_to};

/// Compares two revisions. `plans` are the conversions up and down between them.
pub(crate) fn diff(earlier: &ModelledRevision, later: &ModelledRevision, plans: &[Plan; 2], ruled: bool) -> Diff {
    let pair = Pair::new(&earlier.model, &later.model, &plans[0]);
    let mut changes = methods::changes(&pair);
    changes.extend(types::changes(&pair));
    changes.extend(methods::error_codes(&pair));
    changes.extend(facts::changes(earlier, later));
    for change in &mut changes {
        describe_conversions(change, plans);
    }
    changes.sort_by(|a, b| (a.subject, &a.name).cmp(&(b.subject, &b.name)));
    changes.dedup();
    let deprecated = later.model.deprecated.iter();
    let deprecated = deprecated.filter(|entry| entry.since == later.model.revision);
    Diff {
        from: earlier.model.revision.clone(),
        to: later.model.revision.clone(),
        ruled,
        summary: match ruled {
            true => later.model.summary.clone(),
            // The summary compares with the revision before, which `earlier` may not be.
            false => Vec::new(),
        },
        changes,
        deprecated: deprecated.cloned().collect(),
    }
}

/// Adds to a change what the adapters do about it, from the notes of the plans. A member or value without a note is
/// moved.
fn describe_conversions(change: &mut Change, plans: &[Plan; 2]) {
    let [up, down] = [(0, ChangeKind::Loosened), (1, ChangeKind::Tightened)].map(|(direction, fitting)| {
        // A type that is in several places may be refused in another one, but not here, where all of its values fit.
        let fits = change.what == fitting;
        let notes = plans[direction].notes.iter();
        let notes = notes.filter(|note| is_about(note, &change.planned_as));
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
