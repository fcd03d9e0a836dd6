//! Builds shapes from JSON Schema.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::{Dialect, pointer};
use mcp_wire::Reader;
use serde_json::{Map, Value};

use super::added_schemas::AddedSchemas;
use super::all_of::Intersections;
use super::implied::is_annotation;
use super::references::{follow, pointer_of, resolve};
use super::union::{distinct, either_scalar, one_of};
use super::{Node, Property, Scalar, Shape, Strings};

/// Overlay annotation: the value is kept verbatim, even if the schema declares its members.
const OPEN: &str = "x-open";
/// Overlay annotation: the known values of a string that can have others.
const VALUES: &str = "x-values";
/// Overlay annotation: the order of an enumeration is meaningful.
const ORDERED: &str = "x-ordered";
/// Overlay annotation: the Rust name of a schema without a name.
const NAME: &str = "x-name";
const FIELD: &str = "x-field";
/// Overlay annotation: the variant of a union that has no tag.
const DEFAULT_VARIANT: &str = "x-default-variant";
/// Overlay annotation: `false` for a definition that looks like a request or notification and isn't one.
pub(super) const METHOD: &str = "x-method";
/// Overlay annotation: the value of a member that identifies the type of its object, although the schema allows others.
const TAG: &str = "x-tag";
/// Overlay annotation: the value that constructors give a required member.
const PRESET: &str = "x-preset";

/// Overlay annotation: the name of the definition that the schema repeats here instead of referring to it.
pub(super) const TYPE: &str = "x-type";

/// Keywords that narrow a union or a reference next to them, so that the schema is an intersection.
const NARROWING: [&str; 7] = [
    "type",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "enum",
    "const",
];

/// The maximum depth of nested inline schemas. Deeper ones become open JSON.
const DEEPEST: usize = 64;

/// Builds the shapes of a document's schemas.
pub(crate) struct ShapeBuilder<'s> {
    root: &'s Value,
    intersections: Intersections<'s>,
    /// The schemas that validation needs in addition to the official ones.
    pub(super) added: AddedSchemas<'s>,
}

impl<'s> ShapeBuilder<'s> {
    /// Builds the shapes of schemas in `root`.
    pub(crate) fn new(root: &'s Value) -> Self {
        Self {
            root,
            intersections: Intersections {
                root,
                siblings_apply: Dialect::of(root) != Ok(Dialect::Draft07),
            },
            added: AddedSchemas::new(root),
        }
    }

    /// Builds the shape of `schema`, which is at `pointer`.
    pub(crate) fn build(&self, schema: &Value, pointer: &str) -> Node {
        self.build_within(schema, pointer, DEEPEST)
    }

    /// Builds the shape of a definition. One that is a reference to an object with assertions next to it is an object of
    /// its own, because a type has the same assertions wherever it is used.
    pub(crate) fn definition(&self, schema: &Value, pointer: &str) -> Node {
        let node = self.build(schema, pointer);
        // Next to a narrowing keyword, it is an intersection already.
        let is_reference = matches!(node.shape, Shape::Reference(_)) && self.intersections.siblings_apply;
        let own = schema.as_object().filter(|schema| {
            let asserts = |keyword: &String| keyword != "$ref" && !is_annotation(keyword);
            is_reference && schema.contains_key("$ref") && !schema.contains_key(TYPE) && schema.keys().any(asserts)
        });
        let merged = own.and_then(|schema| self.intersections.merged(schema));
        match merged.map(|merged| self.shape(&merged, pointer, DEEPEST)) {
            // A method has only one message.
            Some(Shape::Object(members)) if !members.contains_key("method") => Node {
                shape: Shape::Object(members),
                ..node
            },
            _ => node,
        }
    }

