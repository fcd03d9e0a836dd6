//! The properties that fuzzing checks, with the inputs from which it starts, and with inputs that once broke a
//! property.

use std::fs;

use mcp_tests::fuzz::{PROPERTIES, check};
use mcp_tests::workspace;

#[test]
fn the_seeds_of_fuzzing_break_no_property() {
    for property in PROPERTIES {
        let seeds = (property.seeds)();
        println!("{}: {} inputs", property.name, seeds.len());
        assert!(!seeds.is_empty());
        seeds.iter().for_each(|seed| (property.check)(seed));
    }
}

#[test]
fn earlier_findings_of_fuzzing_break_no_property() {
    for property in PROPERTIES {
        let Ok(findings) = fs::read_dir(workspace("fuzz/findings").join(property.name)) else {
            continue;
        };
        for finding in findings {
            let path = finding.unwrap().path();
            println!("{}", path.display());
            check(property.name, &fs::read(path).unwrap());
        }
    }
}
