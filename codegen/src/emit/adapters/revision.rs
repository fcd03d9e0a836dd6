//! The type of revisions.

use std::collections::BTreeSet;

use super::input::AdaptersInput;
use super::names::{module_name, variant_name};
use crate::emit::source;
use crate::model::Model;

/// The types that each revision has to have for peers to describe themselves.
const PEER_TYPES: [&str; 3] = ["ClientCapabilities", "ServerCapabilities", "Implementation"];

/// Whether sessions can be held in each revision.
pub(super) fn has_peer_types(input: &AdaptersInput<'_>) -> bool {
    let has_types = |model: &Model| PEER_TYPES.iter().all(|name| model.types.contains_key(*name));
    input.revisions.iter().all(|revision| has_types(revision.model))
}

/// The file of the type of revisions.
pub(super) fn revisions(input: &AdaptersInput<'_>, header: &str) -> String {
    let mut table = table(input);
    let mut used = BTreeSet::from(["revisions".to_owned()]);
    if has_peer_types(input) {
        table += "\npeer_types!(Revision: hub);\n";
        used.insert("peer_types".to_owned());
    }
    let imports = source::import("mcp_convert", &used) + &input.imports(&table, &["hub"]);
    let title = "//! The revisions by name and in order.".to_owned();
    let schemas = input.revisions.iter().filter(|revision| !input.is_hub(revision)).map(|revision| {
        let name = &revision.model.revision;
        format!(
            "{}    pub(super) static {}: mcp_wire::Schema = mcp_wire::Schema::new({name:?}, include_str!(\"../schemas/{name}.json\"));\n",
            input.cfg(revision, "    "),
            schema_name(name),
        )
    });
    let schemas: String = schemas.collect();
    let schemas = match schemas.is_empty() {
        true => String::new(),
        false => format!(
            "/// The schemas of the revisions whose types this crate doesn't need.\nmod schemas {{\n{schemas}}}\n"
        ),
    };
    source::file(header, [title, imports, schemas, table, definitions(input)])
}

/// The function for the definitions of a revision, which needs the type crates.
fn definitions(input: &AdaptersInput<'_>) -> String {
    let arms = input.revisions.iter().map(|revision| {
        let (variant, module) = (revision.variant(), &revision.module);
        format!("            Self::{variant} => crate::{module}::definitions::DEFINITIONS,\n")
    });
    let arms: String = arms.collect();
    format!(
        "#[cfg(feature = \"definitions\")]\nimpl Revision {{\n    /// The definitions of the revision's schema by name; none for a loaded revision.\n    \
         #[must_use]\n    pub const fn definitions(self) -> &'static [mcp_wire::Definition] {{\n        match self {{\n{arms}            _ => &[],\n        }}\n    \
         }}\n}}\n"
    )
}

/// The name of the constant with the schema of a revision.
fn schema_name(revision: &str) -> String {
    module_name(revision).to_ascii_uppercase()
}

fn table(input: &AdaptersInput<'_>) -> String {
    let latest = input.revisions.last().map(|revision| revision.variant().to_string());
    let (latest, hub) = (latest.unwrap_or_default(), variant_name(input.hub));
    let rows = input.revisions.iter().enumerate().map(|(index, revision)| {
        let (variant, name) = (revision.variant(), &revision.model.revision);
        let schema = match input.is_hub(revision) {
            true => "&hub::SCHEMA".to_owned(),
            false => format!("&schemas::{}", schema_name(name)),
        };
        let cfg = input.cfg(revision, "    ");
        let table = format!("include_str!(\"../tables/{name}.json\")");
        format!("{cfg}    {index} {variant} = {name:?}: {table}, {schema};\n")
    });
    let rows: String = rows.collect();
    format!("revisions! {{\n    Revision: latest {latest}, hub {hub}\n{rows}}}\n")
}
