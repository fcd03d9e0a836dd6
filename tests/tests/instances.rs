//! Random instances of every definition, with another implementation of JSON Schema as the judge.

use std::collections::BTreeSet;

use mcp_adapters::Revision;
use mcp_codegen::load::load_document;
use mcp_codegen::overlay::{Overlay, apply_overlay};
use mcp_instances::Instances;
use mcp_tests::{Tally, workspace};

/// How many instances of each definition are tried, about half of them valid.
const COUNT: usize = 40;

/// The official schema, with the JSON-RPC envelope where it has one, and corrected.
fn instances(revision: Revision) -> Instances {
    let directory = workspace("schema").join(revision.as_str());
    let schema = load_document(&directory.join("schema.json")).unwrap();
    let corrected = apply_overlay(&schema, &Overlay::load(&directory).unwrap()).unwrap();
    Instances::new(corrected.root()).unwrap()
}

#[test]
fn every_definition_of_the_schema_is_known_by_its_name_and_no_other_is() {
    for revision in Revision::ALL {
        let instances = instances(revision);
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
        let instances = instances(revision);
        let mut tally = Tally::new(revision);
        for definition in instances.definitions() {
            for instance in instances.of(definition, 11, COUNT) {
                tally.add(definition, &instance.value, instance.valid);
            }
        }
        tally.settle();
    }
}
