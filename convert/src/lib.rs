#![doc = include_str!("../README.md")]

mod containers;
mod conversion;
mod errors;
mod facts;
pub mod hello;
mod lifecycle;
mod loss;
mod members;
mod negotiation;
mod open;
mod peer;
mod placeholders;
mod revision;
mod supply;
mod table;
mod translated;
mod translation;
mod unrepresentable;
mod validation;
mod values;

pub use self::conversion::{Conversion, Convert, Policy, Supply};
pub use self::errors::translate_error;
pub use self::facts::{Facts, MirroredArguments, MirroredCall, MirroredList, MirroredParam, Mirrors};
pub use self::hello::{ClientHello, Encoded, HelloError, PeerTypes, ServerHello};
pub use self::lifecycle::{Asks, ErrorRole, KnownError, Lifecycle, Members, OwnMessage, Presets};
pub use self::loss::{AUTOMATIC, Loss, LossKind};
pub use self::negotiation::{Mismatch, accept, negotiate};
pub use self::open::{close, close_entries, close_valid, open};
pub use self::revision::{ErrorRule, Need, ProtocolRevision, Tolerance, UnknownRevision};
pub use self::translated::{FromPeer, FromResult, Translated};
pub use self::translation::{Definition, TranslateError, Translation, Translations, translatable, translate};
pub use self::unrepresentable::Unrepresentable;
pub use self::validation::{validate_call, validate_result};
pub use mcp_wire;

/// For the generated functions that take messages to and from a peer.
#[doc(hidden)]
pub mod peers {
    pub use crate::peer::{
        encode_message, encode_result, encode_same, encode_same_result, read_messages, read_result, read_same,
        read_same_result, read_same_value, read_value,
    };
}
