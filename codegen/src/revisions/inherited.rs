//! Results and facts that later revisions inherit from the overlay of an earlier one.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::load::{Document, Format, Revision};
use crate::model::ModelledRevision;

/// The overlay of a revision, with the results that so far only the previous revision's overlay declares.
pub(super) struct Inherited {
    pub(super) text: String,
    pub(super) document: Document,
    /// The methods whose results these are.
    pub(super) methods: Vec<String>,
}

/// Adds to the overlay of a revision the results that it inherits from the previous one's. `None` if there are none, or
/// if they can't be inserted into the text.
pub(super) fn with_results_of(
    earlier: &Document,
    (own, text): (&Document, &str),
    modelled: &ModelledRevision,
) -> Option<Inherited> {
    let entries = entries(earlier, own, modelled);
    let last = entries.len().checked_sub(1)?;
    let methods = entries.iter().flat_map(|entry| names(&entry["method"]));
    let methods = methods.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    let text = with_entries(text, &entries);
    let document = Document::parse(own.file(), text.as_bytes(), Format::Yaml).ok()?;
    document.get(&format!("#/results/{last}"))?;
    Some(Inherited {
        text,
        document,
        methods,
    })
}

/// Returns the entries of an earlier overlay about results, for the methods that have the same results in this
/// revision.
fn entries(earlier: &Document, own: &Document, modelled: &ModelledRevision) -> Vec<Value> {
    let own: Vec<&Value> = results(own).iter().flat_map(|entry| names(&entry["method"])).collect();
    let entries = results(earlier).iter().filter_map(|entry| {
        let definitions = [names(&entry["result"]), names(&entry["alternatives"])].concat();
        let mut methods = names(&entry["method"]).to_vec();
        methods.retain(|method| !own.contains(&method) && results_in(modelled, method).as_ref() == Some(&definitions));
        if methods.is_empty() {
            return None;
        }
        let mut entry = entry.clone();
        entry["method"] = json!(methods);
        Some(entry)
    });
    entries.collect()
}

fn results(overlay: &Document) -> &[Value] {
    overlay.get("#/results").map_or(&[], names)
}

/// Returns the elements of a list, or the value itself; nothing for null.
fn names(value: &Value) -> &[Value] {
    match value {
        Value::Array(names) => names,
        Value::Null => &[],
        name => std::slice::from_ref(name),
    }
}

/// Returns the official names of the results of a method.
fn results_in(modelled: &ModelledRevision, method: &Value) -> Option<Vec<Value>> {
    let method = modelled.model.method(method.as_str()?)?;
    let results = method.results.iter().map(|result| {
        let pointer = &modelled.model.types.get(result.named()?)?.pointer;
        Some(json!(pointer.rsplit('/').next()?))
    });
    results.collect()
}

/// Adds entries about results to the text of an overlay.
fn with_entries(text: &str, entries: &[Value]) -> String {
    const SECTION: &str = "\nresults:\n";
    let lines = |indent: &str| -> String { entries.iter().map(|entry| format!("{indent}- {entry}\n")).collect() };
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
