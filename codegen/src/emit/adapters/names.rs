//! Names in the crate.

use crate::model::names::identifier_part;

/// Whether code has a name in it.
pub(super) fn mentions(code: &str, name: &str) -> bool {
    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| word == name)
}

/// `v` and the revision, as a Rust name.
pub(super) fn module_name(revision: &str) -> String {
    format!("v{}", identifier_part(revision).to_ascii_lowercase())
}

pub(super) fn variant_name(revision: &str) -> String {
    format!("V{}", identifier_part(revision))
}
