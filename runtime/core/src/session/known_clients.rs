//! What stateless clients say about themselves, which most repeat with each request.

use std::sync::Arc;

use mcp_adapters::mcp_wire::MessageHeader;
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_util::Mutex;

use super::negotiated::Negotiated;

/// How many clients are remembered.
const REMEMBERED: usize = 16;
/// The bytes of what one says that is remembered.
const LONGEST: usize = 4096;

/// What was negotiated with the latest clients, by what they have said: the texts in `_meta`, each empty without one.
#[derive(Default)]
pub struct KnownClients(Mutex<Vec<([String; 3], Arc<Negotiated>)>>);

impl KnownClients {
    /// What is negotiated with the client of a request. It is read once for all requests in which the client says the same.
    pub fn negotiated<E>(
        &self,
        revision: Revision,
        request: &MessageHeader<'_>,
        read: impl FnOnce() -> Result<Negotiated, E>,
    ) -> Result<Arc<Negotiated>, E> {
        let lifecycle = revision.lifecycle();
        let keys = [
            lifecycle.meta_capabilities,
            lifecycle.meta_client,
            lifecycle.meta_log_level,
        ];
        let text = |key: Option<&str>| Some(request.param(&["_meta", key?]).ok()??.text());
        let said = keys.map(|key| text(key).unwrap_or_default());
        let is_same = |(known, negotiated): &&(_, Arc<Negotiated>)| negotiated.revision == revision && *known == said;
        if let Some((_, known)) = self.0.lock().iter().find(is_same) {
            return Ok(Arc::clone(known));
        }
        let negotiated = Arc::new(read()?);
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

    /// What is negotiated with a client of this name, whose progress token has another value in each request.
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
        let negotiated = Negotiated::of_message(&request, &[revision], clients);
        negotiated.unwrap().expect("it is stateless")
    }

    fn name(negotiated: &Negotiated) -> &str {
        let info = negotiated.info.as_ref().expect("the client has said it");
        &info.implementation.as_ref().expect("it has a name").name
    }

    #[test]
    fn what_a_client_says_again_is_read_once() {
        let clients = KnownClients::default();
        let [a, b, again] = [("a", 1), ("b", 2), ("a", 3)].map(|(name, token)| negotiated(&clients, name, token));
        assert!(Arc::ptr_eq(&a, &again) && !Arc::ptr_eq(&a, &b));
        assert_eq!([name(&a), name(&b)], ["a", "b"]);
    }

    #[test]
    fn clients_that_say_much_and_many_of_them_fill_no_memory() {
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
