//! The description of an extension, in its crate and in its reference.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::input::EmitInput;
use super::source::import;
use crate::load::Extension;
use crate::model::ModelledRevision;

/// Returns how peers declare an extension, and what it adds to messages of the protocol. `definition` describes the
/// definition of a name.
pub(crate) fn describe_extension(
    revision: &ModelledRevision,
    extension: &Extension,
    definition: impl Fn(&String) -> Value,
) -> Value {
    let overlay = &revision.overlay;
    let results = revision.results.iter();
    let results = results
        .map(|added| json!({"method": added.method, "kind": added.kind, "definition": definition(&added.definition)}));
    let mirrors = revision.facts.mirrors.iter();
    let headers = mirrors
        .flat_map(|mirrors| &mirrors.params)
        .flat_map(|(header, methods)| {
            let methods = methods.iter();
            methods.map(move |(method, parameter)| json!({"header": header, "method": method, "parameter": parameter}))
        });
    let meta = overlay.meta.iter().flat_map(|entry| {
        let definition = definition(&entry.definition);
        let of = entry.of.iter();
        of.map(move |of| json!({"of": of, "member": entry.member, "definition": definition}))
    });
    json!({
        "id": extension.id,
        "of": extension.of,
        "settings": overlay.settings.as_ref().map(&definition),
        "results": Vec::from_iter(results),
        "headers": Vec::from_iter(headers),
        "meta": Vec::from_iter(meta),
    })
}

/// Returns the template's values for the file with the description.
pub(super) fn values(input: &EmitInput<'_>, extension: &Extension) -> Value {
    // Names of definitions were checked when the model was built.
    let definition = |name: &String| json!(input.model().definitions[name].pointer);
    let mut values = describe_extension(input.revision, extension, definition);
    let rows = [
        ("results", "AddedResult"),
        ("headers", "RepeatedParameter"),
        ("meta", "MetaMember"),
    ];
    let rows = rows.iter().filter(|(table, _)| values[*table] != json!([]));
    let imports = rows.map(|(_, row)| *row).chain(["Extension"]);
    let imports: BTreeSet<String> = imports.map(str::to_owned).collect();
    values["imports"] = json!(import("mcp_wire", &imports));
    values["has_core"] = json!(input.revision.overlay.core.is_some());
    values
}
