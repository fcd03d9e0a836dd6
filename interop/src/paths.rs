//! Paths of the workspace and of the installation.

use std::path::{Path, PathBuf};

/// A directory of the workspace.
pub fn in_workspace(directory: &str) -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).join(directory)
}

/// The directory for installations and logs, next to cargo's profile directories.
pub fn install_directory() -> PathBuf {
    let own = std::env::current_exe().ok();
    let target = own.as_deref().and_then(|own| own.ancestors().nth(2));
    target
        .map_or_else(|| in_workspace("target"), Path::to_path_buf)
        .join("interop")
}
