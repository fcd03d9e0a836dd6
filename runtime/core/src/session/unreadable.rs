//! Messages that can't be read, because they are too long, or aren't UTF-8 or JSON.

use mcp_adapters::mcp_wire::{ErrorObject, MessageHeader, MessageKind, Reader, RequestId};

use super::engine::Engine;
use super::response::PendingResponse;
use crate::error::CallError;
use crate::side::Side;

/// The bytes at the start and at the end of a message in which its members are looked for.
const SEARCHED: usize = 1024;

impl<S: Side> Engine<S> {
    /// Refuses a message that can't be read. A request gets an error response, and a call that is answered fails:
    /// otherwise both would wait until they time out.
    ///
    /// Input whose id isn't found is only logged, and no pending call fails for it. It is more likely something that a
    /// server prints to its standard output than a response, in which implementations write the id first or last.
    pub fn take_unreadable(&self, error: ErrorObject, text: &[u8]) -> Option<PendingResponse> {
        match identify(text) {
            Some((MessageKind::Request, id)) => self.refuse(Some(id), error, text),
            Some((_, id)) => {
                let error = CallError::InvalidResult(error.message);
                self.session.pending.resolve(&id, Err(error), Vec::new());
                None
            }
            None => self.refuse(None, error, text),
        }
    }
}

/// Returns the kind and the id of a request or response, from the members that can be read at its start and end.
fn identify(text: &[u8]) -> Option<(MessageKind, RequestId)> {
    let start = text.get(..SEARCHED).unwrap_or(text);
    let end = text.get(text.len().saturating_sub(SEARCHED)..).unwrap_or(text);
    let (start, end) = (String::from_utf8_lossy(start), String::from_utf8_lossy(end));
    let (mut kind, mut ids) = (None, Vec::new());
    // This ends with an error at the first value that can't be read.
    let _ = Reader::new(&start).members(|reader, name| {
        match &*name {
            "id" => {
                ids.push(reader.decode()?);
                return Ok(());
            }
            "method" => kind = Some(MessageKind::Request),
            "result" | "error" => kind = Some(MessageKind::Response),
            _ => {}
        }
        reader.raw().map(drop)
    });
    // If these members are those of another object in the message, more braces follow.
    let last = end
        .rfind(r#""id""#)
        .map(|at| format!("{{{}", end.get(at..).unwrap_or_default()));
    ids.extend(last.and_then(|last| MessageHeader::from_slice(last.as_bytes()).ok()?.id()));
    ids.dedup();
    match (kind, <[RequestId; 1]>::try_from(ids)) {
        (Some(kind), Ok([id])) => Some((kind, id)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_message_that_cannot_be_read_is_found_at_its_start_or_end() {
        use MessageKind::{Request, Response};

        let long = "x".repeat(10 * SEARCHED);
        for (text, expected) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{long}"#),
                Some(Response),
            ),
            (
                format!(r#"{{"result":{{"a":"{long}"}},"jsonrpc":"2.0","id":7}}"#),
                Some(Response),
            ),
            (format!(r#"{{"error":{{"message":"{long}"}},"id":7}} "#), Some(Response)),
            (
                format!(r#"{{"method":"m","params":{{"id":8,"a":"{long}"}},"id":7}}"#),
                Some(Request),
            ),
            (r#"{"id":7,"result":{"a":NaN}}"#.to_owned(), Some(Response)),
            (r#"{"id":7,"id":7,"result":{}}"#.to_owned(), Some(Response)),
            (format!(r#"{{"method":"m","params":{{"a":"{long}","id":7}}}}"#), None),
            (format!(r#"{{"result":{{"a":"{long}","id":7}}}}"#), None),
            (format!(r#"{{"result":"{long}\"id\":7}}"}}"#), None),
            (format!(r#"{{"level":"info","id":7,"text":"{long}"}}"#), None),
            (format!(r#"[{{"id":7,"result":"{long}"}}]"#), None),
            (r#"{"id":7,"id":8,"result":{}}"#.to_owned(), None),
            ("Listening on port 80".to_owned(), None),
            (String::new(), None),
        ] {
            let found = identify(text.as_bytes());
            assert_eq!(found, expected.map(|kind| (kind, RequestId::Integer(7))), "{text}");
        }
    }
}
