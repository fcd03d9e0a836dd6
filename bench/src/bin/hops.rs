//! Prints how much translating a result by one revision adds to decoding it.

use mcp_bench::{Failure, Hop, Way, turns};

fn main() -> Result<(), Failure> {
    println!(
        "| a hop as part of decoding | {} |",
        Way::ALL.map(Way::name).join(" | ")
    );
    println!("|---{}|", "|--:".repeat(Way::ALL.len()));
    for case in Hop::CASES {
        let cells = Way::ALL.map(|way| -> Result<String, Failure> {
            let hop = Hop::new(case, way)?;
            let ratios = turns::ratios(&[&|| hop.decode(), &|| hop.translate()]);
            Ok(format!("{:.1} %", (ratios[1] - 1.0) * 100.0))
        });
        let cells = cells.into_iter().collect::<Result<Vec<_>, _>>()?;
        println!("| {} | {} |", case.name(), cells.join(" | "));
    }
    Ok(())
}
