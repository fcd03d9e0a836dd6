//! The messages that sessions exchange automatically, such as the handshake, the discovery and the metadata of each
//! request.

mod changes;
mod errors;
mod handshake;
mod object;
mod request_meta;

use std::fmt;

use mcp_wire::{DecodeError, RawJson};

use crate::lifecycle::{ErrorRole, KnownError, Lifecycle};
use crate::loss::Loss;
use crate::revision::ProtocolRevision;
use crate::translated::{FromPeer, FromResult};
use crate::unrepresentable::Unrepresentable;

pub use self::changes::{
    ChangeFilter, acknowledge, listen, listen_result, read_acknowledgement, read_listen, set_level, subscribe,
    subscription, text_param, unsubscribe,
};
pub use self::errors::{input_requests_in_error, missing_capability, supported_by_peer, unsupported};
pub use self::handshake::{
    cancellation, cancelled_request, completes_handshake, discovery, empty_result, initialize_params,
    initialize_result, negotiated_version, params, progressing_call, read_discovery, read_initialize_params,
    read_initialize_result, requested_version,
};
pub use self::object::result_meta;
pub use self::request_meta::{
    VERSION_KEY, is_in_request_meta, missing_key, read_request_meta, request_meta, supply, supply_elicitation,
    unusual_kind, version_in_meta,
};

/// The member of parameters and results with the metadata.
const META: &str = "_meta";

/// A type of revisions with the hub's types for capabilities and implementations.
///
/// [`peer_types!`](crate::peer_types) implements it.
pub trait PeerTypes: ProtocolRevision {
    /// The capabilities of a client.
    type ClientCapabilities;
    /// The capabilities of a server.
    type ServerCapabilities;
    /// The name and version of an implementation.
    type Implementation;

    /// Returns the names of the methods and members that a session uses.
    #[must_use]
    fn lifecycle(self) -> &'static Lifecycle {
        self.known_lifecycle()
    }

    /// Reads a client's capabilities in this revision.
    ///
    /// # Errors
    /// The JSON is invalid, or the hub can't represent it.
    fn read_client_capabilities(self, json: &RawJson) -> Result<FromResult<Self::ClientCapabilities>, FromPeer>;

    /// Reads a server's capabilities in this revision.
    ///
    /// # Errors
    /// The JSON is invalid, or the hub can't represent it.
    fn read_server_capabilities(self, json: &RawJson) -> Result<FromResult<Self::ServerCapabilities>, FromPeer>;

    /// Reads the name and version of an implementation in this revision.
    ///
    /// # Errors
    /// The JSON is invalid, or the hub can't represent it.
    fn read_implementation(self, json: &RawJson) -> Result<FromResult<Self::Implementation>, FromPeer>;

    /// Writes a client's capabilities in this revision.
    ///
    /// # Errors
    /// The revision can't represent them.
    fn client_capabilities(self, value: Self::ClientCapabilities) -> Encoded;

    /// Writes a server's capabilities in this revision.
    ///
    /// # Errors
    /// The revision can't represent them.
    fn server_capabilities(self, value: Self::ServerCapabilities) -> Encoded;

    /// Writes the name and version of an implementation in this revision.
    ///
    /// # Errors
    /// The revision can't represent it.
    fn implementation(self, value: Self::Implementation) -> Encoded;

    /// Returns the error with a role.
    #[must_use]
    fn known_error(self, role: ErrorRole) -> Option<&'static KnownError> {
        self.known_errors().iter().find(|error| error.role == role)
    }

    /// Whether a session of this revision starts with a handshake.
    #[must_use]
    fn has_handshake(self) -> bool {
        self.lifecycle().begin.is_some()
    }

    /// Whether each request has the metadata that other revisions exchange in the handshake.
    #[must_use]
    fn is_stateless(self) -> bool {
        self.lifecycle().meta_version.is_some()
    }
}

/// Converted JSON, and the losses of the conversion.
pub type Encoded = Result<(RawJson, Vec<Loss>), Unrepresentable>;

/// The revision, capabilities and implementation of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientDescription<R: PeerTypes> {
    /// The requested revision.
    pub version: String,
    /// The capabilities.
    pub capabilities: R::ClientCapabilities,
    /// The name and version.
    pub implementation: Option<R::Implementation>,
    /// The minimum level of log messages.
    pub log_level: Option<String>,
}

/// The revisions, capabilities and implementation of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerDescription<R: PeerTypes> {
    /// The negotiated revision of a handshake, or all supported revisions of a discovery.
    pub versions: Vec<String>,
    /// The capabilities.
    pub capabilities: R::ServerCapabilities,
    /// The name and version.
    pub implementation: Option<R::Implementation>,
    /// The instructions for using the server.
    pub instructions: Option<String>,
}

/// An error in the messages of a session, such as a handshake.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionError {
    /// The revision has no such method.
    NoSuchMethod,
    /// A value isn't an object.
    NoObject(DecodeError),
    /// A required member is missing or has the wrong type.
    Missing(&'static str),
    /// A member is invalid, or another revision can't represent it.
    Member(&'static str, FromPeer),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchMethod => f.write_str("the revision has no such method"),
            Self::NoObject(error) => error.fmt(f),
            Self::Missing(member) => write!(f, "`{member}` is missing or has the wrong type"),
            Self::Member(member, error) => write!(f, "`{member}`: {error}"),
        }
    }
}

impl std::error::Error for SessionError {}

type Read<T> = Result<FromResult<T>, SessionError>;
type Written = Result<(RawJson, Vec<Loss>), SessionError>;
