//! The terms negotiated for a message: its revision, and the peer's description of itself.

use std::sync::{Arc, OnceLock};

use mcp_adapters::hub::LoggingLevel;
use mcp_adapters::mcp_wire::{ErrorObject, MessageHeader, RawJson};
use mcp_adapters::{
    ClientDescription, Conversion, PeerTypes, Policy, Revision, ServerDescription, Supply, hub, session_messages,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{CallError, invalid_params};
use crate::message::to_value;

/// The terms negotiated for a message. A handshake negotiates them for the whole session; a stateless request carries
/// its own.
#[derive(Debug, Clone)]
pub struct Negotiated {
    /// The revision of the message.
    pub revision: Revision,
    /// The peer's description of itself; `None` before it has sent it.
    pub info: Option<PeerInfo>,
    /// The lowest severity of log messages that the peer wants for this request.
    pub log_severity: Option<usize>,
    /// This side's description of itself in each request: keys of `_meta` and their values.
    pub request_meta: Vec<(&'static str, RawJson)>,
    /// The metadata that conversions add to messages of revisions that require it in each message. Computed for the
    /// first conversion.
    supply: OnceLock<Arc<Supply>>,
}

impl Negotiated {
    /// Creates the default terms, before the peer has described itself.
    pub fn unknown(revision: Revision) -> Self {
        Self {
            revision,
            info: None,
            log_severity: None,
            request_meta: Vec::new(),
            supply: OnceLock::new(),
        }
    }

    /// Adds these keys to the `_meta` of each request of this side.
    pub fn with_request_meta(self, request_meta: Vec<(&'static str, RawJson)>) -> Self {
        Self { request_meta, ..self }
    }

    /// Returns the conversion for a message.
    pub fn conversion(&self) -> Conversion {
        let conversion = Conversion::new(Policy::Conform);
        if self.revision == Revision::HUB {
            // Nothing is converted.
            return conversion;
        }
        conversion.supplied_with(Arc::clone(self.supply()))
    }

    fn supply(&self) -> &Arc<Supply> {
        self.supply
            .get_or_init(|| Arc::new(supply(self.revision, self.info.as_ref())))
    }

    /// Returns the conversion for an input request to the peer, with a random id for an elicitation.
    pub fn conversion_of_question(&self) -> Result<Conversion, CallError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| CallError::Unrepresentable(error.to_string()))?;
        let mut supply = Supply::clone(self.supply());
        session_messages::supply_elicitation(&mut supply, &format!("{:032x}", u128::from_le_bytes(id)));
        Ok(Conversion::new(Policy::Conform).supplied_with(supply))
    }

    /// Creates the terms with a client from its description of itself.
    pub fn with_client(revision: Revision, description: ClientDescription) -> Result<Self, ErrorObject> {
        let log_severity = match &description.log_level {
            None => None,
            Some(level) => {
                let known = severity(&level.as_str().into());
                Some(known.ok_or_else(|| invalid_params(format!("unknown log level `{level}`")))?)
            }
        };
        let info = PeerInfo {
            implementation: description.implementation,
            capabilities: to_value(&description.capabilities),
            instructions: None,
        };
        Ok(Self {
            info: Some(info),
            log_severity,
            ..Self::unknown(revision)
        })
    }

    /// Creates the terms with a server from its description of itself.
    pub fn with_server(revision: Revision, description: ServerDescription) -> Self {
        let info = PeerInfo {
            implementation: description.implementation,
            capabilities: to_value(&description.capabilities),
            instructions: description.instructions,
        };
        Self {
            info: Some(info),
            ..Self::unknown(revision)
        }
    }

    /// Reads the terms that a stateless message of this revision carries.
    pub fn of_request(revision: Revision, message: &MessageHeader<'_>) -> Result<Self, ErrorObject> {
        let description = session_messages::read_request_meta(revision, message).map_err(invalid_params)?;
        Self::with_client(revision, description.result)
    }

    /// Returns the name of a method of the hub in the peer's revision.
    pub fn method<'n>(&self, name: &'n str) -> &'n str {
        self.revision.name_of_method(Revision::HUB, name)
    }

    /// Whether the revision is stateless.
    pub fn is_stateless(&self) -> bool {
        self.revision.is_stateless()
    }
}

/// Returns the metadata that conversions add to the messages of a client in a revision.
fn supply(revision: Revision, client: Option<&PeerInfo>) -> Supply {
    let json = |value: Option<Value>| RawJson::from(value.unwrap_or_else(|| Value::Object(Map::new())));
    let implementation = client.and_then(|client| client.implementation.as_ref());
    let implementation = implementation.and_then(|implementation| RawJson::from_encode(implementation).ok());
    let capabilities = client.map(|client| client.capabilities.clone());
    session_messages::supply(revision.as_str(), json(capabilities), implementation)
}

/// The progress of a call, as the peer reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The progress so far, in a unit of the peer's choice.
    pub progress: f64,
    /// The progress at the end, if the peer knows it.
    pub total: Option<f64>,
    /// A message for people.
    pub message: Option<String>,
}

/// A peer's description of itself: from the handshake, a discovery, or a stateless request.
#[derive(Debug, Clone)]
pub struct PeerInfo {
    /// Its name and version, if it states them.
    pub implementation: Option<hub::Implementation>,
    /// Its capabilities, in the form of the hub.
    pub capabilities: Value,
    /// A server's instructions for its use.
    pub instructions: Option<String>,
}

impl PeerInfo {
    /// Returns the capabilities of a server; none if they can't be decoded as such.
    #[must_use]
    pub fn server_capabilities(&self) -> hub::ServerCapabilities {
        hub::ServerCapabilities::deserialize(&self.capabilities).unwrap_or_default()
    }

    /// Returns the capabilities of a client; none if they can't be decoded as such.
    #[must_use]
    pub fn client_capabilities(&self) -> hub::ClientCapabilities {
        hub::ClientCapabilities::deserialize(&self.capabilities).unwrap_or_default()
    }
}

/// The log levels, least severe first.
const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

/// Returns the log level of this severity.
pub fn log_level(severity: usize) -> Option<LoggingLevel> {
    LEVELS.get(severity).cloned()
}

/// Returns the severity of a log level, if the level is known.
pub fn severity(level: &LoggingLevel) -> Option<usize> {
    LEVELS.iter().position(|known| known == level)
}
