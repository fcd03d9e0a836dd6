//! Results of a new revision whose kind the schema leaves open.

use mcp_json_schema::pointer;

use crate::model::{ModelledRevision, Union};
use crate::problem::{Problem, correction};

/// Returns a warning for each result of a method that has no value of the tag by which the method's other results are
/// distinguished: sessions don't know it.
pub(super) fn untagged_results(after: &ModelledRevision) -> Vec<Problem> {
    let model = &after.model;
    let mut warnings = Vec::new();
    for method in &model.methods {
        let union = method.result_union.as_ref().and_then(|union| model.union_of(union));
        let Some(tagged) = union.and_then(Union::tagged) else {
            continue;
        };
        let known: Vec<String> = tagged.variants.iter().map(|(_, value)| format!("`{value}`")).collect();
        let (tag, known) = (tagged.tag, known.join(" and "));
        for name in tagged.others.iter().filter_map(|other| other.named()) {
            let what = format!(
                "{}: the schema has no value of `{tag}` for {name}, a result of `{}`: sessions only know {known}",
                model.revision, method.name
            );
            let pointer = model.types.get(name).map_or("", |ty| &ty.pointer);
            let member = pointer::child(&pointer::child(pointer, "properties"), tag);
            let line = correction(&pointer::child(&member, "x-tag"), None, r#""…""#);
            let warning = Problem::new(after.documents.overlay.file(), what);
            warnings.push(warning.help(format!("add its value by {line}")));
        }
    }
    warnings
}
