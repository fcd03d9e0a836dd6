//! A YAML reader: the values are yaml_serde's work, which has no places; [`super::yaml_places`] finds those in the text.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::document::MAX_DEPTH;
use super::json::duplicate;
use super::places::{Places, Within};
use super::{pointer, yaml_places};
use crate::problem::{Place, Problem, Problems};

/// A YAML value in the order of the text, where a name may stand twice.
#[derive(Debug)]
pub(super) enum Tree {
    Scalar(Value),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// The place of a tree's value, and of those in it that were found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    /// In the order of the tree's own list; shorter where the text could not be followed.
    pub(super) within: Vec<Found>,
}

/// Reads a whole text as one YAML document.
pub(super) fn parse(file: &str, text: &str) -> Result<(Value, Places), Problems> {
    let tree = Seed { depth: 0 }
        .deserialize(yaml_serde::Deserializer::from_str(text))
        .map_err(|error| broken(file, &error))?;
    let found = yaml_places::find(text, &tree);
    let mut doubled = Vec::new();
    let read = join(file, tree, found, &mut String::from("#"), &mut doubled);
    Problems::check(doubled)?;
    Ok(read)
}

fn broken(file: &str, error: &yaml_serde::Error) -> Problem {
    let problem = Problem::new(file, error.to_string())
        .help("the file is damaged or is no YAML that JSON could say too: correct it or get it again");
    match error.location() {
        Some(at) => problem.at(Place {
            line: at.line(),
            column: at.column(),
        }),
        None => problem,
    }
}

/// Makes JSON of a tree, with its places, and collects the names that stand twice.
fn join(file: &str, tree: Tree, found: Found, pointer: &mut String, doubled: &mut Vec<Problem>) -> (Value, Places) {
    let place = found.place;
    let above = pointer.len();
    let mut below = found.within.into_iter();
    let (value, within) = match tree {
        Tree::Scalar(value) => (value, Within::Nothing),
        Tree::List(items) => {
            let (mut elements, mut places) = (Vec::new(), Vec::new());
            for (index, item) in items.into_iter().enumerate() {
                let found = below.next().unwrap_or(Found {
                    place,
                    within: Vec::new(),
                });
                pointer::push(pointer, &index.to_string());
                let (value, within) = join(file, item, found, pointer, doubled);
                pointer.truncate(above);
                elements.push(value);
                places.push(within);
            }
            (Value::Array(elements), Within::Elements(places))
        }
        Tree::Map(entries) => {
            let (mut members, mut places) = (Map::new(), BTreeMap::new());
            for (name, item) in entries {
                let found = below.next().unwrap_or(Found {
                    place,
                    within: Vec::new(),
                });
                pointer::push(pointer, &name);
                if members.contains_key(&name) {
                    doubled.push(duplicate(file, pointer).at(found.place));
                }
                let (value, within) = join(file, item, found, pointer, doubled);
                pointer.truncate(above);
                members.insert(name.clone(), value);
                places.insert(name, within);
            }
            (Value::Object(members), Within::Members(places))
        }
    };
    (value, Places { place, within })
}

/// Reads one value at a depth.
struct Seed {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(D::Error::custom(format!("nested more than {MAX_DEPTH} deep")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value that JSON has too")
    }

    /// A file of nothing but comments.
    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar(Value::Null))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Scalar(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        match Number::from_f64(value) {
            Some(number) => Ok(Tree::Scalar(Value::Number(number))),
            None => Err(E::custom("JSON has no infinity and no not-a-number")),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Scalar(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Seed { depth: self.depth + 1 })? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = access.next_key::<String>()? {
            entries.push((name, access.next_value_seed(Seed { depth: self.depth + 1 })?));
        }
        Ok(Tree::Map(entries))
    }
}
