#![doc = include_str!("../README.md")]

mod conversion;
mod engine;
mod errors;
mod facts;
mod lifecycle;
mod loss;
mod negotiation;
mod peer;
mod placeholders;
mod policy;
mod protocol;
mod revision;
pub mod session_messages;
mod supply;
mod table;
mod tables;
mod translated;
mod translation;
mod unrepresentable;
mod validation;

pub use self::conversion::Conversion;
pub use self::errors::translate_error;
pub use self::facts::{Facts, MirroredArguments, MirroredCall, MirroredList, MirroredParam, Mirrors};
pub use self::lifecycle::{Asks, ErrorRole, KnownError, Lifecycle, Members, OwnMessage, Presets};
pub use self::loss::{AUTOMATIC, Loss, LossKind};
pub use self::negotiation::{Mismatch, accept, negotiate};
pub use self::policy::Policy;
pub use self::protocol::{LoadError, Protocol, TableSource};
pub use self::revision::{ProtocolRevision, UnknownRevision};
pub use self::session_messages::{ClientDescription, Encoded, PeerTypes, ServerDescription, SessionError};
pub use self::supply::Supply;
pub use self::tables::{ErrorRule, Need, Role, Table, Tolerance};
pub use self::translated::{FromPeer, FromResult, Translated};
pub use self::translation::{TranslateError, Translation, definition_names, supply_keys, translatable, translate};
pub use self::unrepresentable::Unrepresentable;
pub use self::validation::{result_definitions, validate_call, validate_definition, validate_result};
pub use mcp_wire;

/// For the generated functions that take messages to and from a peer.
#[doc(hidden)]
pub mod peers {
    pub use crate::peer::{
        encode_message, encode_value, push_result, read_message, read_messages, read_result, read_value,
    };
}
