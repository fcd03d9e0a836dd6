//! Commands that show a schema directory in another form: `cargo xtask model`, `adapters`, `diff` and `jsonld`

use std::error::Error;

use crate::args::{DiffArgs, DiffFormat, JsonldArgs, ModelArgs, SchemaArgs};
use crate::print::print;

pub fn run_model(args: &ModelArgs) -> Result<(), Box<dyn Error>> {
    let yaml = mcp_codegen::model_yaml(&args.schema.directory(), args.revision.as_str())?;
    Ok(print(yaml)?)
}

pub fn run_adapters(args: &SchemaArgs) -> Result<(), Box<dyn Error>> {
    Ok(print(mcp_codegen::adapters_report(&args.directory())?)?)
}

pub fn run_diff(args: &DiffArgs) -> Result<(), Box<dyn Error>> {
    let diff = mcp_codegen::revision_diff(&args.schema.directory(), &args.from, &args.to)?;
    Ok(print(match args.format {
        DiffFormat::Markdown => diff.markdown()?,
        DiffFormat::Json => diff.json()?,
    })?)
}

pub fn run_jsonld(args: &JsonldArgs) -> Result<(), Box<dyn Error>> {
    let out = args.out();
    mcp_codegen::write_jsonld(&args.schema.directory(), args.revision.as_str(), &out)?;
    for file in ["context.jsonld", "schema.yaml"] {
        print(format_args!("{}\n", out.join(file).display()))?;
    }
    Ok(())
}
