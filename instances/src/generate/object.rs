//! Objects: each optional member absent and present, members that nothing declares, and maps.

use serde_json::{Map, Value};

use super::Generator;
use crate::chance::About;
use crate::demand::Demand;

/// Names that no schema declares, for members where any are allowed.
const UNDECLARED: [&str; 5] = ["x-future", "x-a", "x-é", "x-vendor/key", "x-com.example/trace"];

/// How often a name is looked for that the object does not have yet.
const NAMES: usize = 16;

/// How many of the optional members an object gets.
#[derive(Clone, Copy, PartialEq)]
enum Fullness {
    None,
    Some,
    All,
}

impl<'a> Generator<'a> {
    pub(super) fn object(&mut self, demand: &Demand<'a>, place: &Value, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        let required: Vec<&str> = demand.required_names().collect();
        if required.iter().any(|name| demand.absent.contains(name)) {
            return None;
        }
        for name in &required {
            self.add(name, demand, &mut members, depth)?;
        }

        let fullness = self.fullness(place, depth);
        let low = demand.at_least("minProperties");
        let high = demand.at_most("maxProperties").unwrap_or(usize::MAX);
        let optional: Vec<&str> = demand
            .declared_names()
            .into_iter()
            .filter(|name| !required.contains(name))
            .collect();
        for name in &optional {
            if members.len() < high && self.wants(name, fullness, demand) {
                // An optional member that can't be made is simply not there.
                let _ = self.add(name, demand, &mut members, depth);
            }
        }
        if fullness != Fullness::None {
            for _ in 0..self.undeclared(demand) {
                if members.len() < high {
                    self.add_undeclared(demand, &mut members, depth);
                }
            }
        }

        for name in &optional {
            if members.len() < low {
                let _ = self.add(name, demand, &mut members, depth);
            }
        }
        while members.len() < low {
            self.add_undeclared(demand, &mut members, depth)?;
        }
        self.add_dependents(demand, &mut members, depth)?;
        (members.len() <= high).then_some(Value::Object(members))
    }

    fn fullness(&mut self, place: &Value, depth: usize) -> Fullness {
        if self.must_end(depth) {
            return Fullness::None;
        }
        match self.chance.deal(About::Fullness, place, 4) {
            0 => Fullness::None,
            // Everything on every level would make each instance as large as it can get.
            1 if depth < 3 => Fullness::All,
            _ => Fullness::Some,
        }
    }

    fn wants(&mut self, name: &str, fullness: Fullness, demand: &Demand<'a>) -> bool {
        match fullness {
            Fullness::None => false,
            Fullness::All => true,
            Fullness::Some => match demand.member(name, self.document).first() {
                Some(schema) => self.chance.coin(About::Presence, schema),
                None => self.chance.once_in(2),
            },
        }
    }

    /// Adds a member, unless it is there already.
    fn add(&mut self, name: &str, demand: &Demand<'a>, members: &mut Map<String, Value>, depth: usize) -> Option<()> {
        if members.contains_key(name) {
            return Some(());
        }
        if demand.absent.contains(name) {
            return None;
        }
        let mut schemas = demand.member(name, self.document);
        if schemas.is_empty() {
            schemas.push(&Value::Bool(true));
        }
        let member = self.value(&schemas, depth + 1)?;
        members.insert(name.to_owned(), member);
        Some(())
    }

    /// How many members to add that nothing declares: a few to a map, else now and then one.
    fn undeclared(&mut self, demand: &Demand<'a>) -> usize {
        let keyed = ["additionalProperties", "patternProperties", "propertyNames"];
        let is_map = keyed
            .into_iter()
            .any(|keyword| demand.each(keyword).any(Value::is_object));
        match (is_map, self.chance.once_in(3)) {
            (true, _) => self.chance.between(0, 3),
            (false, often) => usize::from(often),
        }
    }

    fn add_undeclared(&mut self, demand: &Demand<'a>, members: &mut Map<String, Value>, depth: usize) -> Option<()> {
        let declared = demand.declared_names();
        let name = (0..NAMES)
            .filter_map(|_| self.undeclared_name(demand, depth))
            .find(|name| !members.contains_key(name) && !declared.contains(&name.as_str()))?;
        self.add(&name, demand, members, depth)
    }

    fn undeclared_name(&mut self, demand: &Demand<'a>, depth: usize) -> Option<String> {
        let names: Vec<&Value> = demand.each("propertyNames").collect();
        let patterns = demand
            .each("patternProperties")
            .filter_map(Value::as_object)
            .flat_map(Map::keys);
        let patterns: Vec<&String> = patterns.collect();
        if !names.is_empty() {
            return self.value(&names, depth + 1)?.as_str().map(str::to_owned);
        }
        if !patterns.is_empty() && self.chance.once_in(2) {
            let &pattern = self.chance.pick(&patterns)?;
            return self.text_matching(pattern);
        }
        let &name = self.chance.pick(&UNDECLARED)?;
        // Where many are needed, the few fixed names run out.
        Some(if self.chance.once_in(4) {
            format!("{name}-{}", self.chance.between(0, 99))
        } else {
            name.to_owned()
        })
    }

    fn add_dependents(&mut self, demand: &Demand<'a>, members: &mut Map<String, Value>, depth: usize) -> Option<()> {
        loop {
            let missing = members
                .keys()
                .flat_map(|name| demand.dependents(name))
                .find(|name| !members.contains_key(*name));
            match missing {
                Some(name) => self.add(name, demand, members, depth)?,
                None => return Some(()),
            }
        }
    }
}
