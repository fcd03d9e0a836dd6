//! Translation between any two revisions.
//!
//! The first line of an input has the two revisions and the name of a definition; the rest is JSON.

use mcp_adapters::mcp_wire::Path;
use mcp_adapters::mcp_wire::path::Segment;
use mcp_adapters::{Conversion, Policy, Revision, TranslateError, session_messages, translatable, translate};
use mcp_instances::Instance;
use serde_json::{Value, json};

use super::{header, revision};
use crate::{compare_by_trees, corrected, definition};

pub fn check(input: &[u8]) {
    let Some((words, json)) = header(input) else { return };
    let [from, to, name] = words[..] else { return };
    let (Some(from), Some(to)) = (revision(from), revision(to)) else {
        return;
    };
    let source = definition(from, name).and_then(|definition| definition.decode(json).ok());
    let is_valid = source.is_some_and(|instance| instance.validate().is_ok());
    for policy in [Policy::Conform, Policy::Carry] {
        let known = session_messages::supply(to.as_str(), json!({}).into(), None);
        let conversion = Conversion::new(policy).supplied_with(known);
        assert_eq!(compare_by_trees((from, to), name, json, &conversion), Ok(()));
        let Ok(there) = translate(from, to, name, json, policy) else {
            continue;
        };
        let text = there.value.text().as_bytes();
        let target = definition(to, there.definition).map(|definition| definition.decode(text));
        if let (Some(Ok(instance)), true, Policy::Conform) = (target, is_valid, policy) {
            let validated = instance.validate();
            assert!(
                validated.is_ok(),
                "an invalid translation: {validated:?} in {}",
                there.value.text()
            );
        }
        let back = translate(to, from, there.definition, text, policy);
        let is_refused = |error: &TranslateError| !declares(from, name, &error.path());
        assert!(
            back.is_ok()
                || !is_valid
                || !there.losses.is_empty()
                || there.definition != name
                || back.as_ref().is_err_and(is_refused),
            "a value translated without a loss can't be translated back: {back:?}"
        );
    }
}

/// Whether the definition declares the member at a path. An undeclared member can have a meaning in the other revision,
/// so translating it back can fail.
fn declares(revision: Revision, name: &str, path: &Path) -> bool {
    let [Segment::Member(member)] = path.segments() else {
        return true;
    };
    let pointer = definition(revision, name).map(|definition| definition.pointer);
    let schema: Value = serde_json::from_str(revision.schema().text()).unwrap();
    let declared = pointer.and_then(|pointer| schema.pointer(&format!("{}/properties/{member}", &pointer[1..])));
    declared.is_some()
}

/// An instance of each definition for each pair of revisions.
pub fn seeds() -> Vec<Vec<u8>> {
    let of = |from: Revision| {
        let instances = corrected(from);
        let made = translatable(from).flat_map(move |name| instances.of(name, 1, 1));
        let to_each = |made: Instance| Revision::ALL.map(|to| (made.definition.clone(), made.value.clone(), to));
        let pairs = made.flat_map(to_each).filter(move |(_, _, to)| *to != from);
        pairs.map(move |(name, value, to)| format!("{from} {to} {name}\n{value}").into_bytes())
    };
    Revision::ALL.into_iter().flat_map(of).collect()
}
