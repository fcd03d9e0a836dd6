//! The description of an extension, as its crate has it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::source::import;
use crate::model::ModelledExtension;

/// The file with the description.
pub(super) fn extension_file(extension: &ModelledExtension) -> String {
    let (id, of) = (&extension.declared.id, extension.declared.of.as_str());
    let mut imports = BTreeSet::from(["Extension"]);
    let mut rows = String::new();
    // Names of definitions were checked when the model was built.
    let definition = |name: &String| &extension.own.model.definitions[name].pointer;
    if !extension.results.is_empty() {
        imports.insert("AddedResult");
        rows += "    .results(&[\n";
        for added in &extension.results {
            let (method, kind) = (&added.method, &added.kind);
            let definition = definition(&added.definition);
            let _ = writeln!(
                rows,
                "        AddedResult {{ method: {method:?}, kind: {kind:?}, definition: {definition:?} }},"
            );
        }
        rows += "    ])\n";
    }
    if extension.headers().next().is_some() {
        imports.insert("RepeatedParameter");
        rows += "    .headers(&[\n";
        for (header, methods) in extension.headers() {
            for (method, parameter) in methods {
                let _ = writeln!(
                    rows,
                    "        RepeatedParameter {{ header: {header:?}, method: {method:?}, parameter: {parameter:?} }},"
                );
            }
        }
        rows += "    ])\n";
    }
    if !extension.meta.is_empty() {
        imports.insert("MetaMember");
        rows += "    .meta(&[\n";
        for entry in &extension.meta {
            let (member, definition) = (&entry.member, definition(&entry.definition));
            for of in entry.of.iter() {
                let _ = writeln!(
                    rows,
                    "        MetaMember {{ of: {of:?}, member: {member:?}, definition: {definition:?} }},"
                );
            }
        }
        rows += "    ])\n";
    }
    if let Some(settings) = &extension.settings {
        let _ = writeln!(rows, "    .settings({:?})", definition(settings));
    }
    let imports = imports.into_iter().map(str::to_owned).collect();
    let of_crate = ["METHODS", "SCHEMA"].map(str::to_owned).into();
    let (imports, own) = (import("mcp_wire", &imports), import("crate", &of_crate));
    let rows = rows.trim_end();
    let separator = if rows.is_empty() { "" } else { "\n" };
    let core = match extension.core {
        Some(_) => {
            "\n\n/// How revisions of the protocol whose core has what the extension has say it: names by their roles, as JSON.\n\
             pub const CORE: &str = include_str!(\"../core.json\");"
        }
        None => "",
    };
    format!(
        "//! The extension as a whole.\n\n{imports}\n{own}\n/// What a peer of the extension needs to know.\n\
         pub const EXTENSION: Extension = Extension::new({id:?}, {of:?}, METHODS, &SCHEMA){separator}{rows};{core}"
    )
}
