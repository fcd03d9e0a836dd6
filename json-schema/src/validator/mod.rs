//! Validation by a compiled document.

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
mod memory;
mod meta_schemas;
mod node;
mod number;
#[cfg_attr(not(feature = "pattern"), path = "pattern/absent.rs")]
mod pattern;
mod resources;
mod streaming;
mod unevaluated;
mod violation;
mod violations;

use serde_json::Value;

use crate::{Json, Source, pointer};

use self::budget::Budget;
use self::compile::Compiled;
use self::compiler::Compiler;
use self::evaluate::Validation;
use self::node::NodeId;
use self::violations::{Location, Violations};

pub use self::error::{Problem, ProblemKind, SchemaError};
pub use self::resources::reference_targets;
pub use self::violation::{Violation, ViolationKind};

/// The maximum nesting of a [`Value`] to validate: 128 levels.
pub const MAX_DEPTH: usize = 128;

/// A compiled schema document.
///
/// It follows JSON Schema draft-07 or 2020-12, as the document's `$schema` specifies, or 2020-12 without a `$schema`.
///
/// ```
/// use mcp_json_schema::Validator;
/// use serde_json::json;
///
/// let validator = Validator::new(&json!({
///     "$defs": {"Tool": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
/// }))?;
/// assert!(validator.validate("#/$defs/Tool", &json!({"name": "hammer"})).is_empty());
/// let violations = validator.validate("#/$defs/Tool", &json!({"name": 5}));
/// assert_eq!(violations[0].to_string(), "`name`: expected a string, found 5");
/// # Ok::<(), mcp_json_schema::SchemaError>(())
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
    /// When the document can't be followed exactly. The error lists the problems, up to 1,000: another dialect, invalid
    /// values of keywords, references to other documents or to nothing, cycles of references, patterns that can't be
    /// matched in linear time, and any pattern without the feature `pattern`. A document that would take too much
    /// memory has one problem.
    pub fn new(document: &Value) -> Result<Self, SchemaError> {
        let compiled = Compiler::new(document)?.compile(document)?;
        Ok(Self { compiled })
    }

    /// Does the same for the JSON text of a document.
    ///
    /// # Errors
    /// Those of [`Self::new`], and when the text isn't JSON.
    pub fn parse(document: &str) -> Result<Self, SchemaError> {
        let document = serde_json::from_str(document).map_err(|error| SchemaError::not_json(&error))?;
        Self::new(&document)
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

    /// Does the same for a value that is nested at most [`MAX_DEPTH`] levels deep, which isn't checked.
    #[must_use]
    pub fn validate_json(&self, pointer: &str, value: &Json<'_>) -> Vec<Violation> {
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

    /// Reads a value that is valid by the subschema at `pointer`, without a duplicate member. This is faster than a
    /// validation that explains its verdict, and takes no memory for the value.
    ///
    /// # Errors
    /// When the value is invalid, the source can't read it, or there is no subschema at `pointer`. The error doesn't have
    /// the reason: validate the value for that.
    pub fn accept<'a, S: Source<'a>>(&self, pointer: &str, source: &mut S) -> Result<(), S::Error> {
        let Some(node) = self.entry(pointer) else {
            return Err(source.refuse());
        };
        let budget = Budget::new();
        Validation::new(&self.compiled.nodes, &budget).accept(node, source)
    }

    /// Whether there is a subschema at `pointer`.
    #[must_use]
    pub fn has(&self, pointer: &str) -> bool {
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
