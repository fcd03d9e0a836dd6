//! What a type is validated by where the schema itself has no one place that says it.
//!
//! Merging an intersection or two variants of a union makes shapes that stand nowhere in the schema. What they mean is
//! said by a schema of their own, which is added to the definition that they are a part of.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mcp_wire::json_schema::{DEFINITIONS, pointer};
use serde_json::{Map, Value, json};

use super::Shape;
use super::references::name_of;

/// The schemas to add.
pub struct Parts<'s> {
    root: &'s Value,
    made: RefCell<BTreeMap<String, Value>>,
}

impl<'s> Parts<'s> {
    /// No parts of `root` yet.
    pub fn new(root: &'s Value) -> Self {
        Self {
            root,
            made: RefCell::default(),
        }
    }

    /// Where to validate a value of `schema`, which was met on the way to `pointer`: there, if that is what stands there.
    pub fn place(&self, pointer: &str, schema: &Value, shape: &Shape) -> String {
        if !becomes_type(shape) || self.at(pointer) == Some(schema) {
            return pointer.to_owned();
        }
        self.make(pointer, schema.clone())
    }

    /// Where to validate a value that is valid in either of two places.
    pub fn either(&self, [left, right]: [&str; 2], shape: &Shape) -> String {
        if left == right || !becomes_type(shape) {
            return left.to_owned();
        }
        let reference = |pointer: &str| json!({"$ref": pointer.replace('%', "%25")});
        self.make(left, json!({"anyOf": [reference(left), reference(right)]}))
    }

    /// The parts that were made, by their pointers.
    pub fn into_made(self) -> BTreeMap<String, Value> {
        self.made.into_inner()
    }

    fn make(&self, pointer: &str, schema: Value) -> String {
        let mut steps = pointer.split('/').skip(1);
        let owner = match (steps.next(), steps.next()) {
            (Some(container), Some(name)) if DEFINITIONS.contains(&container) => format!("#/{container}/{name}"),
            _ => "#".to_owned(),
        };
        let name = name_of(pointer).replace(['~', '%'], "_");
        let mut made = self.made.borrow_mut();
        let place = |number: usize| match number {
            1 => format!("{owner}/$defs/{name}"),
            number => format!("{owner}/$defs/{name}{number}"),
        };
        let is_free = |place: &String| match made.get(place) {
            Some(other) => *other == schema,
            None => self.at(place).is_none(),
        };
        let place = (1..).map(place).find(is_free).unwrap_or_default();
        made.insert(place.clone(), schema);
        place
    }

    fn at(&self, pointer: &str) -> Option<&Value> {
        pointer::resolve(self.root, pointer)
    }
}

/// Adds the parts to the schema.
pub fn add_parts(parts: BTreeMap<String, Value>, schema: &mut Value) {
    for (pointer, part) in parts {
        let (owner, container, key) = split(&pointer);
        let owner = schema.pointer_mut(owner.trim_start_matches('#'));
        if let Some(owner) = owner.and_then(Value::as_object_mut) {
            let container = owner.entry(container).or_insert_with(|| Value::Object(Map::new()));
            if let Some(container) = container.as_object_mut() {
                container.insert(key.to_owned(), part);
            }
        }
    }
}

/// The owner of a part, the container and the key.
fn split(pointer: &str) -> (&str, &str, &str) {
    let (rest, key) = pointer.rsplit_once('/').unwrap_or_default();
    let (owner, container) = rest.rsplit_once('/').unwrap_or_default();
    (owner, container, key)
}

/// Whether a shape becomes a type of its own, which can be validated.
fn becomes_type(shape: &Shape) -> bool {
    match shape {
        Shape::Object(_) | Shape::Strings(_) | Shape::Union(_) => true,
        Shape::Nullable(inner) => becomes_type(&inner.shape),
        _ => false,
    }
}
