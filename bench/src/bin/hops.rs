//! Prints how much translating a result to the next revision, or across all revisions, adds to decoding it, in percent.

use mcp_bench::table::{self, Cell};
use mcp_bench::{Failure, Hop, Way, turns};

fn main() -> Result<(), Failure> {
    let mut cells = Vec::new();
    for case in Hop::CASES {
        for way in Way::ALL {
            let hop = Hop::new(case, way)?;
            let ratios = turns::ratios(&[&|| hop.decode(), &|| hop.translate()]);
            cells.push(Cell {
                table: "hops",
                row: case.name(),
                column: way.name(),
                value: (ratios[1] - 1.0) * 100.0,
            });
        }
    }
    table::print(&cells)
}
