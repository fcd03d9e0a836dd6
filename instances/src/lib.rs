//! Random instances of the definitions in a JSON Schema document, for tests.
//!
//! For each definition, [`Instances::of`] makes values that the schema accepts, and mutants of them, most of which it
//! refuses. Valid values are built from the keywords, not found by chance. Still, a schema validator checks every
//! value, and its verdict is reported.
//!
//! `format` is an annotation, as 2020-12 defines it: values have well-formed text, and the validator ignores it.

mod constraints;
mod definitions;
mod document;
mod error;
mod generate;
mod mutate;
mod pattern;
mod rng;
mod validator;

use std::collections::{BTreeMap, HashSet};

use jsonschema::Validator;
use serde_json::{Map, Value};

pub use crate::error::Error;
pub use crate::validator::fragment;

use crate::definitions::{Definition, definitions};
use crate::document::Document;
use crate::generate::{Generator, MAX_DEPTH};
use crate::mutate::Mutator;
use crate::rng::Rng;

/// The number of attempts for each requested value, before the definition counts as exhausted.
const TRIES: usize = 40;

/// A value, and whether the schema accepts it.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The name of the definition that the value was made for.
    pub definition: String,
    /// The JSON pointer of that definition in the document, such as `/$defs/Tool`.
    pub pointer: String,
    /// The validator's verdict.
    pub valid: bool,
    /// The value.
    pub value: Value,
}

/// A schema document that instances can be made from.
pub struct Instances {
    document: Document,
    definitions: BTreeMap<String, Definition>,
    /// The validator of objects with an instance of each definition, by its name.
    validator: Validator,
}

impl Instances {
    /// Reads the definitions of a JSON Schema document.
    ///
    /// Definitions are in `definitions` or `$defs`, at the root or nested in another definition; a nested one is named
    /// `Outer/Inner`. The dialect is that of `$schema`, or 2020-12 without it.
    ///
    /// # Errors
    ///
    /// If there is no definition, two have the same name, the target of a `$ref` isn't in the document, or the
    /// validator refuses a schema.
    pub fn new(document: &Value) -> Result<Self, Error> {
        let document = Document::new(document)?;
        let definitions = by_name(definitions(document.root()))?;
        if definitions.is_empty() {
            return Err(Error::Empty);
        }
        let pointers = definitions.values();
        let pointers = pointers.map(|definition| (definition.name.as_str(), definition.pointer.as_str()));
        Ok(Self {
            validator: validator::validator(&document, pointers)?,
            definitions,
            document,
        })
    }

    /// The names of the definitions, sorted.
    pub fn definitions(&self) -> impl Iterator<Item = &str> {
        self.definitions.keys().map(String::as_str)
    }

    /// Makes up to `count` different instances of a definition: about half of them valid, the others mutants.
    ///
    /// The same document, definition, seed and count make the same instances. There are fewer than `count` only if the
    /// definition allows no more, and none if there is no such definition. With a count of two or more, at least one is
    /// invalid, unless the definition accepts everything.
    pub fn of(&self, definition: &str, seed: u64, count: usize) -> Vec<Instance> {
        let Some((definition, schema)) = self.find(definition) else {
            return Vec::new();
        };
        let mut rng = Rng::new(seed, &definition.name);
        let accepts = |value: &Value| self.is_valid(definition, value);
        let mut collected = Collected::new(definition);

        let wanted = count.div_ceil(2);
        let mut generator = Generator::new(&self.document, &mut rng);
        for _ in 0..wanted * TRIES {
            if collected.valid() == wanted || collected.len() == count {
                break;
            }
            if let Some(value) = generator.instance(schema) {
                collected.add(value, accepts);
            }
        }

        let originals: Vec<Value> = collected.values();
        let mut mutator = Mutator::new(&self.document, &mut rng);
        for _ in 0..count * TRIES {
            if collected.len() >= count {
                break;
            }
            if let Some((mutant, is_accepted)) = mutator.mutant(&originals, accepts) {
                collected.add(mutant, |_| is_accepted);
            }
        }

        if count > 1 && collected.valid() == collected.len() {
            let refused = mutate::of_every_type().into_iter().find(|value| !accepts(value));
            if let Some(value) = refused {
                collected.make_room(count);
                collected.add(value, accepts);
            }
        }
        collected.instances
    }

    /// Returns the definitions for which no valid instance was found: they accept nothing, or the generator doesn't
    /// support their keywords.
    pub fn without_valid_instance(&self) -> Vec<&str> {
        let has_valid_instance = |name: &str| self.of(name, 0, 2).iter().any(|instance| instance.valid);
        self.definitions().filter(|name| !has_valid_instance(name)).collect()
    }

    /// Whether a definition accepts a value; `None` if there is no such definition.
    pub fn accepts(&self, definition: &str, value: &Value) -> Option<bool> {
        Some(self.is_valid(self.definitions.get(definition)?, value))
    }

    fn is_valid(&self, definition: &Definition, value: &Value) -> bool {
        let instances = Map::from_iter([(definition.name.clone(), value.clone())]);
        self.validator.is_valid(&Value::Object(instances))
    }

    fn find(&self, definition: &str) -> Option<(&Definition, &Value)> {
        let definition = self.definitions.get(definition)?;
        let schema = self.document.root().pointer(&definition.pointer)?;
        Some((definition, schema))
    }
}

/// Returns definitions by their names.
fn by_name(definitions: Vec<Definition>) -> Result<BTreeMap<String, Definition>, Error> {
    let mut named = BTreeMap::<String, Definition>::new();
    for definition in definitions {
        let (name, second) = (definition.name.clone(), definition.pointer.clone());
        if let Some(first) = named.insert(name.clone(), definition) {
            return Err(Error::Ambiguous {
                name,
                first: first.pointer,
                second,
            });
        }
    }
    Ok(named)
}

/// The instances made so far, which differ in their text.
struct Collected<'a> {
    definition: &'a Definition,
    seen: HashSet<String>,
    instances: Vec<Instance>,
}

impl<'a> Collected<'a> {
    fn new(definition: &'a Definition) -> Self {
        Self {
            definition,
            seen: HashSet::new(),
            instances: Vec::new(),
        }
    }

    /// Adds a value, unless it is there. `accepts` is asked for the verdict.
    fn add(&mut self, value: Value, accepts: impl Fn(&Value) -> bool) {
        // Compares texts, because `1` and `1.0` are different for a parser.
        if !is_presentable(&value, MAX_DEPTH) || !self.seen.insert(value.to_string()) {
            return;
        }
        self.instances.push(Instance {
            definition: self.definition.name.clone(),
            pointer: self.definition.pointer.clone(),
            valid: accepts(&value),
            value,
        });
    }

    fn make_room(&mut self, count: usize) {
        self.instances.truncate(count.saturating_sub(1));
    }

    fn len(&self) -> usize {
        self.instances.len()
    }

    fn valid(&self) -> usize {
        self.instances.iter().filter(|instance| instance.valid).count()
    }

    fn values(&self) -> Vec<Value> {
        self.instances
            .iter()
            .filter(|instance| instance.valid)
            .map(|instance| instance.value.clone())
            .collect()
    }
}

/// Whether every integer fits into an `i64`, and the value has at most `depth` levels. Constants and defaults of a
/// schema can violate both.
fn is_presentable(value: &Value, depth: usize) -> bool {
    match value {
        Value::Number(number) => number.is_i64() || number.is_f64(),
        Value::Array(items) => depth > 0 && items.iter().all(|item| is_presentable(item, depth - 1)),
        Value::Object(members) => depth > 0 && members.values().all(|member| is_presentable(member, depth - 1)),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}
