//! `cargo xtask jsonld`

use std::error::Error;

use crate::args::JsonldArgs;
use crate::print::print;

pub fn run(args: &JsonldArgs) -> Result<(), Box<dyn Error>> {
    let out = args.out();
    mcp_codegen::write_jsonld(&args.schema.directory(), args.revision.as_str(), &out)?;
    for file in ["context.jsonld", "schema.yaml"] {
        print(format_args!("{}\n", out.join(file).display()))?;
    }
    Ok(())
}
