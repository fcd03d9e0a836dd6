//! `cargo xtask bench`: runs the measuring programs, keeps their numbers in docs/benchmarks, and writes docs/benchmarks.md and
//! its charts from them.

mod builds;
mod chart;
mod machine;
mod measure;
mod measured;
mod page;
mod pairs;
mod parts;
mod programs;
#[cfg(test)]
mod quoted;
mod store;

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use parts::Part;

/// Measure what decoding, converting, serving and building cost, and write docs/benchmarks.md
///
/// The numbers are kept in docs/benchmarks, a file for each part, so that a part can be measured without the others, and the page be
/// written without measuring. The peers of some parts are downloaded: those in Rust by cargo, the TypeScript SDK by
/// `npm ci` in bench/load/typescript, and other gateways as bench/load/README.md says; without that they are left out.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask bench",
    bin_name = "cargo xtask bench",
    after_help = "\
Examples:
  cargo xtask bench                      # everything, some 30 minutes
  cargo xtask bench --only decode,hops
  cargo xtask bench --render             # the page again, without measuring"
)]
struct Args {
    /// Measure these parts, and keep the numbers of the others
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "PARTS",
        conflicts_with = "render"
    )]
    only: Vec<Part>,
    /// Measure nothing
    #[arg(long)]
    render: bool,
    /// How often each part is measured
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    runs: u8,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let parts = match (args.render, args.only.is_empty()) {
        (true, _) => &[],
        (false, true) => Part::ALL.as_slice(),
        (false, false) => &args.only,
    };
    for part in parts {
        store::write(&docs, *part, &measure::measure(*part, args.runs)?)?;
    }
    for (path, text) in page::files(&docs)? {
        std::fs::write(docs.join(path), text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_its_charts_are_those_of_the_numbers() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let files = page::files(&docs).expect("the numbers are there");
        assert!(files.len() > 1);
        for (path, text) in files {
            let written = std::fs::read_to_string(docs.join(&path)).expect("it was written");
            assert!(written == text, "{path}: run `cargo xtask bench --render`");
        }
    }
}
