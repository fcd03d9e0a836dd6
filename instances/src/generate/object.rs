//! Objects: with and without each optional member, with undeclared members, and maps.

use serde_json::{Map, Value};

use super::Generator;
use crate::constraints::Constraints;
use crate::rng::Choice;

/// Names for undeclared members.
const UNDECLARED: [&str; 5] = ["x-future", "x-a", "x-é", "x-vendor/key", "x-com.example/trace"];

/// The number of attempts to find a name that the object doesn't have yet.
const NAMES: usize = 16;

/// The proportion of optional members that an object gets.
#[derive(Clone, Copy, PartialEq)]
enum Density {
    None,
    Some,
    All,
}

impl<'a> Generator<'a> {
    pub(super) fn object(&mut self, constraints: &Constraints<'a>, location: &Value, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        let required: Vec<&str> = constraints.required_names().collect();
        if required.iter().any(|name| constraints.absent.contains(name)) {
            return None;
        }
        for name in &required {
            self.add(name, constraints, &mut members, depth)?;
        }

        let density = self.density(location, depth);
        let low = constraints.at_least("minProperties");
        let high = constraints.at_most("maxProperties").unwrap_or(usize::MAX);
        let optional: Vec<&str> = constraints
            .declared_names()
            .into_iter()
            .filter(|name| !required.contains(name))
            .collect();
        for name in &optional {
            if members.len() < high && self.wants(name, density, constraints) {
                // An optional member that can't be made is left out.
                let _ = self.add(name, constraints, &mut members, depth);
            }
        }
        if density != Density::None {
            for _ in 0..self.undeclared(constraints) {
                if members.len() < high {
                    self.add_undeclared(constraints, &mut members, depth);
                }
            }
        }

        for name in &optional {
            if members.len() < low {
                let _ = self.add(name, constraints, &mut members, depth);
            }
        }
        while members.len() < low {
            self.add_undeclared(constraints, &mut members, depth)?;
        }
        self.add_dependents(constraints, &mut members, depth)?;
        (members.len() <= high).then_some(Value::Object(members))
    }

    fn density(&mut self, location: &Value, depth: usize) -> Density {
        if self.must_end(depth) {
            return Density::None;
        }
        match self.rng.deal(Choice::Density, location, 4) {
            0 => Density::None,
            // All members on all levels would make instances too large.
            1 if depth < 3 => Density::All,
            _ => Density::Some,
        }
    }

    fn wants(&mut self, name: &str, density: Density, constraints: &Constraints<'a>) -> bool {
        match density {
            Density::None => false,
            Density::All => true,
            Density::Some => match constraints.member(name, self.document).first() {
                Some(schema) => self.rng.coin(Choice::Presence, schema),
                None => self.rng.once_in(2),
            },
        }
    }

    /// Adds a member, unless it is already present.
    fn add(
        &mut self,
        name: &str,
        constraints: &Constraints<'a>,
        members: &mut Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        if members.contains_key(name) {
            return Some(());
        }
        if constraints.absent.contains(name) {
            return None;
        }
        let mut schemas = constraints.member(name, self.document);
        if schemas.is_empty() {
            schemas.push(&Value::Bool(true));
        }
        let member = self.value(&schemas, depth + 1)?;
        members.insert(name.to_owned(), member);
        Some(())
    }

    /// Returns the number of undeclared members to add: a few for a map, otherwise one in some objects.
    fn undeclared(&mut self, constraints: &Constraints<'a>) -> usize {
        let keyed = ["additionalProperties", "patternProperties", "propertyNames"];
        let is_map = keyed
            .into_iter()
            .any(|keyword| constraints.each(keyword).any(Value::is_object));
        match (is_map, self.rng.once_in(3)) {
            (true, _) => self.rng.between(0, 3),
            (false, often) => usize::from(often),
        }
    }

    fn add_undeclared(
        &mut self,
        constraints: &Constraints<'a>,
        members: &mut Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        let declared = constraints.declared_names();
        let name = (0..NAMES)
            .filter_map(|_| self.undeclared_name(constraints, depth))
            .find(|name| !members.contains_key(name) && !declared.contains(&name.as_str()))?;
        self.add(&name, constraints, members, depth)
    }

    fn undeclared_name(&mut self, constraints: &Constraints<'a>, depth: usize) -> Option<String> {
        let names: Vec<&Value> = constraints.each("propertyNames").collect();
        let patterns = constraints
            .each("patternProperties")
            .filter_map(Value::as_object)
            .flat_map(Map::keys);
        let patterns: Vec<&String> = patterns.collect();
        if !names.is_empty() {
            return self.value(&names, depth + 1)?.as_str().map(str::to_owned);
        }
        if !patterns.is_empty() && self.rng.once_in(2) {
            let &pattern = self.rng.pick(&patterns)?;
            return self.text_matching(pattern);
        }
        let &name = self.rng.pick(&UNDECLARED)?;
        // The fixed names aren't enough for objects that need many members.
        Some(if self.rng.once_in(4) {
            format!("{name}-{}", self.rng.between(0, 99))
        } else {
            name.to_owned()
        })
    }

    fn add_dependents(
        &mut self,
        constraints: &Constraints<'a>,
        members: &mut Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        loop {
            let missing = members
                .keys()
                .flat_map(|name| constraints.dependents(name))
                .find(|name| !members.contains_key(*name));
            match missing {
                Some(name) => self.add(name, constraints, members, depth)?,
                None => return Some(()),
            }
        }
    }
}
