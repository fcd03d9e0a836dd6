//! The types of extensions: random instances of their schemas, and the types that they share with the protocol.

use std::any::TypeId;
use std::collections::BTreeSet;

use mcp_adapters::mcp_wire::{Definition, Extension, from_str, to_string};
use mcp_codegen::load::load_document;
use mcp_codegen::overlay::{Overlay, apply_overlay};
use mcp_instances::Instances;
use mcp_tests::{Tally, schema, workspace};

/// Number of instances of each definition, about half of them valid.
const COUNT: usize = 200;

/// An extension: its name, the version of its schema, its description and its own definitions.
struct Case {
    name: &'static str,
    version: &'static str,
    extension: Extension,
    definitions: &'static [Definition],
}

const CASES: [Case; 3] = [
    Case {
        name: "apps",
        version: mcp_ext_apps::REVISION,
        extension: mcp_ext_apps::EXTENSION,
        definitions: mcp_ext_apps::definitions::DEFINITIONS,
    },
    Case {
        name: "skills",
        version: mcp_ext_skills::REVISION,
        extension: mcp_ext_skills::EXTENSION,
        definitions: mcp_ext_skills::definitions::DEFINITIONS,
    },
    Case {
        name: "tasks",
        version: mcp_ext_tasks::REVISION,
        extension: mcp_ext_tasks::EXTENSION,
        definitions: mcp_ext_tasks::definitions::DEFINITIONS,
    },
];

/// Returns a generator for the corrected schema of an extension, merged with the schema of the protocol, and the names
/// of the definitions that the official schema of the extension has.
fn corrected(case: &Case) -> (Instances, BTreeSet<String>) {
    let directory = workspace("schema/extensions").join(case.name).join(case.version);
    let official = load_document(&directory.join("schema.json")).unwrap();
    let overlay = Overlay::of(load_document(&directory.join("overlay.yaml")).unwrap()).unwrap();
    let corrected = apply_overlay(&official, &overlay).unwrap();
    let definitions = official.root()["$defs"].as_object().unwrap().keys().cloned().collect();
    let mut schema = schema(case.extension.extends.parse().unwrap());
    let all = schema["$defs"].as_object_mut().unwrap();
    all.extend(corrected.root()["$defs"].as_object().unwrap().clone());
    (Instances::new(&schema).unwrap(), definitions)
}

#[test]
fn valid_instances_of_each_extension_survive_the_round_trip_and_mutants_are_refused() {
    for case in &CASES {
        let (instances, official) = corrected(case);
        let own = case.definitions.iter().map(|definition| definition.name);
        let mut tally = Tally::of(case.name, case.definitions);
        let mut tried = 0;
        for definition in own.filter(|name| official.contains(*name)) {
            tried += 1;
            for instance in instances.of(definition, 26, COUNT) {
                tally.add(definition, &instance.value, instance.valid);
            }
        }
        assert!(tried >= 13, "{}: {tried}", case.name);
        tally.settle();
    }
}

#[test]
fn the_definitions_that_an_extension_refers_to_are_in_its_schema() {
    for Case { extension, .. } in &CASES {
        let schema: serde_json::Value = serde_json::from_str(extension.schema.text()).unwrap();
        let is_there = |pointer: &str| schema.pointer(pointer.trim_start_matches('#')).is_some();
        let methods = extension.methods.iter();
        let results = extension.results.iter().map(|added| added.definition);
        let results = results.chain(extension.meta.iter().map(|entry| entry.definition));
        let named = methods.flat_map(|method| method.results.iter().copied().chain([method.definition]));
        for pointer in named.chain(results).chain(extension.settings) {
            assert!(is_there(pointer), "{}: {pointer}", extension.id);
        }
        for repeated in extension.headers {
            assert!(extension.methods.iter().any(|method| method.name == repeated.method));
        }
    }
}

#[test]
fn definitions_shared_with_the_protocol_use_the_types_of_the_protocol() {
    fn type_of<T: 'static>(_: &T) -> TypeId {
        TypeId::of::<T>()
    }
    let text = r#"{"taskId":"1","status":"input_required","createdAt":"2026-01-01T00:00:00Z",
        "lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"resultType":"complete","inputRequests":{}}"#;
    let mcp_ext_tasks::GetTaskResult::InputRequired(task) = from_str(text).unwrap() else {
        panic!("another state");
    };
    let of_the_protocol = TypeId::of::<mcp_ext_tasks::mcp_types_2026_07_28::InputRequests>();
    assert_eq!(type_of(&task.input_requests), of_the_protocol);
    let back: serde_json::Value = serde_json::from_str(&to_string(&task).unwrap()).unwrap();
    assert_eq!(back, serde_json::from_str::<serde_json::Value>(text).unwrap());
    // The size of the crate depends on the number of its own definitions.
    let own: BTreeSet<&str> = mcp_ext_tasks::definitions::DEFINITIONS
        .iter()
        .map(|one| one.name)
        .collect();
    assert!(
        !own.contains("ElicitRequest") && !own.contains("InputRequests"),
        "{own:?}"
    );
    assert_eq!(own.len(), 22, "{own:?}");
}
