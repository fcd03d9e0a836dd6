//! `cargo xtask rename`

use std::error::Error;

use mcp_codegen::revisions::rename;

use crate::args::RenameArgs;
use crate::print::print;

pub fn run(args: &RenameArgs) -> Result<(), Box<dyn Error>> {
    let done = rename(&args.schema.directory(), &args.from, &args.to)?;
    print(format_args!("renamed {} to {}\n", args.from, done.folder.display()))?;
    for (file, count) in &done.mentions {
        let places = if *count == 1 { "place" } else { "places" };
        print(format_args!("changed {} in {count} {places}\n", file.display()))?;
    }
    print(format_args!("next: cargo xtask generate\n"))?;
    Ok(())
}
