//! Ingestion of arbitrary schemas: a problem in the schema is reported as an error, without a panic.
//!
//! An input is an official schema.

use std::fs;

use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_codegen::{GenerateOptions, generate};

use crate::workspace;

pub fn check(input: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let official = folder.path().join("official.json");
    fs::write(&official, input).expect("a file");
    let schema = folder.path().join("schema");
    fs::create_dir(&schema).expect("a folder");
    fs::write(schema.join("revisions.yaml"), "revisions: []\n").expect("a file");
    let revision = "2099-01-01".parse().expect("a revision");
    let ingested = ingest(&IngestOptions::new(&schema, revision, official.display().to_string()));
    match ingested {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(_) => {
            let generated = generate(&GenerateOptions {
                schema,
                out: folder.path().join("generated"),
                crates: "../..".to_owned(),
                check: false,
            });
            if let Err(error) = generated {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// The schemas of the generator's own tests.
pub fn seeds() -> Vec<Vec<u8>> {
    let cases = fs::read_dir(workspace("codegen/tests/golden")).expect("a folder");
    let schemas = cases.filter_map(|case| fs::read(case.ok()?.path().join("schema.json")).ok());
    schemas.collect()
}
