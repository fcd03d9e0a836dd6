//! `cargo xtask withdraw`

use std::error::Error;

use mcp_codegen::revisions::withdraw;

use crate::args::WithdrawArgs;
use crate::print::{print, warn};

pub fn run(args: &WithdrawArgs) -> Result<(), Box<dyn Error>> {
    let done = withdraw(&args.schema.directory(), &args.revision)?;
    print(format_args!("removed {}\n", done.folder.display()))?;
    warn(&done.warnings);
    Ok(print("next: cargo xtask generate\n")?)
}