    fn build_within(&self, schema: &Value, pointer: &str, depth: usize) -> Node {
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str).map(str::to_owned);
        let written_out = text(TYPE).and_then(|name| pointer_of(self.root, &name));
        let mut shape = match (written_out, schema, depth.checked_sub(1)) {
            (Some(definition), ..) => Shape::Reference(definition),
            (None, Value::Object(schema), Some(depth)) => self.shape(schema, pointer, depth),
            _ => Shape::Any,
        };
        let placed = self.added.place(pointer, schema, &shape);
        // An enumeration with `null` has the same schema without it.
        if let Shape::Nullable(inner) = &mut shape
            && inner.pointer == pointer
        {
            inner.pointer.clone_from(&placed);
        }
        Node {
            pointer: placed,
            name: text(NAME),
            field: text(FIELD),
            default_variant: text(DEFAULT_VARIANT),
            tag: text(TAG),
            preset: schema.get(PRESET).cloned(),
            is_no_method: schema.get(METHOD) == Some(&Value::Bool(false)),
            description: text("description"),
            shape,
        }
    }

    fn shape(&self, schema: &Map<String, Value>, pointer: &str, depth: usize) -> Shape {
        let narrowed = NARROWING.iter().any(|keyword| schema.contains_key(*keyword));
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let intersects =
                schema.contains_key("allOf") || schema.contains_key("anyOf") || schema.contains_key("oneOf");
            if !self.intersections.siblings_apply || !(narrowed || intersects) {
                return self.reference(reference);
            }
        }
        if schema.contains_key("$ref") || schema.contains_key("allOf") {
            if let Some(reference) = only_reference(schema) {
                return self.reference(reference);
            }
            if let Some((part, at)) = self.only_part(schema) {
                return self.build_within(part, &format!("{pointer}/allOf/{at}"), depth).shape;
            }
            let merged = self.intersections.merged(schema);
            return merged.map_or(Shape::Any, |merged| self.shape(&merged, pointer, depth));
        }
        if let Some(constant) = schema.get("const") {
            return constant_shape(constant);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            let ordered = flag(schema, ORDERED);
            return enumeration(values, (ordered, false), pointer);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(variants)) = schema.get(keyword)
                && !(narrowed && variants.iter().all(only_requires))
            {
                return self.union(schema, keyword, variants, narrowed, pointer, depth);
            }
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.typed(schema, kind, pointer, depth),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                let whole = Value::Object(schema.clone());
                let of_kind = |kind| {
                    let shape = self.typed(schema, kind, pointer, depth);
                    Node::at(&self.added.place(pointer, &whole, &shape), shape)
                };
                one_of(&self.added, kinds.map(of_kind).collect(), pointer)
            }
            _ => Shape::Any,
        }
    }

    /// Returns the part of an `allOf` that implies all others, and its position, if the schema is nothing else.
    fn only_part<'p>(&self, schema: &'p Map<String, Value>) -> Option<(&'p Value, usize)> {
        let parts = schema.get("allOf")?.as_array()?;
        let is_instruction = |keyword: &str| [OPEN, VALUES, ORDERED].contains(&keyword);
        let mut others = schema.keys().filter(|keyword| *keyword != "allOf");
        let is_alone = others.all(|keyword| is_annotation(keyword) && !is_instruction(keyword));
        self.intersections.narrowest(parts).filter(|_| is_alone)
    }

    fn reference(&self, reference: &str) -> Shape {
        match (pointer::canonical(reference), resolve(self.root, reference)) {
            (Some(target), Some(Value::Object(_))) => Shape::Reference(target),
            _ => Shape::Any,
        }
    }

    fn union(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        variants: &[Value],
        narrowed: bool,
        pointer: &str,
        depth: usize,
    ) -> Shape {
        let variant = |(index, variant): (usize, &Value)| {
            let pointer = format!("{pointer}/{keyword}/{index}");
            if !narrowed {
                return self.build_within(variant, &pointer, depth);
            }
            // The keywords next to the union apply to each of its variants.
            let mut rest = schema.clone();
            rest.remove(keyword);
            let both = serde_json::json!({"allOf": [variant, rest]});
            self.build_within(&both, &pointer, depth)
        };
        let mut variants: Vec<Node> = variants.iter().enumerate().map(variant).collect();
        self.resolve_scalars(&mut variants);
        one_of(&self.added, variants, pointer)
    }

    /// Replaces references to scalars by the scalars where another variant has the same Rust type, as in a union of two
    /// enumerations.
    fn resolve_scalars(&self, variants: &mut [Node]) {
        let scalars: Vec<Option<Shape>> = variants.iter().map(|variant| self.scalar(&variant.shape)).collect();
        for (index, variant) in variants.iter_mut().enumerate() {
            let Some(scalar) = scalars[index].as_ref().filter(|scalar| **scalar != variant.shape) else {
                continue;
            };
            let others = scalars[..index].iter().chain(&scalars[index + 1..]).flatten();
            if others.into_iter().any(|other| either_scalar(scalar, other).is_some()) {
                variant.shape = scalar.clone();
            }
        }
    }

    /// Returns the shape of a scalar, or of the scalar that a reference leads to.
    fn scalar(&self, shape: &Shape) -> Option<Shape> {
        let is_scalar = |shape: &Shape| {
            matches!(
                shape,
                Shape::Boolean
                    | Shape::Constant(_)
                    | Shape::Integer
                    | Shape::Number
                    | Shape::String
                    | Shape::Strings(_)
            )
        };
        let Shape::Reference(target) = shape else {
            return is_scalar(shape).then(|| shape.clone());
        };
        let schema = follow(self.root, pointer::resolve(self.root, target)?)?.as_object()?;
        let inner = ["allOf", "anyOf", "oneOf"].map(|keyword| schema.get(keyword).and_then(Value::as_array));
        let contains = |schema: &Value| {
            ["$ref", "allOf", "anyOf", "oneOf"]
                .iter()
                .any(|keyword| schema.get(keyword).is_some())
        };
        // A union that refers to others can contain itself.
        if inner.into_iter().flatten().flatten().any(contains) {
            return None;
        }
        // The schemas that this builder would add aren't needed here, nor are the members of an object, which can refer
        // to the object.
        let shape = Self::new(self.root).shape(schema, target, 1);
        is_scalar(&shape).then_some(shape)
    }

    fn typed(&self, schema: &Map<String, Value>, kind: &str, pointer: &str, depth: usize) -> Shape {
        match kind {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "string" => match schema.get(VALUES) {
                Some(Value::Array(values)) => enumeration(values, (flag(schema, ORDERED), true), pointer),
                _ => Shape::String,
            },
            "array" => self.array(schema, pointer, depth),
            "object" if flag(schema, OPEN) => Shape::RawObject,
            "object" => self.object(schema, pointer, depth),
            _ => Shape::Any,
        }
    }

    fn array(&self, schema: &Map<String, Value>, pointer: &str, depth: usize) -> Shape {
        let items = schema.get("items");
        let items = items.filter(|items| items.is_object() && !schema.contains_key("prefixItems"));
        let items = items.unwrap_or(&Value::Bool(true));
        Shape::List(Box::new(self.build_within(items, &format!("{pointer}/items"), depth)))
    }

    fn object(&self, schema: &Map<String, Value>, pointer: &str, depth: usize) -> Shape {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let required: BTreeSet<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
        let mut members: BTreeMap<String, Property> = properties
            .into_iter()
            .flatten()
            .filter(|(_, schema)| **schema != Value::Bool(false))
            .map(|(name, schema)| {
                let pointer = pointer::child(&pointer::child(pointer, "properties"), name);
                let property = Property {
                    node: self.build_within(schema, &pointer, depth),
                    required: required.contains(name.as_str()),
                };
                (name.clone(), property)
            })
            .collect();
        if members.is_empty() {
            return self.undeclared_members(schema, pointer, depth);
        }
        for name in required {
            members.entry(name.to_owned()).or_insert_with(|| Property {
                node: self.build_within(&Value::Bool(true), pointer, depth),
                required: true,
            });
        }
        Shape::Object(members)
    }

    fn undeclared_members(&self, schema: &Map<String, Value>, pointer: &str, depth: usize) -> Shape {
        match schema.get("additionalProperties") {
            Some(values @ Value::Object(keywords))
                if !keywords.is_empty() && !schema.contains_key("patternProperties") =>
            {
                let pointer = format!("{pointer}/additionalProperties");
                let value = self.build_within(values, &pointer, depth);
                match value.shape {
                    Shape::Any => Shape::RawObject,
                    _ => Shape::Map(Box::new(value)),
                }
            }
            _ => Shape::RawObject,
        }
    }
}

