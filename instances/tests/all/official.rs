//! Tests with the schemas of all revisions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use mcp_instances::{Instance, Instances};
use serde_json::Value;

static OFFICIAL: LazyLock<Vec<(PathBuf, Instances)>> = LazyLock::new(|| load("../schema"));

/// Returns the schemas of a directory that has a folder for each revision.
fn load(folder: &str) -> Vec<(PathBuf, Instances)> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("schema.json"))
        .filter(|path| path.is_file());
    files
        .map(|path| (path.clone(), Instances::new(&read(&path)).unwrap()))
        .collect()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn integers_fit(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_u64() || number.is_i64(),
        Value::Array(items) => items.iter().all(integers_fit),
        Value::Object(members) => members.values().all(integers_fit),
        _ => true,
    }
}

fn every_instance(check: impl Fn(&Path, &str, &[Instance])) {
    for (path, instances) in OFFICIAL.iter() {
        for definition in instances.definitions() {
            check(path, definition, &instances.of(definition, 7, 24));
        }
    }
}

#[test]
fn every_definition_has_valid_and_invalid_instances_and_at_least_16() {
    every_instance(|path, definition, made| {
        let at = format!("{definition} of {}", path.display());
        // A short enumeration has few valid values, and few mutants.
        assert!(made.len() >= 16, "{at} has {} instances", made.len());
        let valid = made.iter().filter(|instance| instance.valid).count();
        assert!(valid >= 2, "{at} has {valid} valid instances");
        let invalid = made.len() - valid;
        let accepts_everything = invalid == 0;
        assert!(
            invalid >= 3 || accepts_everything,
            "{at} has {invalid} invalid instances"
        );
    });
}

#[test]
fn every_definition_has_a_valid_instance() {
    for (path, instances) in OFFICIAL.iter() {
        assert_eq!(
            instances.without_valid_instance(),
            Vec::<&str>::new(),
            "{}",
            path.display()
        );
    }
}

#[test]
fn instances_are_distinct_and_within_limits() {
    every_instance(|_, definition, made| {
        let texts: BTreeSet<String> = made.iter().map(|instance| instance.value.to_string()).collect();
        assert_eq!(texts.len(), made.len(), "{definition}");
        for instance in made {
            assert!(depth(&instance.value) <= 60, "{definition}");
            assert!(integers_fit(&instance.value), "{definition}: {}", instance.value);
        }
    });
}

#[test]
fn instances_are_reproducible_from_their_seed() {
    for ((_, one), (path, other)) in OFFICIAL.iter().zip(&load("../schema")) {
        let all = |instances: &Instances, seed| {
            instances
                .definitions()
                .flat_map(|name| instances.of(name, seed, 4))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(one, 3), all(other, 3), "{}", path.display());
        assert_ne!(all(one, 3), all(other, 4), "{}", path.display());
    }
}

/// Reads one file per revision, with one `{"type", "valid", "value"}` per line.
#[test]
#[ignore = "reads ../shared"]
fn the_validator_agrees_with_every_recorded_verdict() {
    for (path, instances) in &load("../../shared/schema") {
        let revision = path.parent().and_then(Path::file_name).unwrap();
        let recorded = Path::new("../../shared/instances")
            .join(revision)
            .with_extension("jsonl");
        let lines = fs::read_to_string(&recorded).unwrap();
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let verdict = instances.accepts(line["type"].as_str().unwrap(), &line["value"]);
            assert_eq!(verdict, line["valid"].as_bool(), "{} by {}", line, path.display());
        }
    }
}
