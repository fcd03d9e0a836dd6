//! `cargo xtask diff`

use std::error::Error;

use crate::args::{DiffArgs, DiffFormat};
use crate::print::print;

pub fn run(args: &DiffArgs) -> Result<(), Box<dyn Error>> {
    let diff = mcp_codegen::revision_diff(&args.schema.directory(), &args.from, &args.to)?;
    Ok(print(match args.format {
        DiffFormat::Markdown => diff.markdown()?,
        DiffFormat::Json => diff.json()?,
    })?)
}
