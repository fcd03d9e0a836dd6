//! What clients and servers say about themselves, in the handshake of a revision, in its discovery, or with each request.

mod changes;
mod errors;
mod handshake;
mod object;
mod stamp;

use std::fmt;

use mcp_wire::OpenJson;

use crate::lifecycle::{ErrorRole, KnownError, Lifecycle};
use crate::loss::Loss;
use crate::revision::{ProtocolRevision, Tolerance};
use crate::translated::{FromPeer, FromResult};
use crate::unrepresentable::Unrepresentable;

pub use self::changes::{
    ChangeFilter, acknowledge, listen, listen_result, read_acknowledgement, read_listen, set_level, subscribe,
    subscription, text_param, unsubscribe,
};
pub use self::errors::{missing_capability, supported_by_peer, unsupported};
pub use self::handshake::{
    agree, agreed_version, begin, cancellation, cancelled_request, completes_handshake, discovery, read_agreement,
    read_begin, read_discovery, requested_version,
};
pub use self::object::result_stamp;
pub use self::stamp::{
    is_of_stamp, missing_key, read_stamp, stamp, stamped_version, supply, supply_elicitation, unusual_kind,
};

/// The member of parameters and results that has what is said beside them.
const META: &str = "_meta";

/// Revisions with the hub's types of what peers say about themselves.
///
/// [`peer_types!`](crate::peer_types) implements it.
pub trait PeerTypes: ProtocolRevision {
    /// What a client can do.
    type ClientCapabilities;
    /// What a server can do.
    type ServerCapabilities;
    /// A name and version.
    type Implementation;

    /// The names of the revision's lifecycle.
    fn lifecycle(self) -> &'static Lifecycle;

    /// The errors of the revision that a session deals with by itself.
    fn known_errors(self) -> &'static [KnownError];

    /// What is tolerated in results of a method.
    fn tolerated(self, method: &str) -> &'static [Tolerance];

    /// A client's capabilities, from this revision.
    ///
    /// # Errors
    /// When they are none, or the hub can't represent them.
    fn read_client_capabilities(self, json: &OpenJson) -> Result<FromResult<Self::ClientCapabilities>, FromPeer>;

    /// A server's capabilities, from this revision.
    ///
    /// # Errors
    /// When they are none, or the hub can't represent them.
    fn read_server_capabilities(self, json: &OpenJson) -> Result<FromResult<Self::ServerCapabilities>, FromPeer>;

    /// A name and version, from this revision.
    ///
    /// # Errors
    /// When it is none, or the hub can't represent it.
    fn read_implementation(self, json: &OpenJson) -> Result<FromResult<Self::Implementation>, FromPeer>;

    /// A client's capabilities in this revision.
    ///
    /// # Errors
    /// When it can't represent them.
    fn client_capabilities(self, value: Self::ClientCapabilities) -> Encoded;

    /// A server's capabilities in this revision.
    ///
    /// # Errors
    /// When it can't represent them.
    fn server_capabilities(self, value: Self::ServerCapabilities) -> Encoded;

    /// A name and version in this revision.
    ///
    /// # Errors
    /// When it can't represent it.
    fn implementation(self, value: Self::Implementation) -> Encoded;

    /// The error of this role.
    #[must_use]
    fn known_error(self, role: ErrorRole) -> Option<&'static KnownError> {
        self.known_errors().iter().find(|error| error.role == role)
    }

    /// Whether a session of this revision begins with a handshake.
    #[must_use]
    fn has_handshake(self) -> bool {
        self.lifecycle().begin.is_some()
    }

    /// Whether each request says what else a handshake says.
    #[must_use]
    fn stands_alone(self) -> bool {
        self.lifecycle().meta_version.is_some()
    }
}

/// JSON in another revision, and what was lost.
pub type Encoded = Result<(OpenJson, Vec<Loss>), Unrepresentable>;

/// What a client says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientHello<R: PeerTypes> {
    /// The revision that it asks for.
    pub version: String,
    /// What it can do.
    pub capabilities: R::ClientCapabilities,
    /// Its name and version.
    pub implementation: Option<R::Implementation>,
    /// The least severe log messages that it wants.
    pub log_level: Option<String>,
}

/// What a server says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerHello<R: PeerTypes> {
    /// The revision that it has chosen, or those that it speaks.
    pub versions: Vec<String>,
    /// What it can do.
    pub capabilities: R::ServerCapabilities,
    /// Its name and version.
    pub implementation: Option<R::Implementation>,
    /// What it says about its use.
    pub instructions: Option<String>,
}

/// Why what a peer says about itself can't be read or written.
#[derive(Debug, Clone, PartialEq)]
pub enum HelloError {
    /// The revision has no method for it.
    NoSuchMethod,
    /// A required member is missing, or of another type.
    Missing(&'static str),
    /// A member isn't what the revision says, or can't be had in another one.
    Member(&'static str, FromPeer),
}

impl fmt::Display for HelloError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchMethod => f.write_str("the revision has no method for it"),
            Self::Missing(member) => write!(f, "`{member}` is required"),
            Self::Member(member, error) => write!(f, "`{member}`: {error}"),
        }
    }
}

impl std::error::Error for HelloError {}

type Read<T> = Result<FromResult<T>, HelloError>;
type Written = Result<(OpenJson, Vec<Loss>), HelloError>;
