//! Since when a type, a member or a method is there, and what changed in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::adapt::Plans;
use crate::diff::{Change, ChangeKind, Diff, Pair, Subject, name_of};
use crate::model::{MessageKind, Model, ModelledRevision, Type, TypeKind};

/// The revisions up to one, and what was which type in each.
pub(super) struct History<'i> {
    models: Vec<&'i Model>,
    diffs: &'i [Diff],
    /// For each revision but the first, the earlier Rust name of each of its types that the revision before has too.
    earlier: Vec<BTreeMap<&'i str, &'i str>>,
}

/// A type in one revision.
#[derive(Clone, Copy)]
pub(super) struct Ancestor<'i> {
    pub(crate) model: &'i Model,
    pub(crate) ty: &'i Type,
    /// What changed since the revision before, if that has the type too.
    diff: Option<&'i Diff>,
}

impl<'i> History<'i> {
    pub(super) fn none(model: &'i Model) -> Self {
        Self {
            models: vec![model],
            diffs: &[],
            earlier: Vec::new(),
        }
    }

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

    /// The same type in this and each earlier revision, from the latest to the one that it is there since.
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

    /// The revision since which a method is there, and what changed in it.
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
    /// What changed since the revision before in this place of the type, or within it.
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
            TypeKind::Strings { values, .. } => values.iter().any(|value| value == name),
            _ => false,
        }
    }
}

/// Since when the type is there, by which names, and what changed in it as a whole.
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

/// Since when a member or a value is there, if that is later than its type, and what changed in it.
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

/// The revision with what changed in it, and a link to the page about all of its changes; nothing if nothing did.
fn event(diff: &Diff, changes: impl Iterator<Item = String>) -> Option<String> {
    let changes: Vec<String> = changes.collect();
    let link = || format!("[{}]({})", diff.to, changes_page(diff));
    (!changes.is_empty()).then(|| format!("{}: {}", link(), changes.join(", ")))
}

/// The page about a diff, seen from a page of the reference.
pub(super) fn changes_page(diff: &Diff) -> String {
    format!("../changes/{}_{}.md", diff.from, diff.to)
}
