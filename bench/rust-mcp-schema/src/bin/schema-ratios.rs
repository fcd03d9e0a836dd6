//! Prints the time of each library to decode or to encode, as a ratio to `serde_json::Value` in the same run.

use mcp_bench_cases::{Failure, programs};
use mcp_bench_rust_mcp_schema::rows;

fn main() -> Result<(), Failure> {
    programs::ratios(&rows())
}
