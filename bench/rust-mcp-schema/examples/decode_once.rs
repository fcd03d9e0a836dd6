//! Decodes one case with one library, once. It is run under callgrind, which counts the instructions of `measured`.

use mcp_bench_cases::{Failure, programs};
use mcp_bench_rust_mcp_schema::rows;

fn main() -> Result<(), Failure> {
    programs::decode_once(&rows())
}
