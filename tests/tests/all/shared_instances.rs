//! Recorded instances, which are marked as valid or invalid.

use std::fs;

use mcp_adapters::Revision;
use mcp_tests::{Tally, workspace};
use serde_json::Value;

#[test]
#[ignore = "reads ../shared"]
fn recorded_instances_survive_the_round_trip_if_valid_and_are_refused_otherwise() {
    for revision in Revision::ALL {
        let recorded = workspace("../shared/instances").join(format!("{revision}.jsonl"));
        let lines = fs::read_to_string(&recorded).unwrap();
        let mut tally = Tally::new(revision);
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            tally.add(
                line["type"].as_str().unwrap(),
                &line["value"],
                line["valid"].as_bool().unwrap(),
            );
        }
        tally.settle();
    }
}
