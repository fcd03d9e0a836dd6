//! JSON Schema, drafts 07 and 2020-12: exact validation of JSON values, and the structure of schema documents.
//!
//! A [`Validator`] is a compiled document. Compilation fails with a [`SchemaError`] if the document can't be followed
//! exactly: a reference to another document, except to the meta-schemas of these dialects, a schema that applies itself
//! without end, or a `pattern` that can't be matched in linear time. Annotations accept every value, and `format` is an
//! annotation.
//!
//! Values and documents are untrusted. Each schema is applied to a part of the value about once, even if schemas
//! recurse through unions or refer to each other in many ways. A validation that still takes 50 million steps, or nests
//! the application of more than 1024 schemas, ends with a violation of the kind [`ViolationKind::Unfinished`]. At most
//! a hundred violations are reported. Values nested deeper than [`MAX_DEPTH`] are refused.
//!
//! [`mod@pointer`], [`definitions()`], [`subschemas()`] and [`walk`] lead through a document, for programs that process
//! schemas.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod cycles;
mod decimal;
mod definitions;
mod dialect;
mod json;
mod json_type;
pub mod path;
pub mod pointer;
mod source;
mod subschemas;
mod text;
mod uri;
mod validator;

pub use cycles::find_cycles;
pub use decimal::{Decimal, Integral};
pub use definitions::{DEFINITIONS, all_definitions, definitions};
pub use dialect::{Dialect, UnknownDialect};
pub use json::{Json, Member, Members};
pub use json_type::JsonType;
pub use path::Path;
pub use source::Source;
pub use subschemas::{Applicator, Subschema, change_schemas, schema_at, subschemas, walk};
pub use text::shortened;
pub use validator::{
    MAX_DEPTH, Problem, ProblemKind, SchemaError, Validator, Violation, ViolationKind, reference_targets,
};

/// The examples of the README, which compile and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
