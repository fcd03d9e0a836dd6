//! The generator of values that satisfy a schema.

mod array;
mod number;
mod object;
mod string;

use serde_json::{Map, Value, json};

use crate::constraints::{Constraints, JsonType};
use crate::document::{Document, list};
use crate::rng::{Choice, Rng};

/// The maximum depth of an instance. Parsers commonly refuse more than 128 levels, and tests wrap instances.
pub(crate) const MAX_DEPTH: usize = 60;

/// The depth, and the number of values, from which an instance is ended by the shortest way.
const SOFT_LIMITS: (usize, usize) = (7, 150);

/// The maximum number of attempted values for one instance. Only a schema with many contradictions needs so many.
const MAX_VALUES: usize = 5_000;

/// The number of attempts to build a value, since choices can contradict each other.
const ATTEMPTS: usize = 4;

/// Builds instances of the schemas of a document.
pub(crate) struct Generator<'a> {
    document: &'a Document,
    rng: &'a mut Rng,
    made: usize,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(document: &'a Document, rng: &'a mut Rng) -> Self {
        Self { document, rng, made: 0 }
    }

    /// Builds a value that satisfies `schema`, as far as its keywords can be satisfied one after the other. With
    /// overlapping branches of a `oneOf`, or with `not`, the value can still be invalid.
    pub(crate) fn instance(&mut self, schema: &'a Value) -> Option<Value> {
        self.made = 0;
        self.value(&[schema], 0)
    }

    /// Builds a value that satisfies all `schemas`, at this depth.
    fn value(&mut self, schemas: &[&'a Value], depth: usize) -> Option<Value> {
        (0..ATTEMPTS).find_map(|_| self.attempt(schemas, depth))
    }

    fn attempt(&mut self, schemas: &[&'a Value], depth: usize) -> Option<Value> {
        self.made += 1;
        if depth >= MAX_DEPTH || self.made > MAX_VALUES {
            return None;
        }
        let mut constraints = Constraints::default();
        for schema in schemas {
            self.gather(schema, depth, &mut constraints)?;
        }
        if let Some((location, values)) = constraints.listed() {
            if values.is_empty() {
                return None;
            }
            return Some(values[self.rng.deal(Choice::Listed, location, values.len())].clone());
        }
        if let Some(sample) = self.sample(&constraints) {
            return Some(sample);
        }
        let location = *schemas.first()?;
        match self.choose_type(&constraints, location)? {
            None => Some(self.anything(2)),
            Some(JsonType::Null) => Some(Value::Null),
            Some(JsonType::Boolean) => Some(json!(self.rng.coin(Choice::Listed, location))),
            Some(JsonType::Integer) => self.integer(&constraints),
            Some(JsonType::Number) => self.number(&constraints),
            Some(JsonType::String) => self.string(&constraints).map(Value::String),
            Some(JsonType::Array) => self.array(&constraints, depth),
            Some(JsonType::Object) => self.object(&constraints, location, depth),
        }
    }

    /// Adds a schema to the constraints, with the target of its reference, all of `allOf`, and one branch of each
    /// union.
    fn gather(&mut self, schema: &'a Value, depth: usize, constraints: &mut Constraints<'a>) -> Option<()> {
        let Value::Object(keywords) = schema else {
            return (schema != &Value::Bool(false)).then_some(());
        };
        if !constraints.visited.insert(crate::rng::address(schema)) {
            return Some(());
        }
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            self.gather(self.document.resolve(reference)?, depth, constraints)?;
            if !self.document.allows_ref_siblings() {
                return Some(());
            }
        }
        constraints.schemas.push(keywords);
        for schema in list(keywords, "allOf") {
            self.gather(schema, depth, constraints)?;
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(branches) = keywords.get(union) {
                let branch = self.branch(branches, depth)?;
                self.gather(branch, depth, constraints)?;
            }
        }
        if let Some(condition) = keywords.get("if") {
            self.gather_conditional(keywords, condition, depth, constraints)?;
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for (name, schema) in keywords.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                // An array is a list of required names, which is handled once the members are known.
                if schema.is_array() {
                    continue;
                }
                if self.rng.coin(Choice::Branch, schema) {
                    constraints.present.insert(name);
                    self.gather(schema, depth, constraints)?;
                } else {
                    constraints.absent.insert(name);
                }
            }
        }
        Some(())
    }

    fn gather_conditional(
        &mut self,
        keywords: &'a Map<String, Value>,
        condition: &'a Value,
        depth: usize,
        constraints: &mut Constraints<'a>,
    ) -> Option<()> {
        // For `else`, nothing makes the condition fail. The validator determines which branch applies.
        let consequence = if self.rng.coin(Choice::Branch, condition) {
            self.gather(condition, depth, constraints)?;
            "then"
        } else {
            "else"
        };
        keywords
            .get(consequence)
            .map_or(Some(()), |schema| self.gather(schema, depth, constraints))
    }

    fn branch(&mut self, union: &'a Value, depth: usize) -> Option<&'a Value> {
        let branches = union.as_array().filter(|branches| !branches.is_empty())?;
        if self.must_end(depth) {
            return branches.iter().min_by_key(|branch| self.document.height(branch));
        }
        Some(&branches[self.rng.deal(Choice::Branch, union, branches.len())])
    }

    /// Picks a type. Returns `None` if no type is allowed, and `Some(None)` if any value is valid.
    fn choose_type(&mut self, constraints: &Constraints<'a>, location: &Value) -> Option<Option<JsonType>> {
        let mut types = constraints.types();
        let hinted_types = constraints.hinted_types();
        // Without `type`, the keywords for one type indicate the intended type, although values of other types also
        // satisfy them.
        if constraints.each("type").next().is_none() {
            if hinted_types.is_empty() {
                return Some(None);
            }
            if !self.rng.once_in(8) {
                types = hinted_types;
            }
        }
        if types.is_empty() {
            return None;
        }
        let dealt = self.rng.deal(Choice::Type, location, types.len());
        Some(Some(types[dealt]))
    }

    /// Returns, once in a while, one of the schema's defaults or examples.
    fn sample(&mut self, constraints: &Constraints<'a>) -> Option<Value> {
        let samples: Vec<&Value> = constraints
            .each("default")
            .chain(constraints.each("examples").filter_map(Value::as_array).flatten())
            .collect();
        if samples.is_empty() || !self.rng.once_in(8) {
            return None;
        }
        self.rng.pick(&samples).map(|&sample| sample.clone())
    }

    /// Returns any value with at most this many levels.
    fn anything(&mut self, levels: usize) -> Value {
        let simple = [
            json!(null),
            json!(true),
            json!(1),
            json!(1.5),
            json!("s"),
            json!([]),
            json!({}),
        ];
        if levels > 0 && self.rng.once_in(3) {
            let inner = self.anything(levels - 1);
            return match self.rng.between(0, 2) {
                0 => json!([inner, self.anything(0)]),
                1 => json!({ "k": inner }),
                _ => json!({ "k": inner, "n": { "m": [1, "2", null] } }),
            };
        }
        self.rng.pick(&simple).cloned().unwrap_or_default()
    }

    fn must_end(&self, depth: usize) -> bool {
        let (deep, many) = SOFT_LIMITS;
        depth >= deep || self.made >= many
    }
}
