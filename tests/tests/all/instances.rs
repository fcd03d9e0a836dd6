//! Random instances of every definition, whose validity another implementation of JSON Schema determines.

use std::collections::BTreeSet;

use mcp_adapters::Revision;
use mcp_tests::{Tally, corrected};

/// Number of instances of each definition, about half of them valid.
const COUNT: usize = 40;

#[test]
fn the_known_definitions_are_exactly_those_of_the_schema() {
    for revision in Revision::ALL {
        let instances = corrected(revision);
        let known: BTreeSet<&str> = revision
            .definitions()
            .iter()
            .map(|definition| definition.name)
            .collect();
        assert_eq!(known, instances.definitions().collect(), "{revision}");
    }
}

#[test]
fn valid_instances_survive_the_round_trip_and_mutants_are_refused() {
    for revision in Revision::ALL {
        let instances = corrected(revision);
        let mut tally = Tally::new(revision);
        for definition in instances.definitions() {
            for instance in instances.of(definition, 11, COUNT) {
                tally.add(definition, &instance.value, instance.valid);
            }
        }
        tally.settle();
    }
}