/// Returns the reference of a schema such as `{"allOf": [{"$ref": …}]}`, which only adds annotations to it.
fn only_reference(schema: &Map<String, Value>) -> Option<&str> {
    let mut says = schema.iter().filter(|(keyword, _)| {
        !keyword.starts_with("x-") && !matches!(keyword.as_str(), "description" | "title" | "default" | "examples")
    });
    let (keyword, value) = says.next()?;
    if keyword != "allOf" || says.next().is_some() {
        return None;
    }
    match value.as_array()?.as_slice() {
        [Value::Object(single)] if single.len() == 1 => single.get("$ref")?.as_str(),
        _ => None,
    }
}

/// Whether a schema only defines which members an object requires. A choice between such schemas, next to the
/// declaration of the members, doesn't create different types.
pub(crate) fn only_requires(schema: &Value) -> bool {
    matches!(schema, Value::Object(keywords) if keywords.keys().eq(["required"]))
}

fn flag(schema: &Map<String, Value>, keyword: &str) -> bool {
    schema.get(keyword) == Some(&Value::Bool(true))
}

/// Returns the shape of `const`.
fn constant_shape(constant: &Value) -> Shape {
    match constant {
        Value::Null => Shape::Null,
        Value::Bool(value) => Shape::Constant(Scalar::Boolean(*value)),
        Value::String(text) => Shape::Constant(Scalar::String(text.clone())),
        // 1.0 is the integer 1.
        Value::Number(number) => match Reader::new(&number.to_string()).integer() {
            Ok(integer) => Shape::Constant(Scalar::Integer(integer)),
            Err(_) => Shape::Number,
        },
        Value::Array(_) | Value::Object(_) => Shape::Any,
    }
}

/// Returns the shape of listed values: whether their order is meaningful, and whether other values are valid.
fn enumeration(values: &[Value], (ordered, open): (bool, bool), pointer: &str) -> Shape {
    let nullable = values.contains(&Value::Null);
    let rest: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    let shape = match rest.as_slice() {
        [] => return if nullable { Shape::Null } else { Shape::Any },
        [single] if !nullable => return constant_shape(single),
        _ if rest.iter().all(|value| value.is_string()) => {
            let strings = rest.iter().filter_map(|value| value.as_str());
            let values = distinct(strings.map(str::to_owned));
            Shape::Strings(Strings { values, ordered, open })
        }
        _ if rest.iter().all(|value| value.is_boolean()) => Shape::Boolean,
        _ if rest.iter().all(|value| value.is_i64()) => Shape::Integer,
        _ if rest.iter().all(|value| value.is_number()) => Shape::Number,
        _ => return Shape::Any,
    };
    if !nullable {
        return shape;
    }
    Shape::Nullable(Box::new(Node::at(pointer, shape)))
}
