//! An official schema in the form in which it is stored.

use std::path::Path;

use mcp_json_schema::Dialect;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::change;
use super::error::IngestError;
use super::fetch::fetch;
use super::inlined::define_inlined;
use super::namespaces::flatten_groups;
use super::options::IngestOptions;
use super::results::define_results;
use super::simplify::{refer_to_messages, simplify};
use crate::cache::Cache;
use crate::load::{Document, Entry, Format, MANIFEST, Manifest, PROSE, SCHEMA, load_known};

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

    /// Adds the definitions of the revision before that this schema writes out.
    pub(super) fn define_inlined(&mut self, (directory, cache): (&Path, &Cache), before: Option<&Entry>) {
        let path = before.map(|before| directory.join(before.revision.as_str()).join(SCHEMA));
        // The problems of the revision before aren't those of this one.
        if let Some(Ok(before)) = path.map(|path| load_known(&path, &cache.files)) {
            let mut root = self.schema.root().clone();
            define_inlined(before.root(), &mut root);
            self.schema = self.schema.with_root(root);
        }
    }

    pub(crate) fn of(document: &Document, manifest: &Manifest, keep_prose: bool) -> Self {
        let mut root = document.root().clone();
        change::remove_repeated_dialects(&mut root);
        change::replace_dialect(&mut root);
        // An unknown dialect is reported by the check, together with all other problems.
        let dialect = Dialect::of(&root).unwrap_or(Dialect::Draft202012);
        if dialect == Dialect::Draft202012 {
            change::replace_dynamic_references(&mut root);
        }
        change::replace_identifiers(&mut root);
        change::complete_references(&mut root);
        change::replace_aliases(&mut root, dialect, &manifest.aliases);
        let prose = PROSE.into_iter().filter(|_| !keep_prose);
        change::remove_keywords(&mut root, manifest.annotations.iter().map(String::as_str).chain(prose));
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

/// Reads an official schema, and checks its hash against the manifest unless `accept` is set. Returns the hash too.
pub(super) fn read_official(
    options: &IngestOptions,
    known: Option<&Entry>,
    manifest: &Manifest,
) -> Result<(Official, String), IngestError> {
    let bytes = fetch(&options.from)?;
    let sha256 = sha256(&bytes);
    if let Some(entry) = known {
        check_hash(options, entry, &sha256)?;
    }
    let document = Document::parse(&options.from, &bytes, Format::of(&options.from, &bytes))?;
    let official = Official::of(&document, manifest, options.keep_prose);
    Ok((official, sha256))
}

fn check_hash(options: &IngestOptions, entry: &Entry, found: &str) -> Result<(), IngestError> {
    let known = entry.hashes();
    if options.accept || known.contains(&found) {
        return Ok(());
    }
    Err(IngestError::Mismatch {
        from: options.from.clone(),
        revision: options.revision.clone(),
        found: found.into(),
        manifest: options.schema.join(MANIFEST).display().to_string(),
        known: known.join("\n          and "),
    })
}

/// Returns a hash as the manifest records it.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes JSON with sorted names, an indentation of two spaces, and a newline at the end.
pub(super) fn canonical_json(value: &Value) -> serde_json::Result<String> {
    let mut sorted = value.clone();
    // The order of serde_json's maps depends on its features.
    sorted.sort_all_objects();
    Ok(serde_json::to_string_pretty(&sorted)? + "\n")
}
