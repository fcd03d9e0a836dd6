//! Revisions loaded from a directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mcp_adapters::Revision;
use mcp_codegen::load::{MANIFEST, Manifest, unlisted_folders};
use mcp_codegen::revision_tables;

use crate::args::value_of;
use crate::error::CommandError;
use crate::plain::plain;
use crate::text::say;

/// The option that names the directory.
const OPTION: &str = "--schemas";

/// The directory that the command line names. It is read first, because it decides which revisions the other arguments
/// can name.
pub fn directory(args: &[OsString]) -> Option<PathBuf> {
    value_of(OPTION, args).map(PathBuf::from)
}

/// Loads the revisions of a directory of schemas that aren't compiled.
pub fn load(directory: &Path) -> Result<(), CommandError> {
    let argument = |problem: String| CommandError::Argument(format!("{OPTION} {}: {problem}", directory.display()));
    if !directory.is_dir() {
        return Err(argument("there is no such directory".to_owned()));
    }
    if !directory.join(MANIFEST).is_file() {
        return Err(argument(format!("it has no {MANIFEST}")));
    }
    warn_of_unlisted(directory);
    let tables = revision_tables(directory).map_err(|error| argument(error.to_string()))?;
    let mut tables = tables.into_iter();
    for known in Revision::ALL {
        let same = tables
            .next()
            .is_some_and(|made| made.revision == known.as_str() && made.table == known.table());
        if !same {
            return Err(argument(format!(
                "revision {known} is missing or differs from that of mcp-rev\n  start with the directory `schema` of \
                 this version of mcp-rev, and add revisions after the last with `cargo xtask ingest`"
            )));
        }
    }
    for made in tables {
        Revision::load(&made.revision, &made.table, &made.schema).map_err(|error| argument(error.to_string()))?;
    }
    Ok(())
}

/// Warns of folders that look like revisions but aren't listed. Problems of the manifest itself are reported when it is
/// loaded.
fn warn_of_unlisted(directory: &Path) {
    let Ok(manifest) = Manifest::load(directory) else {
        return;
    };
    for name in unlisted_folders(directory, &manifest) {
        let (folder, manifest) = (directory.join(&name), directory.join(MANIFEST));
        let warning = format!(
            "warning: nothing in {} is used, because {} doesn't list {name}\n  list it with `cargo xtask ingest --schema {} {name} \
             PATH-OR-URL`, or move the folder elsewhere",
            folder.display(),
            manifest.display(),
            directory.display(),
        );
        say(&plain(&warning));
    }
}
