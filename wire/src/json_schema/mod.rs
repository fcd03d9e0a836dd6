//! The structure of JSON Schema documents: pointers, dialects, definitions and subschemas.
//!
//! The code generator, the validator and the generator of random instances share this module.

mod cycles;
mod definitions;
mod dialect;
#[cfg(feature = "schemars")]
#[doc(hidden)]
pub mod import;
pub mod pointer;
mod subschemas;
pub(crate) mod uri;

pub use cycles::find_cycles;
pub use definitions::{DEFINITIONS, all_definitions, definitions};
pub use dialect::{Dialect, UnknownDialect};
pub use subschemas::{Applicator, Subschema, change_schemas, schema_at, subschemas, walk};
