//! `mcp-rev generate`

use std::io::Write;
use std::path::Path;

use crate::args::GenerateArgs;
use crate::error::{CommandError, Summary};

/// Prints generated code. Loaded revisions are those of a directory of schemas.
pub fn generate(args: &GenerateArgs, schemas: Option<&Path>, mut output: impl Write) -> Result<Summary, CommandError> {
    let revision = args.typescript;
    let text = match (revision.typescript(), schemas) {
        (None, Some(directory)) => mcp_codegen::typescript(directory, revision.as_str())
            .map_err(|error| CommandError::Argument(format!("{}: {error}", directory.display())))?,
        (compiled, _) => compiled.unwrap_or_default().to_owned(),
    };
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(Summary::AllSucceeded)
}
