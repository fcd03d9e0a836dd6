//! Decodes one case with one library, once. It is run under callgrind, which counts the instructions of `measured`.

use mcp_bench::{Failure, programs, rows};

fn main() -> Result<(), Failure> {
    programs::decode_once(&rows())
}
