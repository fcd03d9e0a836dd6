//! `cargo xtask rename` and `cargo xtask withdraw`

use std::error::Error;

use mcp_codegen::revisions::{rename, withdraw};

use crate::args::{RenameArgs, WithdrawArgs};
use crate::print::{print, status, warn};

pub fn run_rename(args: &RenameArgs) -> Result<(), Box<dyn Error>> {
    let done = rename(&args.schema.directory(), &args.from, &args.to)?;
    print(format_args!("renamed {} to {}\n", args.from, done.folder.display()))?;
    for (file, count) in &done.mentions {
        let places = if *count == 1 { "place" } else { "places" };
        print(format_args!("changed {} in {count} {places}\n", file.display()))?;
    }
    for (file, lines) in &done.left {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let (file, lines) = (file.display(), lines.join(", "));
        status(format_args!(
            "warning: {file}: {} stays in line {lines}, where it may be an ordinary word",
            args.from
        ));
    }
    Ok(print("next: cargo xtask generate\n")?)
}

pub fn run_withdraw(args: &WithdrawArgs) -> Result<(), Box<dyn Error>> {
    let done = withdraw(&args.schema.directory(), &args.revision)?;
    print(format_args!("removed {}\n", done.folder.display()))?;
    warn(&done.warnings);
    Ok(print("next: cargo xtask generate\n")?)
}
