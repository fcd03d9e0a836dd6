//! Types written by hand in the way in which they are generated.

use std::sync::LazyLock;

use mcp_wire::{
    Decode, Decoded, Extra, Judge, Map, MemberWriter, Number, Object, OpenJson, Reader, Validate, embedded_judge,
};
use serde::Serialize;
use serde::ser::SerializeMap;

/// An object with a constant, and optional members of every sort.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    pub text: Option<String>,
    pub size: Option<i64>,
    pub child: Option<Box<Node>>,
    pub shapes: Option<Vec<Shape>>,
    pub counts: Option<Map<i64>>,
    pub open: Option<OpenJson>,
    pub extra: Extra,
}

impl Decode for Node {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let mut kind = None;
        let mut node = Self::default();
        let mut members = reader.members()?;
        while let Some(key) = members.key()? {
            match &*key {
                "kind" => members.read_constant(&mut kind, "kind", "node")?,
                "text" => members.read_optional(&mut node.text, "text")?,
                "size" => members.read_optional(&mut node.size, "size")?,
                "child" => members.read_optional(&mut node.child, "child")?,
                "shapes" => members.read_optional(&mut node.shapes, "shapes")?,
                "counts" => members.read_optional(&mut node.counts, "counts")?,
                "open" => members.read_optional(&mut node.open, "open")?,
                _ => members.keep(key)?,
            }
        }
        members.require(kind, "kind")?;
        node.extra = members.finish()?;
        Ok(node)
    }
}

impl Object for Node {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: SerializeMap>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write_constant("kind", "node")?;
        members.write_optional("text", &self.text)?;
        members.write_optional("size", &self.size)?;
        members.write_optional("child", &self.child)?;
        members.write_optional("shapes", &self.shapes)?;
        members.write_optional("counts", &self.counts)?;
        members.write_optional("open", &self.open)
    }
}

mcp_wire::serde_object!(Node);

impl Validate for Node {
    const POINTER: &'static str = "#/$defs/Node";

    fn judge() -> &'static Judge {
        static JUDGE: LazyLock<Judge> = LazyLock::new(|| {
            embedded_judge(
                r##"{
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "$defs": {"Node": {
                        "type": "object",
                        "properties": {
                            "kind": {"const": "node"},
                            "text": {"type": "string"},
                            "size": {"type": "integer"},
                            "child": {"$ref": "#/$defs/Node"}
                        },
                        "required": ["kind"]
                    }}
                }"##,
            )
        });
        &JUDGE
    }
}

/// A union with a tag.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Circle(Circle),
    Unknown(OpenJson),
}

impl Decode for Shape {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        match reader.peek_tag("type")?.as_deref() {
            Some("circle") => Decode::decode(reader).map(Self::Circle),
            _ => reader.unknown_variant().map(Self::Unknown),
        }
    }
}

impl Serialize for Shape {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Circle(circle) => circle.serialize(serializer),
            Self::Unknown(json) => json.serialize(serializer),
        }
    }
}

/// A variant of the union.
#[derive(Debug, Clone, PartialEq)]
pub struct Circle {
    pub radius: Number,
    pub extra: Extra,
}

impl Decode for Circle {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (mut tag, mut radius) = (None, None);
        let mut members = reader.members()?;
        while let Some(key) = members.key()? {
            match &*key {
                "type" => members.read_constant(&mut tag, "type", "circle")?,
                "radius" => members.read(&mut radius, "radius")?,
                _ => members.keep(key)?,
            }
        }
        members.require(tag, "type")?;
        Ok(Self {
            radius: members.require(radius, "radius")?,
            extra: members.finish()?,
        })
    }
}

impl Object for Circle {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: SerializeMap>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write_constant("type", "circle")?;
        members.write("radius", &self.radius)
    }
}

mcp_wire::serde_object!(Circle);
