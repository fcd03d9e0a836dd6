//! Values built to satisfy a schema.

mod array;
mod number;
mod object;
mod string;

use serde_json::{Map, Value, json};

use crate::DEEPEST;
use crate::chance::{About, Chance};
use crate::demand::{Demand, Kind};
use crate::document::{Document, list};

/// From this depth on, or once an instance has this many values, it is brought to an end by the shortest way.
const SPRAWL: (usize, usize) = (7, 150);

/// How many values may be made for one instance; only a schema that contradicts itself in many places needs as many.
const EFFORT: usize = 5_000;

/// How often a value is begun anew after choices that contradict each other.
const ATTEMPTS: usize = 4;

/// Builds instances of the schemas of a document.
pub(crate) struct Generator<'a> {
    document: &'a Document,
    chance: &'a mut Chance,
    made: usize,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(document: &'a Document, chance: &'a mut Chance) -> Self {
        Self {
            document,
            chance,
            made: 0,
        }
    }

    /// Builds a value that satisfies `schema`, as far as its keywords can be satisfied one after the other: where the
    /// branches of a `oneOf` overlap, or for `not`, the value may turn out to be refused.
    pub(crate) fn instance(&mut self, schema: &'a Value) -> Option<Value> {
        self.made = 0;
        self.value(&[schema], 0)
    }

    /// Builds a value that satisfies all `schemas`, for a place this many levels down.
    fn value(&mut self, schemas: &[&'a Value], depth: usize) -> Option<Value> {
        (0..ATTEMPTS).find_map(|_| self.attempt(schemas, depth))
    }

    fn attempt(&mut self, schemas: &[&'a Value], depth: usize) -> Option<Value> {
        self.made += 1;
        if depth >= DEEPEST || self.made > EFFORT {
            return None;
        }
        let mut demand = Demand::default();
        for schema in schemas {
            self.gather(schema, depth, &mut demand)?;
        }
        if let Some((place, values)) = demand.listed() {
            if values.is_empty() {
                return None;
            }
            return Some(values[self.chance.deal(About::Listed, place, values.len())].clone());
        }
        if let Some(sample) = self.sample(&demand) {
            return Some(sample);
        }
        let place = *schemas.first()?;
        match self.kind(&demand, place)? {
            None => Some(self.anything(2)),
            Some(Kind::Null) => Some(Value::Null),
            Some(Kind::Boolean) => Some(json!(self.chance.coin(About::Listed, place))),
            Some(Kind::Integer) => self.integer(&demand),
            Some(Kind::Number) => self.number(&demand),
            Some(Kind::String) => self.string(&demand).map(Value::String),
            Some(Kind::Array) => self.array(&demand, depth),
            Some(Kind::Object) => self.object(&demand, place, depth),
        }
    }

    /// Adds a schema to a demand: what it refers to, all of `allOf`, and one branch of each union.
    fn gather(&mut self, schema: &'a Value, depth: usize, demand: &mut Demand<'a>) -> Option<()> {
        let Value::Object(keywords) = schema else {
            return (schema != &Value::Bool(false)).then_some(());
        };
        if !demand.met.insert(crate::chance::address(schema)) {
            return Some(());
        }
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            self.gather(self.document.resolve(reference)?, depth, demand)?;
            if !self.document.heeds_siblings() {
                return Some(());
            }
        }
        demand.schemas.push(keywords);
        for schema in list(keywords, "allOf") {
            self.gather(schema, depth, demand)?;
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(branches) = keywords.get(union) {
                let branch = self.branch(branches, depth)?;
                self.gather(branch, depth, demand)?;
            }
        }
        if let Some(condition) = keywords.get("if") {
            self.gather_conditional(keywords, condition, depth, demand)?;
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for (name, schema) in keywords.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                // An array here is a list of names, which matters once the members are known.
                if schema.is_array() {
                    continue;
                }
                if self.chance.coin(About::Branch, schema) {
                    demand.present.insert(name);
                    self.gather(schema, depth, demand)?;
                } else {
                    demand.absent.insert(name);
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
        demand: &mut Demand<'a>,
    ) -> Option<()> {
        // Where the condition is to fail, nothing makes it fail; the judge sees which way it went.
        let consequence = if self.chance.coin(About::Branch, condition) {
            self.gather(condition, depth, demand)?;
            "then"
        } else {
            "else"
        };
        keywords
            .get(consequence)
            .map_or(Some(()), |schema| self.gather(schema, depth, demand))
    }

    fn branch(&mut self, union: &'a Value, depth: usize) -> Option<&'a Value> {
        let branches = union.as_array().filter(|branches| !branches.is_empty())?;
        if self.must_end(depth) {
            return branches.iter().min_by_key(|branch| self.document.height(branch));
        }
        Some(&branches[self.chance.deal(About::Branch, union, branches.len())])
    }

    /// Picks a type; within, nothing if any value at all will do.
    fn kind(&mut self, demand: &Demand<'a>, place: &Value) -> Option<Option<Kind>> {
        let mut kinds = demand.kinds();
        let hinted = demand.hinted();
        // With no type given, keywords for one type still tell what is meant; any other type satisfies them too.
        if demand.each("type").next().is_none() {
            if hinted.is_empty() {
                return Some(None);
            }
            if !self.chance.once_in(8) {
                kinds = hinted;
            }
        }
        if kinds.is_empty() {
            return None;
        }
        let dealt = self.chance.deal(About::Type, place, kinds.len());
        Some(Some(kinds[dealt]))
    }

    /// Now and then, one of the values that the schema itself gives as a default or an example.
    fn sample(&mut self, demand: &Demand<'a>) -> Option<Value> {
        let samples: Vec<&Value> = demand
            .each("default")
            .chain(demand.each("examples").filter_map(Value::as_array).flatten())
            .collect();
        if samples.is_empty() || !self.chance.once_in(8) {
            return None;
        }
        self.chance.pick(&samples).map(|&sample| sample.clone())
    }

    /// Any value, nested at most this many levels.
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
        if levels > 0 && self.chance.once_in(3) {
            let inner = self.anything(levels - 1);
            return match self.chance.between(0, 2) {
                0 => json!([inner, self.anything(0)]),
                1 => json!({ "k": inner }),
                _ => json!({ "k": inner, "n": { "m": [1, "2", null] } }),
            };
        }
        self.chance.pick(&simple).cloned().unwrap_or_default()
    }

    fn must_end(&self, depth: usize) -> bool {
        let (deep, many) = SPRAWL;
        depth >= deep || self.made >= many
    }
}
