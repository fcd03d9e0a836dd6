//! Exact validation of JSON values by a JSON Schema document.
//!
//! A [`Validator`] is a compiled document. It follows JSON Schema draft-07 or 2020-12, as the document's `$schema`
//! specifies, or 2020-12 without a `$schema`. Compilation fails with a [`SchemaError`] if the document can't be
//! followed exactly: a reference to another document, except to the meta-schemas of these dialects, a schema that
//! applies itself without end, or a `pattern` that can't be matched in linear time. Annotations accept every value, and
//! `format` is an annotation.
//!
//! Values and documents are untrusted. Each schema is applied to a part of the value about once, even if schemas
//! recurse through unions or refer to each other in many ways. A validation that still takes 50 million steps, or nests
//! the application of more than 1024 schemas, ends with a violation of the kind [`ViolationKind::Unfinished`]. At most
//! a hundred violations are reported. Values nested deeper than [`MAX_DEPTH`] are refused.

mod assertion;
mod budget;
mod compile;
mod compiler;
mod context;
mod equality;
mod error;
mod evaluate;
mod explain;
mod keywords;
mod meta_schemas;
mod node;
mod number;
#[cfg_attr(not(feature = "pattern"), path = "pattern/absent.rs")]
mod pattern;
mod resources;
mod streaming;
mod unevaluated;
mod value;
mod violation;
mod violations;

use serde_json::Value;

use crate::MAX_DEPTH;
use crate::json_schema::pointer;
use crate::reader::Reader;

use self::budget::Budget;
use self::compile::Compiled;
use self::compiler::Compiler;
use self::evaluate::Validation;
use self::node::NodeId;
use self::violations::{Location, Violations};

pub use self::error::{Problem, ProblemKind, SchemaError};
pub use self::resources::reference_targets;
pub(crate) use self::value::{Json, Members};
pub use self::violation::{Violation, ViolationKind};

/// A compiled schema document.
///
/// ```
/// use mcp_wire::validator::Validator;
/// use serde_json::json;
///
/// let validator = Validator::new(&json!({
///     "$defs": {"Tool": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
/// }))?;
/// assert!(validator.validate("#/$defs/Tool", &json!({"name": "hammer"})).is_empty());
/// let violations = validator.validate("#/$defs/Tool", &json!({"name": 5}));
/// assert_eq!(violations[0].to_string(), "`name`: expected a string, found 5");
/// # Ok::<(), mcp_wire::validator::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Validator {
    compiled: Compiled,
}

impl Validator {
    /// Compiles every subschema and every reference of `document`.
    ///
    /// # Errors
    ///
    /// When the document can't be followed exactly. The error lists all problems: another dialect, invalid values of
    /// keywords, references to other documents or to nothing, cycles of references, patterns that can't be matched in
    /// linear time, and any pattern without the feature `pattern`.
    pub fn new(document: &Value) -> Result<Self, SchemaError> {
        let compiled = Compiler::new(document)?.compile(document)?;
        Ok(Self { compiled })
    }

    /// Validates `value` by the subschema at `pointer`, such as `#/$defs/Tool`. The result is empty if the value is
    /// valid.
    ///
    /// A pointer that doesn't lead to a subschema is a violation too. A validation that takes too many steps has one
    /// violation, of the kind [`ViolationKind::Unfinished`], at the place where it ended.
    #[must_use]
    pub fn validate(&self, pointer: &str, value: &Value) -> Vec<Violation> {
        if nested_deeper_than(MAX_DEPTH, value) {
            let expected = format!("at most {MAX_DEPTH} levels of nesting");
            return vec![Violation::unfinished(pointer, expected, "more")];
        }
        self.validate_json(pointer, &Json::borrowed(value))
    }

    /// Does the same for a value whose depth has been checked.
    pub(crate) fn validate_json(&self, pointer: &str, value: &Json<'_>) -> Vec<Violation> {
        let Some(node) = self.entry(pointer) else {
            let expected = "a subschema to validate by";
            return vec![Violation::unfinished(pointer, expected, "none at this pointer")];
        };
        let mut violations = Violations::default();
        let budget = Budget::new();
        // Whether the validation ended early doesn't matter: the violations are in the list.
        let _ = Validation::new(&self.compiled.nodes, &budget).validate(node, value, Location::Root, &mut violations);
        match budget.into_exceeded() {
            Some(unfinished) => vec![unfinished],
            None => violations.list,
        }
    }

    /// Whether a text is JSON that is valid by the subschema at `pointer`, without duplicate members. This is faster
    /// than a validation that explains its verdict, and takes no memory for the value.
    #[must_use]
    pub fn accepts(&self, pointer: &str, json: &str) -> bool {
        let Some(node) = self.entry(pointer) else { return false };
        let budget = Budget::new();
        let validation = Validation::new(&self.compiled.nodes, &budget);
        Reader::new(json)
            .whole(|reader| validation.accept(node, reader))
            .is_ok()
    }

    /// Whether there is a subschema at `pointer`.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        self.entry(pointer).is_some()
    }

    fn entry(&self, pointer: &str) -> Option<NodeId> {
        let entries = &self.compiled.entries;
        entries
            .get(pointer)
            .or_else(|| entries.get(&pointer::canonical(pointer)?))
            .copied()
    }
}

/// Whether a value is nested deeper than the limit, without recursing further.
fn nested_deeper_than(limit: usize, value: &Value) -> bool {
    let deeper = |inner: &Value| nested_deeper_than(limit - 1, inner);
    match value {
        Value::Array(elements) => limit == 0 || elements.iter().any(deeper),
        Value::Object(members) => limit == 0 || members.values().any(deeper),
        _ => false,
    }
}
