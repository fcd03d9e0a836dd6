//! Made-up revisions that weren't absorbed once, and some seeds.
//!
//! Each file of `golden` has the edits that failed; `cargo xtask absorb --seeds N --write DIR` writes such files.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use mcp_absorb::{MadeUp, Outcome, Schemas};

/// How many seeds are tried here, each of which takes a second. `.ci/run` tries 300, and `cargo xtask absorb --seeds N` as many as one likes.
const SEEDS: u64 = 4;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn schemas() -> Schemas {
    Schemas::new(&here("../schema")).unwrap()
}

fn absorb(made_up: &MadeUp, schemas: &Schemas) -> Outcome {
    let trial = made_up.trial(&here("../schema"), "made-up").unwrap();
    trial.run(schemas).unwrap()
}

#[test]
#[ignore = "takes a minute of a processor"]
fn a_revision_that_failed_once_is_absorbed() {
    let mut cases: Vec<PathBuf> = fs::read_dir(here("tests/golden"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    let absorbed = |case: &PathBuf, schemas: &Schemas| {
        let made_up: MadeUp = serde_json::from_str(&fs::read_to_string(case).unwrap()).unwrap();
        let outcome = absorb(&made_up, schemas);
        assert!(outcome.accepted, "{}", case.display());
        assert!(outcome.translations > 0, "{}", case.display());
        assert_eq!(outcome.failures, [""; 0], "{}", case.display());
    };
    // They take the longest of all tests, so that each processor tries some of them.
    let processors = thread::available_parallelism().unwrap().get();
    thread::scope(|scope| {
        for cases in cases.chunks(cases.len().div_ceil(processors)) {
            scope.spawn(|| {
                let schemas = schemas();
                cases.iter().for_each(|case| absorbed(case, &schemas));
            });
        }
    });
}

#[test]
fn a_made_up_revision_is_absorbed_whatever_its_seed() {
    let schemas = schemas();
    for seed in 0..SEEDS {
        let made_up = MadeUp::of_seed(&here("../schema"), seed).unwrap();
        assert_eq!(absorb(&made_up, &schemas).failures, [""; 0], "seed {seed}");
    }
}
