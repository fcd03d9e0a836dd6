//! Results and facts that later revisions inherit from the overlay of an earlier one.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::load::{Document, Format, Revision};
use crate::model::{Model, ModelledRevision};
use crate::overlay::{Overlay, ResultOf};

/// The overlay of a revision, with the results that so far only the previous revision's overlay declares.
pub(super) struct Inherited {
    pub(super) text: String,
    pub(super) document: Document,
    /// The methods whose results these are.
    pub(super) methods: Vec<String>,
}

/// Adds to the text of a revision's overlay the results that it inherits from the previous one's. `None` if there are none,
/// or if they can't be inserted into the text.
pub(super) fn with_results_of(earlier: &Overlay, own: &ModelledRevision, text: &str) -> Option<Inherited> {
    let entries = entries(earlier, own);
    let last = entries.len().checked_sub(1)?;
    let text = with_entries(text, &entries);
    let document = Document::parse(own.documents.overlay.file(), text.as_bytes(), Format::Yaml).ok()?;
    document.get(&format!("#/results/{last}"))?;
    Some(Inherited {
        text,
        document,
        methods: entries.into_iter().flat_map(|entry| entry.methods.0).collect(),
    })
}

/// Returns the entries of an earlier overlay about results, for the methods that have the same results in this
/// revision.
fn entries(earlier: &Overlay, own: &ModelledRevision) -> Vec<ResultOf> {
    let is_own = |method: &String| own.overlay.results.iter().any(|entry| entry.methods.contains(method));
    let entries = earlier.results.iter().filter_map(|entry| {
        let definitions: Vec<&str> = entry.definitions().map(String::as_str).collect();
        let mut entry = entry.clone();
        let methods = &mut entry.methods.0;
        methods.retain(|method| !is_own(method) && results_in(&own.model, method).as_ref() == Some(&definitions));
        (!methods.is_empty()).then_some(entry)
    });
    entries.collect()
}

/// Returns the official names of the results of a method.
fn results_in<'m>(model: &'m Model, method: &str) -> Option<Vec<&'m str>> {
    let results = model.method(method)?.results.iter().map(|result| {
        let pointer = &model.types.get(result.named()?)?.pointer;
        pointer.rsplit('/').next()
    });
    results.collect()
}

/// Adds entries about results to the text of an overlay.
fn with_entries(text: &str, entries: &[ResultOf]) -> String {
    const SECTION: &str = "\nresults:\n";
    let lines = |indent: &str| -> String {
        entries
            .iter()
            .map(|entry| format!("{indent}- {}\n", json!(entry)))
            .collect()
    };
    match text.split_once(SECTION) {
        Some((before, after)) => {
            let indent = &after[..after.len() - after.trim_start_matches(' ').len()];
            format!("{before}{SECTION}{}{after}", lines(indent))
        }
        None => format!("{}\n{SECTION}{}", text.trim_end(), lines("  ")),
    }
}

/// Describes the facts that revisions lose when an overlay is removed, in a sentence for the first revision that loses
/// them. Later ones can inherit them from that one.
pub(super) fn lost_facts(
    withdrawn: &Revision,
    before: &[Arc<ModelledRevision>],
    after: &[Arc<ModelledRevision>],
) -> Vec<String> {
    let mut known = BTreeSet::new();
    let sentences = after.iter().filter_map(|after| {
        let revision = &after.entry().revision;
        let before = before.iter().find(|before| before.entry().revision == *revision)?;
        let mut facts = changed_facts(before, after);
        facts.retain(|(name, _)| known.insert(name.clone()));
        let lines: Vec<String> = facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        (!lines.is_empty()).then(|| {
            format!(
                "{revision} had these facts from {withdrawn}; put them under `facts` in its overlay.yaml: {}",
                lines.join(", ")
            )
        })
    });
    sentences.collect()
}

/// Returns the earlier values of the facts that have changed.
fn changed_facts(before: &ModelledRevision, after: &ModelledRevision) -> Vec<(String, Value)> {
    let facts = |revision: &ModelledRevision| serde_json::to_value(&revision.facts).unwrap_or_default();
    let (before, after) = (facts(before), facts(after));
    let facts = before.as_object().into_iter().flatten();
    let changed = facts.filter(|(name, value)| after.get(name) != Some(value));
    changed.map(|(name, value)| (name.clone(), value.clone())).collect()
}
