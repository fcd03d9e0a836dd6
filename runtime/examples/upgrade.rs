//! Upgrades stored lists of tools from an earlier revision: `upgrade REVISION < stored.jsonl`.
//!
//! Each line of the standard input is a result of `tools/list` from a server of that revision. It is converted to the
//! latest revision. Losses are reported on the standard error.

use std::io::{self, BufRead};

use mcp_adapters::{Policy, Revision, translate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stored = std::env::args().nth(1).ok_or("the revision of the lists is missing")?;
    let stored: Revision = stored.parse()?;
    for line in io::stdin().lock().lines() {
        let upgraded = translate(
            stored,
            Revision::HUB,
            "ListToolsResult",
            line?.as_bytes(),
            Policy::Conform,
        )
        .map_err(|error| error.reason())?;
        println!("{}", upgraded.value.text());
        for loss in upgraded.losses {
            eprintln!("{loss}");
        }
    }
    Ok(())
}
