//! Revisions that are loaded from a directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mcp_adapters::Revision;
use mcp_codegen::load::MANIFEST;
use mcp_codegen::revision_tables;

use crate::args::value_of;
use crate::error::CommandError;

/// The option that names the directory.
const OPTION: &str = "--schemas";

/// The directory that the command line names. It decides which revisions the other arguments may name.
pub fn directory(args: &[OsString]) -> Option<PathBuf> {
    value_of(OPTION, args).map(PathBuf::from)
}

/// Loads the revisions of a directory of schemas that aren't compiled.
pub fn load(directory: &Path) -> Result<(), CommandError> {
    let argument = |problem: String| CommandError::Argument(format!("{OPTION} {}: {problem}", directory.display()));
    if !directory.join(MANIFEST).is_file() {
        return Err(argument(format!("it has no {MANIFEST}")));
    }
    let tables = revision_tables(directory).map_err(|error| argument(error.to_string()))?;
    let mut tables = tables.into_iter();
    for known in Revision::ALL {
        let same = tables
            .next()
            .is_some_and(|made| made.revision == known.as_str() && made.table == known.table());
        if !same {
            return Err(argument(format!(
                "revision {known} isn't there as mcp-rev has it\n  begin with the directory `schema` of this version of mcp-rev, and add \
                 revisions after the last with `cargo xtask ingest`"
            )));
        }
    }
    for made in tables {
        Revision::load(&made.revision, &made.table, &made.schema).map_err(|error| argument(error.to_string()))?;
    }
    Ok(())
}
