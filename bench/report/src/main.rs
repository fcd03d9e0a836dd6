//! `cargo xtask bench`: runs the measuring programs, stores their numbers in docs/benchmarks, and generates
//! docs/benchmarks.md and its charts from them.

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

/// Measure the cost of decoding, converting, serving and building, and write docs/benchmarks.md
///
/// The numbers of each part are stored in a file in docs/benchmarks, so that one part can be measured without the
/// others, and the page can be generated without measuring. Some parts compare with other projects: cargo downloads
/// those in Rust; the TypeScript SDK needs `npm ci` in bench/load/typescript, and other gateways are installed as
/// described in bench/load/README.md. Projects that aren't installed are left out.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask bench",
    bin_name = "cargo xtask bench",
    after_help = "\
Examples:
  cargo xtask bench                      # everything, about 30 minutes
  cargo xtask bench --only decode,hops
  cargo xtask bench --render             # only the page, without measuring"
)]
struct Args {
    /// Measure only these parts, and keep the numbers of the others
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "PARTS",
        conflicts_with = "render"
    )]
    only: Vec<Part>,
    /// Generate the page without measuring
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
    fn the_page_and_its_charts_are_up_to_date_with_the_numbers() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let files = page::files(&docs).expect("the numbers are there");
        assert!(files.len() > 1);
        for (path, text) in files {
            let written = std::fs::read_to_string(docs.join(&path)).expect("it was written");
            assert!(written == text, "{path}: run `cargo xtask bench --render`");
        }
    }
}
