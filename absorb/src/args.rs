//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Parser;

/// Test that revisions are absorbed: every schema that `ingest` accepts generates, compiles, and converts without a
/// silent loss
///
/// Files are official schemas, such as drafts. Each is ingested into a copy of the schemas, as a release after the last
/// revision and as a draft at the position of the date in its path, and the remedies that problems suggest are applied; then all
/// crates are generated and compiled, and instances of all definitions are converted to the adjacent revisions and to
/// the hub, and back.
///
/// Each seed makes up a revision, a release or a draft, by random edits of a known one. A seed that fails is reported with
/// the fewest edits that still fail.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask absorb",
    bin_name = "cargo xtask absorb",
    arg_required_else_help = true,
    after_help = "\
Examples:
  cargo xtask absorb downloads/2099-01-01/schema.json
  cargo xtask absorb --seeds 1000
  cargo xtask absorb --seeds 4000..6000 --compile 50
  cargo xtask absorb --seeds 10000 --resume target/seeds.jsonl

Exit status: 0 everything passes, 1 something fails, 2 wrong usage."
)]
pub struct Args {
    /// Official schemas, in JSON or YAML
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Test made-up revisions: this many, or those of the seeds FROM..TO
    #[arg(long, value_name = "N")]
    pub seeds: Option<Range>,
    /// Compile the type crates of the first N made-up revisions
    #[arg(long, value_name = "N", default_value_t = 0, requires = "seeds")]
    pub compile: usize,
    /// Write the made-up revisions that fail to this directory, in the format of the golden cases of `absorb/tests`
    #[arg(long, value_name = "DIR", requires = "seeds")]
    pub write: Option<PathBuf>,
    /// Append the outcome of each seed to this file, as a line of JSON, and skip the seeds that it already contains
    #[arg(long, value_name = "FILE", requires = "seeds")]
    pub resume: Option<PathBuf>,
    /// Run this many processes; by default, as many as there are processors
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    /// Run seeds in this process, and print the outcome of each as a line of JSON
    #[arg(long, hide = true, exclusive = true)]
    pub batch: Option<Range>,
}

impl Args {
    pub fn schemas(&self) -> PathBuf {
        crate::workspace().join("schema")
    }

    pub fn jobs(&self) -> usize {
        let jobs = self.jobs.or_else(|| std::thread::available_parallelism().ok());
        jobs.map_or(1, NonZeroUsize::get)
    }
}

/// A range of seeds, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub from: u64,
    pub to: u64,
}

impl Range {
    pub fn seeds(self) -> std::ops::Range<u64> {
        self.from..self.to
    }
}

impl FromStr for Range {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (from, to) = text.split_once("..").unwrap_or(("0", text));
        let (from, to) = (from.parse()?, to.parse()?);
        Ok(Self { from, to })
    }
}
