//! Revisions that are loaded from a directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mcp_adapters::Revision;
use mcp_codegen::load::MANIFEST;
use mcp_codegen::revision_tables;

use crate::error::CommandError;

/// The option that names the directory.
const OPTION: &str = "--schemas";

/// The directory that the command line names. It is looked for before the arguments are parsed, because it decides which revisions
/// they may name.
pub fn directory(args: &[OsString]) -> Option<PathBuf> {
    let own: Vec<&OsString> = args.iter().take_while(|arg| *arg != "--").collect();
    let separate = own.windows(2).find(|pair| pair[0] == OPTION).map(|pair| pair[1].into());
    let joined = |arg: &&OsString| Some(arg.to_str()?.strip_prefix(OPTION)?.strip_prefix('=')?.into());
    separate.or_else(|| own.iter().find_map(joined))
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
