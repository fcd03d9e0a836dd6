//! The properties that fuzzing checks, with the inputs from which it starts and those that broke one once.

use std::fs;

use mcp_tests::fuzz::{PROPERTIES, check};
use mcp_tests::workspace;

#[test]
fn the_inputs_from_which_fuzzing_starts_break_nothing() {
    for property in PROPERTIES {
        let seeds = (property.seeds)();
        println!("{}: {} inputs", property.name, seeds.len());
        assert!(!seeds.is_empty());
        seeds.iter().for_each(|seed| (property.check)(seed));
    }
}

#[test]
fn what_broke_a_property_once_breaks_it_no_more() {
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
