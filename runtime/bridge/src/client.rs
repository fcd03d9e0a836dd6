//! The identity of a client.

use std::net::IpAddr;

use mcp_adapters::mcp_wire::Direction;
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_core::internal::ClientInfo;
use mcp_runtime_core::transport::{Connection, Principal};
use serde_json::Value;
use tokio_util::sync::DropGuard;

/// The identity of a client of a bridge, as far as its transport knows it.
///
/// Requests with the same principal belong to one client. Without a principal, those on the same connection do. An
/// input request of a server goes only to the client whose session with the server it was sent in.
///
/// For a session over HTTP, it is converted from the [`SessionInfo`](mcp_runtime_http::server::SessionInfo). A request
/// that was forwarded by a proxy, as the headers `Forwarded`, `X-Forwarded-For` and `Via` show, has no connection:
/// other clients can share it.
#[derive(Debug, Clone, Default)]
pub struct ClientId {
    principal: Option<String>,
    connection: Option<Connection>,
    address: Option<IpAddr>,
}

impl From<Option<String>> for ClientId {
    /// Identifies a client by its principal or, without one, by its own connection.
    fn from(principal: Option<String>) -> Self {
        Self {
            principal,
            ..Self::default()
        }
    }
}

#[cfg(feature = "http")]
impl From<&mcp_runtime_http::server::SessionInfo> for ClientId {
    fn from(info: &mcp_runtime_http::server::SessionInfo) -> Self {
        use http::header::{FORWARDED, HeaderName, VIA};
        use mcp_runtime_http::server::ClientAddress;

        const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
        let (headers, extensions) = (&info.request.headers, &info.request.extensions);
        let is_forwarded = [FORWARDED, VIA, X_FORWARDED_FOR]
            .iter()
            .any(|name| headers.contains_key(name));
        let connection: Option<&Connection> = extensions.get().filter(|_| !is_forwarded);
        let address: Option<&ClientAddress> = extensions.get();
        Self {
            principal: info.principal.clone(),
            connection: connection.cloned(),
            address: address.map(|ClientAddress(address)| address.ip()),
        }
    }
}

/// The key that identifies a client: its principal or, without one, its connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KnownBy {
    Principal(String),
    Connection(u64),
}

/// The key by which a client's share of a limit is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Owner {
    Known(KnownBy),
    Address(IpAddr),
}

impl ClientId {
    /// Returns the connection on which the client is served, if it is known.
    pub(super) fn connection(&self) -> Option<Connection> {
        self.connection.clone()
    }

    /// Gives the client its own connection if the transport doesn't report one. It is closed when the guard is dropped.
    pub(super) fn ensure_connection(&mut self) -> Option<DropGuard> {
        if self.connection.is_some() {
            return None;
        }
        let own = Connection::new();
        let guard = own.guard();
        self.connection = Some(own);
        Some(guard)
    }

    pub(super) fn known(&self) -> KnownBy {
        match (&self.principal, &self.connection) {
            (Some(principal), _) => KnownBy::Principal(principal.clone()),
            (None, Some(connection)) => KnownBy::Connection(connection.id()),
            (None, None) => KnownBy::Connection(Connection::new().id()),
        }
    }

    pub(super) fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    /// Returns the owner of the tasks that the client can see: its principal. Without one, a client with a session sees
    /// the tasks of the session, and a stateless client those that were created from its address, whose ids can't be
    /// guessed.
    pub(super) fn owner_of_tasks(&self, revision: Revision) -> Principal {
        Principal(match (&self.principal, self.address) {
            (Some(principal), _) => format!("principal {principal}"),
            (None, Some(address)) if revision.is_stateless() => format!("address {address}"),
            _ => format!("session {}", Connection::new().id()),
        })
    }

    pub(super) fn owner(&self) -> Owner {
        match (&self.principal, self.address) {
            (None, Some(address)) => Owner::Address(address),
            _ => Owner::Known(self.known()),
        }
    }
}

/// Whether a client declares a capability for any input request.
pub fn can_be_asked(client: &ClientInfo) -> bool {
    let declared = serde_json::to_value(&client.capabilities).unwrap_or_default();
    let mut input_requests = Revision::HUB
        .methods()
        .iter()
        .filter(|method| method.direction == Direction::InResult);
    input_requests.any(|input_request| input_request.capability.is_none_or(|path| has(&declared, path)))
}

fn has(capabilities: &Value, path: &str) -> bool {
    let found = path.split('.').try_fold(capabilities, |at, member| at.get(member));
    found.is_some()
}

#[cfg(test)]
mod tests {
    use mcp_adapters::hub;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_can_be_asked_if_it_declares_a_capability_for_an_input_request() {
        for (capabilities, can) in [
            (json!({}), false),
            (json!({"experimental": {"x": {}}}), false),
            (json!({"roots": {}}), true),
            (json!({"sampling": {}}), true),
            (json!({"elicitation": {}}), true),
        ] {
            let client = ClientInfo {
                implementation: hub::Implementation::new("c", "1"),
                capabilities: serde_json::from_value(capabilities.clone()).unwrap(),
                begin: None,
                log_level: None,
            };
            assert_eq!(can_be_asked(&client), can, "{capabilities}");
        }
    }

    #[test]
    fn clients_are_identified_by_principal_or_else_by_connection() {
        let of = |principal: Option<&str>, connection: Option<&Connection>| ClientId {
            principal: principal.map(str::to_owned),
            connection: connection.cloned(),
            address: None,
        };
        let (one, other) = (Connection::new(), Connection::new());
        assert_eq!(
            of(Some("ann"), Some(&one)).known(),
            of(Some("ann"), Some(&other)).known()
        );
        assert_ne!(of(Some("ann"), Some(&one)).known(), of(Some("bob"), Some(&one)).known());
        assert_eq!(of(None, Some(&one)).known(), of(None, Some(&one)).known());
        assert_ne!(of(None, Some(&one)).known(), of(None, Some(&other)).known());
        assert_ne!(of(None, None).known(), of(None, None).known());
    }
}
