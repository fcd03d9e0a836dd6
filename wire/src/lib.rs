//! The parts that the generated MCP type crates share.
//!
//! A generated type reads itself from bytes with [`Decode`], writes itself with [`Encode`], and is validated by its
//! revision's schema with [`Validate`]. It also implements `serde`'s traits, for other formats and for types that
//! contain it.
//!
//! No data from a peer is lost: members that a type doesn't declare are kept in an [`Extra`], and JSON that the schema
//! leaves open is kept as text in a [`RawJson`].
//!
//! All input is treated as hostile: nesting is bounded by [`MAX_DEPTH`], and memory by the length of the text. A number
//! that doesn't fit is an error, and so is a member that occurs twice, except in open JSON that isn't parsed.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod borrowed;
mod decode;
mod definition;
mod encode;
mod error;
mod extension;
mod id;
mod known;
mod map;
mod message;
mod method;
mod number;
mod object;
mod open;
mod parts;
mod plain;
mod preset;
mod reader;
mod schema;
#[cfg(feature = "schemars")]
#[doc(hidden)]
pub mod schemars_support;
pub mod serde_support;
mod serialize;
mod shared;
mod table;
mod text;
mod tree;
mod validate;

pub use borrowed::BorrowedJson;
pub use decode::{Decode, Null, from_slice, from_str, text_of};
pub use definition::{Definition, Instance, definition_name};
pub use encode::{Encode, EncodeError, JsonWriter, push_string, push_value, to_string, to_vec};
pub use error::{DecodeError, DecodeErrorKind, Decoded};
pub use extension::{AddedResult, Extension, MetaMember, RepeatedParameter};
pub use id::RequestId;
pub use known::{Begun, KnownJson, Places};
pub use map::{Extra, Map};
pub use mcp_json_schema::{self as json_schema, JsonType, Validator, path, path::Path};
pub use message::{
    Batch, BatchElements, Call, ErrorObject, ErrorResponse, Message, MessageHeader, MessageKind, Notice, Payload,
    Response, UnknownMethod,
};
pub use method::{Direction, Method, Notification, Request, error_code};
pub use number::Number;
pub use object::{Constant, Field, Member, MemberWriter, Name, Object, ObjectWriter, encode_object, serialize_object};
pub use open::{RawJson, RawObject};
pub use preset::Preset;
pub use reader::{Discriminator, MAX_DEPTH, Reader};
pub use schema::Schema;
pub use shared::SharedJson;
pub use validate::{Invalid, Validate, accepts_text, is_valid, validate_at, validate_text};

/// The examples of the README, which compile and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// For the macros of this crate.
#[cfg(feature = "schemars")]
#[doc(hidden)]
pub use schemars;
/// For the macros of this crate.
#[doc(hidden)]
pub use serde_core as serde;
#[doc(hidden)]
pub use serde_json;
