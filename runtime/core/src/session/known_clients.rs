//! A cache of the metadata by which stateless clients describe themselves, which most repeat with each request.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, MessageHeader};
use mcp_adapters::{Mismatch, PeerTypes, Revision, session_messages};
use mcp_runtime_util::Mutex;

use super::negotiated::Negotiated;
use crate::error::invalid_params;

/// The number of clients that are remembered.
const REMEMBERED: usize = 16;
/// The maximum bytes of a client's metadata that are remembered.
const LONGEST: usize = 4096;

/// The terms negotiated with the latest clients, by the texts in their `_meta`; a missing text is empty.
#[derive(Default)]
pub struct KnownClients(Mutex<Vec<([String; 3], Arc<Negotiated>)>>);

impl KnownClients {
    /// Returns the terms that a client's stateless message carries; `None` if the message isn't stateless. The same
    /// metadata in several messages is parsed once.
    pub fn negotiated_by(
        &self,
        message: &MessageHeader<'_>,
        supported: &[Revision],
    ) -> Result<Option<Arc<Negotiated>>, ErrorObject> {
        let named = session_messages::version_in_meta::<Revision>(message);
        if matches!(named, Ok(None)) || !supported.iter().any(|revision| revision.is_stateless()) {
            return Ok(None);
        }
        let Some((revision, requested)) = named.map_err(invalid_params)? else {
            return Ok(None);
        };
        if revision.as_str() != requested || !supported.contains(&revision) {
            let supported = supported.to_vec();
            return Err(session_messages::unsupported(
                revision,
                &Mismatch { requested, supported },
            ));
        }
        self.with(revision, message).map(Some)
    }

    fn with(&self, revision: Revision, message: &MessageHeader<'_>) -> Result<Arc<Negotiated>, ErrorObject> {
        let lifecycle = revision.lifecycle();
        let keys = [
            lifecycle.meta_capabilities,
            lifecycle.meta_client,
            lifecycle.meta_log_level,
        ];
        let text = |key: Option<&str>| Some(message.param(&["_meta", key?]).ok()??.text());
        let said = keys.map(|key| text(key).unwrap_or_default());
        let is_same = |(known, negotiated): &&(_, Arc<Negotiated>)| negotiated.revision == revision && *known == said;
        if let Some((_, known)) = self.0.lock().iter().find(is_same) {
            return Ok(Arc::clone(known));
        }
        let negotiated = Arc::new(Negotiated::of_request(revision, message)?);
        if said.iter().map(|text| text.len()).sum::<usize>() <= LONGEST {
            let mut clients = self.0.lock();
            if clients.len() == REMEMBERED {
                clients.remove(0);
            }
            clients.push((said.map(str::to_owned), Arc::clone(&negotiated)));
        }
        Ok(negotiated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the terms negotiated with a client of this name, from a request with this progress token.
    fn negotiated(clients: &KnownClients, name: &str, token: usize) -> Arc<Negotiated> {
        let (revision, lifecycle) = (Revision::HUB, Revision::HUB.lifecycle());
        let keys = [
            lifecycle.meta_version,
            lifecycle.meta_capabilities,
            lifecycle.meta_client,
        ];
        let [version, capabilities, client] = keys.map(|key| key.expect("the hub is stateless"));
        let json = format!(
            r#"{{"id":1,"method":"m","params":{{"_meta":{{"progressToken":{token},"{version}":"{revision}","{capabilities}":{{}},
                "{client}":{{"name":"{name}","version":"1.0"}}}}}}}}"#
        );
        let request = MessageHeader::from_slice(json.as_bytes()).unwrap();
        let negotiated = clients.negotiated_by(&request, &[revision]);
        negotiated.unwrap().expect("it is stateless")
    }

    fn name(negotiated: &Negotiated) -> &str {
        let info = negotiated.info.as_ref().expect("the client describes itself");
        &info.implementation.as_ref().expect("it has a name").name
    }

    #[test]
    fn repeated_metadata_of_a_client_is_parsed_once() {
        let clients = KnownClients::default();
        let [a, b, again] = [("a", 1), ("b", 2), ("a", 3)].map(|(name, token)| negotiated(&clients, name, token));
        assert!(Arc::ptr_eq(&a, &again) && !Arc::ptr_eq(&a, &b));
        assert_eq!([name(&a), name(&b)], ["a", "b"]);
    }

    #[test]
    fn remembered_clients_are_bounded_in_size_and_number() {
        let clients = KnownClients::default();
        let long = "a".repeat(LONGEST);
        assert_eq!(name(&negotiated(&clients, &long, 1)), long);
        assert!(clients.0.lock().is_empty());
        for client in 0..2 * REMEMBERED {
            negotiated(&clients, &client.to_string(), 1);
        }
        assert_eq!(clients.0.lock().len(), REMEMBERED);
    }
}
