//! Tests of the generated crates, in one binary, because each test binary links all of them.

mod adapters;
mod book;
mod changes;
mod documentation;
mod extension_crate;
mod extensions;
mod frameworks;
mod fuzz;
mod instances;
mod json_schema;
mod loading;
mod memory;
mod messages;
mod negotiation;
mod packages;
mod registry;
mod revisions;
mod shared_instances;
mod specification;
mod translation;
mod typescript;
mod validation;
mod values;
