//! Turns official schemas of the Model Context Protocol into Rust crates.

pub mod adapt;
pub mod diff;
mod documents;
pub mod emit;
mod error;
mod extension;
mod facts;
pub mod files;
mod forwarded;
mod generate;
pub mod ingest;
pub mod jsonld;
pub mod load;
pub mod model;
mod modelled;
pub mod normalise;
pub mod overlay;
pub mod problem;
pub mod protocol;
mod published;
pub mod reference;
pub mod release;
pub mod revisions;

pub use documents::{generate_documents, revision_diff, write_jsonld};
pub use error::GenerateError;
pub use facts::{Facts, MirroredArguments, MirroredCall, MirroredList, Mirrors};
pub use forwarded::generate_features;
pub use generate::{GenerateOptions, Generated, RevisionTable, adapters_report, generate, model_yaml, revision_tables};
pub use problem::{Place, Problem, Problems};
pub use published::{check_names, lock_names};
