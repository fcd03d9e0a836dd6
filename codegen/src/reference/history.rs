//! History of types, members and methods: the revision that introduced each, and its changes since.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::adapt::Plans;
use crate::diff::{Change, ChangeKind, Diff, Pair, Subject, name_of};
use crate::model::{MessageKind, Model, ModelledRevision, Type, TypeKind};

/// The revisions up to one, and the name of each type in each of them.
pub(super) struct History<'i> {
    models: Vec<&'i Model>,
    /// For each revision but the first, the changes since the one before.
    pub(super) diffs: &'i [Diff],
    /// For each revision but the first, the earlier Rust name of each of its types that the revision before has too.
    earlier: Vec<BTreeMap<&'i str, &'i str>>,
}

/// A type in one revision.
#[derive(Clone, Copy)]
pub(super) struct Ancestor<'i> {
    pub(crate) model: &'i Model,
    pub(crate) ty: &'i Type,
    /// The changes since the revision before, if that has the type too.
    diff: Option<&'i Diff>,
}

impl<'i> History<'i> {
    pub(super) fn new(revisions: &'i [Arc<ModelledRevision>], plans: &'i [Plans], diffs: &'i [Diff]) -> Self {
        let pairs = revisions.iter().zip(revisions.iter().skip(1)).zip(plans);
        let pairs =
            pairs.map(|((earlier, later), plans)| Pair::new(&earlier.model, &later.model, &plans[0]).earlier_names());
        Self {
            models: revisions.iter().map(|revision| &revision.model).collect(),
            diffs,
            earlier: pairs.collect(),
        }
    }

    /// Returns a type in this and all earlier revisions that have it, the latest first.
    pub(super) fn of_type(&self, name: &str) -> Vec<Ancestor<'i>> {
        let mut ancestors = Vec::new();
        let mut name = Some(name);
        for (index, model) in self.models.iter().enumerate().rev() {
            let Some(ty) = name.and_then(|name| model.types.get(name)) else {
                break;
            };
            let before = index.checked_sub(1);
            name = before.and_then(|before| self.earlier[before].get(name?).copied());
            ancestors.push(Ancestor {
                model,
                ty,
                diff: before.filter(|_| name.is_some()).map(|before| &self.diffs[before]),
            });
        }
        ancestors
    }

    /// Describes which revision introduced a method, and its changes since.
    pub(super) fn of_method(&self, name: &str, kind: MessageKind) -> String {
        let has = |model: &&&Model| {
            let mut methods = model.methods.iter();
            methods.any(|method| method.name == name && method.kind == kind)
        };
        let models: Vec<_> = self.models.iter().rev().take_while(has).collect();
        let mut words = vec![models.last().map_or_else(String::new, |model| model.revision.clone())];
        let since = (self.diffs.len() + 1).saturating_sub(models.len());
        for diff in self.diffs.iter().skip(since) {
            let changes = diff.changes.iter();
            let changes = changes.filter(|change| change.subject == Subject::Method && change.name == name);
            words.extend(event(diff, changes.map(Change::description)));
        }
        words.join("; ")
    }
}

impl<'i> Ancestor<'i> {
    /// Returns the changes since the revision before at this place of the type, or inside it.
    fn changes(&self, place: &str) -> impl Iterator<Item = (&'i Change, &'i str)> + use<'i> {
        let whole = format!("{}{place}", name_of(self.ty));
        let changes = self.diff.into_iter().flat_map(|diff| &diff.changes);
        changes.filter_map(move |change| {
            let rest = change.name.strip_prefix(&whole)?;
            let is_here = rest.is_empty() || rest.starts_with('.');
            (change.subject == Subject::Type && is_here).then(|| (change, rest.trim_start_matches('.')))
        })
    }

    /// Whether the type has a member, or a value.
    fn has(&self, name: &str) -> bool {
        match &self.ty.kind {
            TypeKind::Struct(object) => object.declares(name),
            TypeKind::Strings(strings) => strings.values.iter().any(|value| value == name),
            _ => false,
        }
    }
}

/// Describes which revision introduced a type, its earlier names, and the changes of the type as a whole.
pub(super) fn of_whole(ancestors: &[Ancestor<'_>]) -> String {
    let since = ancestors.last().map(|first| format!("Since {}", first.model.revision));
    let renamed = ancestors.windows(2).filter_map(|pair| {
        let (name, before) = (&pair[0].ty.documented_as, name_of(pair[1].ty));
        let is_other = pair[0].ty.official && *name != before;
        is_other.then(|| format!("until {} `{before}`", pair[1].model.revision))
    });
    let changes = ancestors.iter().rev().filter_map(|ancestor| {
        let of_whole = ancestor.changes("").filter(|(_, inner)| inner.is_empty());
        event(ancestor.diff?, of_whole.map(|(change, _)| change.description()))
    });
    let words: Vec<String> = since.into_iter().chain(renamed).chain(changes).collect();
    words.join("; ")
}

/// Describes which revision introduced a member or a value, if that is later than its type, and its changes.
pub(super) fn of_member(ancestors: &[Ancestor<'_>], member: &str) -> String {
    let with: Vec<_> = ancestors.iter().take_while(|ancestor| ancestor.has(member)).collect();
    let is_later = with.len() < ancestors.len();
    let since = with.last().filter(|_| is_later);
    let since = since.map(|first| format!("since {}", first.model.revision));
    let changes = with.iter().rev().filter_map(|ancestor| {
        let changes = ancestor.changes(&format!(".{member}"));
        let changes = changes.filter(|(change, inner)| change.what != ChangeKind::Added || !inner.is_empty());
        let words = changes.map(|(change, inner)| match inner {
            "" => change.description(),
            inner => format!("`{inner}` {}", change.description()),
        });
        event(ancestor.diff?, words)
    });
    let words: Vec<String> = since.into_iter().chain(changes).collect();
    words.join("; ")
}

/// Describes the changes in a revision, with a link to the page about all of its changes; `None` if there are none.
fn event(diff: &Diff, changes: impl Iterator<Item = String>) -> Option<String> {
    let changes: Vec<String> = changes.collect();
    let link = || format!("[{}]({})", diff.to, changes_page(diff));
    (!changes.is_empty()).then(|| format!("{}: {}", link(), changes.join(", ")))
}

/// Returns the path of the page about a diff, relative to a page of the reference.
pub(super) fn changes_page(diff: &Diff) -> String {
    format!("../changes/{}_{}.md", diff.from, diff.to)
}
