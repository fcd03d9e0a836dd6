//! Random instances of every definition, checked by another implementation of JSON Schema.

use std::collections::BTreeSet;

use mcp_adapters::Revision;
use mcp_tests::{Tally, corrected};

/// How many instances of each definition are tried, about half of them valid.
const COUNT: usize = 40;

#[test]
fn every_definition_of_the_schema_is_known_by_its_name_and_no_other_is() {
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
fn valid_instances_come_back_equal_and_mutants_are_refused() {
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
