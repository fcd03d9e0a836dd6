//! Prints instances of every definition of a schema, one JSON object per line: its `type`, whether it is `valid`, and
//! the `value`.
//!
//! `cargo run -p mcp-instances --example instances -- SCHEMA.json COUNT SEED`

use std::error::Error;
use std::io::Write;

use mcp_instances::Instances;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [schema, count, seed] = &arguments[..] else {
        return Err("usage: instances SCHEMA.json COUNT SEED".into());
    };
    let (count, seed) = (count.parse()?, seed.parse()?);
    let document = serde_json::from_str(&std::fs::read_to_string(schema)?)?;
    let instances = Instances::new(&document)?;

    let mut out = std::io::stdout().lock();
    for definition in instances.definitions() {
        for instance in instances.of(definition, seed, count) {
            let line = json!({ "type": instance.definition, "valid": instance.valid, "value": instance.value });
            writeln!(out, "{line}")?;
        }
    }
    for definition in instances.without_valid_instance() {
        eprintln!("no valid instance found for {definition}");
    }
    Ok(())
}
