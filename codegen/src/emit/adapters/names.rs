//! Names in the crate.

/// Whether code has a name in it.
pub(super) fn mentions(code: &str, name: &str) -> bool {
    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| word == name)
}

/// `v` and the revision, as a Rust name.
pub(super) fn module_name(revision: &str) -> String {
    let name: String = revision
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect();
    format!("v{name}")
}

pub(super) fn variant_name(revision: &str) -> String {
    let name: String = revision
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    format!("V{name}")
}
