//! What every reader of JSON Schema documents has to know: pointers, dialects, and where schemas stand inside of schemas.
//!
//! The generator, the validator and the maker of random instances share it.

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
pub use subschemas::{Applicator, Subschema, change_schemas, is_in_place, schema_at, subschemas, walk};
