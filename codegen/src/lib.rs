//! Turns official schemas of the Model Context Protocol into Rust crates.

mod adapt;
mod cache;
mod crates;
pub mod diff;
mod documents;
mod emit;
mod error;
mod extension;
mod extension_crate;
mod facts;
pub mod files;
mod generate;
pub mod ingest;
mod jsonld;
mod lists;
pub mod load;
mod markdown;
mod memo;
mod messages;
mod model;
mod normalise;
pub mod overlay;
mod problem;
mod protocol;
mod published;
mod reference;
pub mod release;
mod revision_table;
pub mod revisions;
mod stages;
mod templates;

pub use cache::Cache;
pub use crates::Undocumented;
pub use documents::{generate_documents, revision_diff, write_jsonld};
pub use error::{EmitError, GenerateError};
pub use extension_crate::{ExtensionCrateOptions, generate_extension};
pub use generate::{GenerateOptions, Generated, adapters_report, generate, model_yaml, revision_tables, typescript};
pub use lists::generate_lists;
pub use problem::{Place, Problem, Problems};
pub use published::lock_names;
pub use revision_table::RevisionTable;

#[cfg(test)]
#[path = "../tests/pipeline/page.rs"]
mod pipeline;
