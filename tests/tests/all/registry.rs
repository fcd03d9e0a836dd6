//! The revisions of the registry's `server.json`: examples and random documents are valid before and after conversion.

use std::fs;

use mcp_instances::Instances;
use mcp_registry_types::{Conversion, Policy, Revision, TranslateError, hub, mcp_wire, translatable, translate};
use mcp_registry_types::{v2025_07_09, v2025_10_17};
use mcp_tests::{Tally, same, workspace};
use mcp_wire::Validate;
use serde_json::Value;

const DOCUMENT: &str = "ServerDetail";

/// Number of instances of each definition, about half of them valid.
const COUNT: usize = 120;

/// Returns a generator and validator of instances of the official schema, based on the crate `jsonschema`.
fn official(revision: Revision) -> Instances {
    let path = workspace("schema/registry").join(revision.as_str()).join("schema.json");
    Instances::new(&serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()).unwrap()
}

fn example(revision: Revision) -> Value {
    let path = workspace("tests/tests/registry")
        .join(revision.as_str())
        .with_extension("json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the value converted to another revision, and the losses.
fn translated(from: Revision, to: Revision, name: &str, value: &Value) -> Result<(Value, Vec<String>), TranslateError> {
    let done = translate(from, to, name, value.to_string().as_bytes(), Policy::Conform)?;
    let losses = done.losses.iter().map(ToString::to_string).collect();
    Ok((serde_json::from_str(done.value.text()).unwrap(), losses))
}

/// Asserts that our validator and another implementation accept a document.
fn assert_valid(revision: Revision, document: &Value) {
    let ours = revision.validate_definition(DOCUMENT, &document.to_string());
    assert_eq!(ours, Some(Ok(())), "{revision}: {document}");
    assert_eq!(
        official(revision).accepts(DOCUMENT, document),
        Some(true),
        "{revision}: {document}"
    );
}

#[test]
fn an_example_of_each_revision_is_valid_before_and_after_its_upgrade() {
    for revision in Revision::ALL {
        let document = example(revision);
        assert_valid(revision, &document);
        let (upgraded, losses) = translated(revision, Revision::HUB, DOCUMENT, &document).unwrap();
        assert_valid(Revision::HUB, &upgraded);
        let expected: &[&str] = match revision < Revision::V2025_09_29 {
            true => &[
                "`status` dropped (2025-09-29 *.status)",
                "`_meta[\"io.modelcontextprotocol.registry/official\"]` dropped (2025-09-29 ServerDetailMeta.io.modelcontextprotocol.registry/official)",
            ],
            false => &[],
        };
        let mut losses: Vec<&str> = losses.iter().map(String::as_str).collect();
        losses.sort_by_key(|loss| loss.contains("_meta"));
        assert_eq!(losses, expected, "{revision}");
    }
}

#[test]
fn equivalent_documents_of_several_revisions_are_upgraded_to_the_same_document() {
    let mut expected = example(Revision::V2025_09_29);
    expected["$schema"] = example(Revision::HUB)["$schema"].clone();
    for revision in [Revision::V2025_07_09, Revision::V2025_09_16, Revision::V2025_09_29] {
        let (upgraded, _) = translated(revision, Revision::HUB, DOCUMENT, &example(revision)).unwrap();
        assert!(same(&upgraded, &expected), "{revision}: {upgraded}");
    }
}

#[test]
fn a_url_that_only_earlier_revisions_allow_is_refused_with_its_path() {
    let mut document = example(Revision::V2025_10_17);
    document["remotes"][1]["url"] = "{base}/sse".into();
    let refused = translated(Revision::V2025_10_17, Revision::HUB, DOCUMENT, &document).unwrap_err();
    assert!(refused.to_string().starts_with("`remotes[1].url`: "), "{refused}");
}

#[test]
fn a_typed_document_is_converted() {
    let text = example(Revision::V2025_07_09).to_string();
    let first: v2025_07_09::ServerDetail = mcp_wire::from_str(&text).unwrap();
    assert_eq!(
        mcp_wire::to_string(&first).map(|text| serde_json::from_str(&text).unwrap()),
        Ok(example(Revision::V2025_07_09))
    );
    let mut conversion = Conversion::new(Policy::Conform);
    let last: hub::ServerDetail = conversion.convert(first).unwrap();
    assert_eq!(conversion.into_losses().len(), 2);
    last.validate().unwrap();
    let packages = last.packages.unwrap();
    assert_eq!(packages[0].registry_type, "npm");
    let arguments = packages[0].package_arguments.as_deref().unwrap();
    assert!(matches!(&arguments[0], hub::Argument::Positional(city) if city.value_hint.as_deref() == Some("city")));
    assert!(matches!(&arguments[1], hub::Argument::Named(cache) if cache.name == "--cache"));

    let back: Result<v2025_10_17::ServerDetail, _> = Conversion::new(Policy::Conform).convert(hub::ServerDetail {
        packages: Some(packages),
        ..last
    });
    assert_eq!(back.unwrap().version, "1.2.0");
}

#[test]
fn instances_of_every_revision_survive_the_round_trip_and_mutants_are_refused() {
    for revision in Revision::ALL {
        let instances = official(revision);
        let mut tally = Tally::of(revision.as_str(), revision.definitions());
        for definition in instances.definitions() {
            for instance in instances.of(definition, 5, COUNT) {
                tally.add(definition, &instance.value, instance.valid);
            }
        }
        tally.settle();
    }
}

/// Returns each pair of neighbouring revisions, and each revision with the last one, in both directions.
fn pairs() -> Vec<(Revision, Revision)> {
    let neighbours = Revision::ALL.into_iter().zip(Revision::ALL.into_iter().skip(1));
    let to_last = Revision::ALL.into_iter().map(|revision| (revision, Revision::HUB));
    neighbours
        .chain(to_last)
        .filter(|(from, to)| from != to)
        .flat_map(|(from, to)| [(from, to), (to, from)])
        .collect()
}

#[test]
fn converted_documents_are_valid_and_survive_the_round_trip_or_a_loss_is_recorded() {
    let mut failures = Vec::new();
    for (from, to) in pairs() {
        let (source, target) = (official(from), official(to));
        let (mut converted, mut refused) = (0, 0);
        for name in translatable(from).filter(|name| source.accepts(name, &Value::Null).is_some()) {
            for instance in source.of(name, 3, COUNT).into_iter().filter(|made| made.valid) {
                let Ok((value, losses)) = translated(from, to, name, &instance.value) else {
                    refused += 1;
                    continue;
                };
                converted += 1;
                // Only whole documents are validated, because conversions don't check bounds of list elements.
                if name == DOCUMENT && target.accepts(name, &value) == Some(false) {
                    failures.push(format!(
                        "{from} to {to}: {} became {value}, which is invalid",
                        instance.value
                    ));
                }
                let Ok((back, lost_back)) = translated(to, from, name, &value) else {
                    continue;
                };
                if losses.is_empty() && lost_back.is_empty() && !same(&back, &instance.value) {
                    failures.push(format!("{from} to {to}: {name} {} came back as {back}", instance.value));
                }
            }
        }
        println!("{from} to {to}: {converted} converted, {refused} refused");
        assert!(converted > 50, "{from} to {to}: too little was tested");
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures[..failures.len().min(6)].join("\n")
    );
}
