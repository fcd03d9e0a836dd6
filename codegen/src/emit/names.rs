//! Names in generated code that the name of a revision or a crate decides, or the standard library.

use crate::model::names::identifier_part;

/// Names of the standard library that a crate's root leaves to it, so that `use` of all names there shadows none.
pub(super) const STANDARD: [&str; 9] = [
    "Box", "Error", "From", "Into", "None", "Option", "Result", "String", "Vec",
];

/// What code calls a crate.
pub(super) fn library_name(crate_name: &str) -> String {
    crate_name.replace('-', "_")
}

/// `v` and the revision, as a Rust name.
pub(super) fn module_name(revision: &str) -> String {
    format!("v{}", identifier_part(revision).to_ascii_lowercase())
}

/// `V` and the revision, as a Rust name.
pub(super) fn variant_name(revision: &str) -> String {
    format!("V{}", identifier_part(revision))
}
