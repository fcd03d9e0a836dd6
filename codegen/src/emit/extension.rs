//! The description of an extension in its crate.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::source::import;
use crate::load::Extends;
use crate::model::ModelledRevision;

/// Returns the template's values for the file with the description.
pub(super) fn values(revision: &ModelledRevision, extension: &Extends) -> Value {
    let overlay = &revision.overlay;
    // Names of definitions were checked when the model was built.
    let definition = |name: &String| &revision.model.definitions[name].pointer;
    let results = revision.results.iter().map(|added| {
        let (method, kind, definition) = (&added.method, &added.kind, definition(&added.definition));
        format!("AddedResult {{ method: {method:?}, kind: {kind:?}, definition: {definition:?} }}")
    });
    let headers = revision.headers().flat_map(|(header, methods)| {
        methods.iter().map(move |(method, parameter)| {
            format!("RepeatedParameter {{ header: {header:?}, method: {method:?}, parameter: {parameter:?} }}")
        })
    });
    let meta = overlay.meta.iter().flat_map(|entry| {
        let (member, definition) = (&entry.member, definition(&entry.definition));
        let of = entry.of.iter();
        of.map(move |of| format!("MetaMember {{ of: {of:?}, member: {member:?}, definition: {definition:?} }}"))
    });
    let tables: [(&str, &str, Vec<String>); 3] = [
        ("AddedResult", "results", results.collect()),
        ("RepeatedParameter", "headers", headers.collect()),
        ("MetaMember", "meta", meta.collect()),
    ];
    let tables = tables.iter().filter(|(.., rows)| !rows.is_empty());
    let imports = tables.clone().map(|(ty, ..)| *ty).chain(["Extension"]);
    let imports: BTreeSet<String> = imports.map(str::to_owned).collect();
    let tables = tables.map(|(_, name, rows)| json!({"name": name, "rows": rows}));
    json!({
        "imports": import("mcp_wire", &imports),
        "id": format!("{:?}", extension.declared.id),
        "of": format!("{:?}", extension.declared.of.as_str()),
        "tables": tables.collect::<Vec<_>>(),
        "settings": overlay.settings.as_ref().map(|settings| format!("{:?}", definition(settings))),
        "has_core": overlay.core.is_some(),
    })
}
