//! Made-up revisions that failed in the past, and some seeds.
//!
//! Each file in `golden` contains the edits that failed; `cargo xtask absorb --seeds N --write DIR` writes such files.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use mcp_absorb::{MadeUp, Outcome, Schemas};

/// The number of seeds that are tested here. Each takes a second. `.ci/run` tests 300, and
/// `cargo xtask absorb --seeds N` any number.
const SEEDS: u64 = 4;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn schemas() -> Schemas {
    Schemas::new(&here("../schema")).unwrap()
}

fn absorb(made_up: &MadeUp, schemas: &Schemas) -> Outcome {
    let trial = made_up.trial(schemas, "made-up").unwrap();
    trial.run(schemas).unwrap()
}

#[test]
#[ignore = "takes a minute of processor time"]
fn revisions_that_failed_in_the_past_are_absorbed() {
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
    // They take longer than all other tests, so each processor runs some of them.
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
fn made_up_revisions_are_absorbed() {
    let schemas = schemas();
    for seed in 0..SEEDS {
        let made_up = MadeUp::of_seed(&schemas, seed);
        assert_eq!(absorb(&made_up, &schemas).failures, [""; 0], "seed {seed}");
    }
}
