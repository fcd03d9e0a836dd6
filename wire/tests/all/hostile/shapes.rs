//! Types like the generated ones.

use mcp_wire::{Extra, Map, Number, RawJson, Schema, object, union};

static SCHEMA: Schema = Schema::new(
    "2099-01-01",
    r##"{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "kind": {"const": "node"},
                    "text": {"type": "string"},
                    "size": {"type": "integer"},
                    "child": {"$ref": "#/$defs/Node"}
                },
                "required": ["kind"]
            },
            "Shape": {"type": "object"},
            "Circle": {"type": "object"}
        }
    }"##,
);

/// An object with a constant, and optional members of every sort.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    pub text: Option<String>,
    pub size: Option<i64>,
    pub child: Option<Box<Node>>,
    pub shapes: Option<Vec<Shape>>,
    pub counts: Option<Map<i64>>,
    pub open: Option<RawJson>,
    pub extra: Extra,
}

object! {
    Node: SCHEMA["#/$defs/Node"]
    constant {
        "kind" => kind: "node",
    }
    optional {
        "text" => text, with_text: impl Into<String>,
        "size" => size, with_size: i64,
        "child" => child, with_child: Node,
        "shapes" => shapes, with_shapes: Vec<Shape>,
        "counts" => counts, with_counts: Map<i64>,
        "open" => open, with_open: impl Into<RawJson>,
    }
}

/// A union with a tag.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Circle(Circle),
    Unknown(RawJson),
}

union! {
    Shape: SCHEMA["#/$defs/Shape"]
    Circle(Circle),
    Unknown,
    |reader| match reader.peek_tag("type")?.as_deref() {
        Some("circle") => reader.decode().map(Self::Circle),
        _ => reader.unknown_variant().map(Self::Unknown),
    }
}

/// A variant of the union.
#[derive(Debug, Clone, PartialEq)]
pub struct Circle {
    pub radius: Number,
    pub extra: Extra,
}

object! {
    Circle: SCHEMA["#/$defs/Circle"]
    constant {
        "type" => type_: "circle",
    }
    required {
        "radius" => radius: impl Into<Number>,
    }
}
