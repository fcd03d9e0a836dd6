//! An official schema in the form in which it is stored.

use mcp_wire::json_schema::Dialect;
use serde_json::Value;

use super::change;
use super::inlined_messages::refer_to_messages;
use super::namespaces::flatten_groups;
use super::results::define_results;
use super::simplify::simplify;
use crate::load::{Document, Manifest, PROSE};

/// An official schema in the form in which it is stored.
pub(crate) struct Official {
    /// The schema, with aliases in place of external references.
    pub(crate) schema: Document,
    pub(crate) dialect: Dialect,
}

impl Official {
    /// Converts the schema to a dialect, if its own is an earlier one.
    pub(crate) fn in_dialect(self, dialect: Dialect) -> Self {
        if (self.dialect, dialect) != (Dialect::Draft07, Dialect::Draft202012) {
            return self;
        }
        let mut root = self.schema.root().clone();
        change::modernise(&mut root);
        Self {
            schema: self.schema.with_root(root).with_renamed("definitions", "$defs"),
            dialect,
        }
    }

    pub(crate) fn of(document: &Document, manifest: &Manifest, keep_prose: bool) -> Self {
        // An unknown dialect is reported by the check, together with all other problems.
        let dialect = Dialect::of(document.root()).unwrap_or(Dialect::Draft202012);
        let mut root = document.root().clone();
        change::remove_repeated_dialects(&mut root);
        change::replace_identifiers(&mut root);
        change::complete_references(&mut root);
        change::replace_aliases(&mut root, dialect, &manifest.aliases);
        change::remove_keywords(&mut root, manifest.annotations.iter().map(String::as_str));
        if !keep_prose {
            change::remove_keywords(&mut root, PROSE);
        }
        change::unwrap_single_types(&mut root);
        flatten_groups(&mut root);
        refer_to_messages(&mut root);
        define_results(&mut root);
        simplify(&mut root);
        Self {
            schema: document.with_root(root),
            dialect,
        }
    }
}

/// Writes JSON with sorted names, an indentation of two spaces, and a newline at the end.
pub(super) fn canonical_json(value: &Value) -> serde_json::Result<String> {
    let mut sorted = value.clone();
    // The order of serde_json's maps depends on its features.
    sorted.sort_all_objects();
    Ok(serde_json::to_string_pretty(&sorted)? + "\n")
}
