//! Schemas that are added to the official one, so that each type has one schema for its validation.
//!
//! Merging an intersection or two variants of a union creates shapes that the schema doesn't contain. Each gets its own
//! schema, which is added to the definition that contains the shape.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mcp_json_schema::{DEFINITIONS, pointer};
use serde_json::{Value, json};

use super::Shape;
use super::references::name_of;

/// The schemas to add to a document.
pub(crate) struct AddedSchemas<'s> {
    root: &'s Value,
    added: RefCell<BTreeMap<String, Value>>,
    /// The schemas that the document doesn't contain and that don't become types, by the pointers where they were
    /// encountered.
    unplaced: RefCell<BTreeMap<String, Value>>,
}

impl<'s> AddedSchemas<'s> {
    /// Starts without added schemas.
    pub(crate) fn new(root: &'s Value) -> Self {
        Self {
            root,
            added: RefCell::default(),
            unplaced: RefCell::default(),
        }
    }

    /// Returns the pointer of the schema that validates a value of `schema`, which was encountered at `pointer`: that
    /// pointer if the document has the schema there, or else that of an added schema.
    pub(crate) fn place(&self, pointer: &str, schema: &Value, shape: &Shape) -> String {
        let is_here = |here: &Value| std::ptr::eq(here, schema) || here == schema;
        if self.at(pointer).is_some_and(is_here) {
            return pointer.to_owned();
        }
        if !becomes_type(shape) {
            self.unplaced.borrow_mut().insert(pointer.to_owned(), schema.clone());
            return pointer.to_owned();
        }
        self.add(pointer, schema.clone())
    }

    /// Returns the pointer of the schema that validates a value that is valid at either of two pointers.
    pub(crate) fn either(&self, [left, right]: [&str; 2], shape: &Shape) -> String {
        if left == right || !becomes_type(shape) {
            return left.to_owned();
        }
        let unplaced = self.unplaced.borrow();
        let reference = |pointer: &str| match unplaced.get(pointer) {
            Some(schema) => schema.clone(),
            None => json!({"$ref": pointer::reference(pointer)}),
        };
        self.add(left, json!({"anyOf": [reference(left), reference(right)]}))
    }

    /// Returns the added schemas by their pointers.
    pub(crate) fn into_schemas(self) -> BTreeMap<String, Value> {
        self.added.into_inner()
    }

    fn add(&self, pointer: &str, schema: Value) -> String {
        let mut steps = pointer.split('/').skip(1);
        let owner = match (steps.next(), steps.next()) {
            (Some(container), Some(name)) if DEFINITIONS.contains(&container) => format!("#/{container}/{name}"),
            _ => "#".to_owned(),
        };
        let name = name_of(pointer).replace(['~', '%'], "_");
        let mut added = self.added.borrow_mut();
        let place = |number: usize| match number {
            1 => format!("{owner}/$defs/{name}"),
            number => format!("{owner}/$defs/{name}{number}"),
        };
        let is_free = |place: &String| match added.get(place) {
            Some(other) => *other == schema,
            None => self.at(place).is_none(),
        };
        let place = (1..).map(place).find(is_free).unwrap_or_default();
        added.insert(place.clone(), schema);
        place
    }

    fn at(&self, pointer: &str) -> Option<&Value> {
        pointer::resolve(self.root, pointer)
    }
}

/// Inserts added schemas into the `$defs` of their definitions.
pub(crate) fn insert_schemas(added: BTreeMap<String, Value>, schema: &mut Value) {
    for (pointer, definition) in added {
        let (owner, name) = pointer.rsplit_once("/$defs/").unwrap_or_default();
        let owner = schema.pointer_mut(owner.trim_start_matches('#'));
        if let Some(owner) = owner.and_then(Value::as_object_mut) {
            let definitions = owner.entry("$defs").or_insert_with(|| json!({}));
            if let Some(definitions) = definitions.as_object_mut() {
                definitions.insert(name.to_owned(), definition);
            }
        }
    }
}

/// Whether a shape becomes a separate type, which can be validated.
fn becomes_type(shape: &Shape) -> bool {
    match shape {
        Shape::Object(_) | Shape::Strings(_) | Shape::Union(_) => true,
        Shape::Nullable(inner) => becomes_type(&inner.shape),
        _ => false,
    }
}
