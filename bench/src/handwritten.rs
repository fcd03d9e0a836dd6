//! Types written by hand for speed, which represent only the three cases: an upper bound for the speed of ours.
//!
//! `J` is the type of open JSON (arguments, schemas, structured content): parsed, as `serde_json::Value`, or as the
//! received text, `Box<RawValue>`. Undeclared members are skipped, an id is an integer, and a block's tag must come
//! first.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The constant `"2.0"`.
#[derive(Debug, Serialize, Deserialize)]
pub enum Version {
    /// `"2.0"`
    #[serde(rename = "2.0")]
    Two,
}

/// The constant `"tools/call"`.
#[derive(Debug, Serialize, Deserialize)]
pub enum Method {
    /// `"tools/call"`
    #[serde(rename = "tools/call")]
    CallTool,
}

/// A `tools/call` request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Call<J> {
    jsonrpc: Version,
    id: i64,
    method: Method,
    params: CallParams<J>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CallParams<J> {
    name: String,
    arguments: J,
}

/// A response whose result is a `T`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Response<T> {
    jsonrpc: Version,
    id: i64,
    result: T,
}

/// The result of `tools/list`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tools<J> {
    tools: Vec<Tool<J>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool<J> {
    name: String,
    title: Option<String>,
    description: Option<String>,
    input_schema: J,
    annotations: Option<Hints>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hints {
    read_only_hint: Option<bool>,
    destructive_hint: Option<bool>,
    idempotent_hint: Option<bool>,
    open_world_hint: Option<bool>,
}

/// The result of `tools/call`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocks<J> {
    content: Vec<Block>,
    structured_content: J,
    is_error: Option<bool>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text(Text),
    Image(Media),
    Audio(Media),
    ResourceLink(Link),
    Resource(Embedded),
}

#[derive(Debug, Serialize, Deserialize)]
struct Text {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Annotations>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Annotations {
    audience: Option<Vec<Role>>,
    priority: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Media {
    data: String,
    mime_type: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    name: String,
    uri: String,
    description: Option<String>,
    mime_type: Option<String>,
    size: Option<i64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Embedded {
    resource: Contents,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contents {
    uri: String,
    mime_type: Option<String>,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tag {
    Type,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Image,
    Audio,
    ResourceLink,
    Resource,
}

/// serde's derive with `tag` buffers the members after the tag, even if the tag comes first. This implementation
/// doesn't.
impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TagFirst)
    }
}

struct TagFirst;

impl<'de> Visitor<'de> for TagFirst {
    type Value = Block;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block whose tag comes first")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Block, A::Error> {
        let Some(Tag::Type) = map.next_key()? else {
            return Err(A::Error::missing_field("type"));
        };
        let kind = map.next_value()?;
        let rest = MapAccessDeserializer::new(map);
        match kind {
            Kind::Text => Text::deserialize(rest).map(Block::Text),
            Kind::Image => Media::deserialize(rest).map(Block::Image),
            Kind::Audio => Media::deserialize(rest).map(Block::Audio),
            Kind::ResourceLink => Link::deserialize(rest).map(Block::ResourceLink),
            Kind::Resource => Embedded::deserialize(rest).map(Block::Resource),
        }
    }
}
