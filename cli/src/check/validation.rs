//! Validation of a server's messages against the schema of its revision.

use std::collections::{HashMap, HashSet};

use mcp_adapters::mcp_wire::json_schema::Violation;
use mcp_adapters::mcp_wire::path::Segment;
use mcp_adapters::mcp_wire::{Path, RawJson, definition_name};
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime::transport::MessageDirection;

use crate::message::{Seen, called, case_of, messages, split_at_session, within, wrong_id};
use crate::report::{Finding, Report};
use crate::text::one_line;

/// The case for messages that belong to no other case.
const STRAY: &str = "messages";

/// Validates the messages that a server has sent. `left_out` is the number of messages that weren't recorded.
pub fn validate(revision: Revision, messages: &[Seen], left_out: usize) -> Report {
    let mut validator = MessageValidator {
        revision,
        report: Report::new(revision),
        pending: HashMap::new(),
        given_up: HashSet::new(),
    };
    let (before, session) = split_at_session(revision, messages);
    for (way, json) in before {
        validator.note_before(*way, json);
    }
    for (way, json) in session {
        match way {
            MessageDirection::Sent => validator.sent(json),
            MessageDirection::Received => validator.received(json),
        }
    }
    for request in validator.pending.into_values().filter(|request| !request.may_stay_open) {
        validator.report.fail(&request.case, &"the server sent no response");
    }
    if left_out > 0 {
        validator
            .report
            .fail(STRAY, &format!("{left_out} more messages weren't validated"));
    }
    validator.report
}

struct MessageValidator {
    revision: Revision,
    report: Report,
    /// The requests of the client without a response, by the JSON text of their ids.
    pending: HashMap<String, Pending>,
    /// The ids of requests without a response when the session started. A slow server may respond to them within the
    /// session.
    given_up: HashSet<String>,
}

/// A request of the client.
struct Pending {
    method: String,
    case: String,
    /// Whether the session can end before the response: a subscription to changes lasts as long as the client wants,
    /// and the client doesn't wait for the response that ends one.
    may_stay_open: bool,
}

impl MessageValidator {
    /// Records which requests before the session have no response. Invalid JSON is always reported.
    fn note_before(&mut self, way: MessageDirection, json: &[u8]) {
        let Ok(messages) = messages(json) else {
            if way == MessageDirection::Received {
                self.received(json);
            }
            return;
        };
        for (_, message) in messages {
            let id = message.get("id").map(|id| id.text().to_owned());
            match (way, called(&message), id) {
                (MessageDirection::Sent, Some(_), Some(id)) => _ = self.given_up.insert(id),
                (MessageDirection::Received, None, Some(id)) => _ = self.given_up.remove(&id),
                _ => {}
            }
        }
    }

    /// Records the requests of the client.
    fn sent(&mut self, json: &[u8]) {
        let Ok(sent) = messages(json) else { return };
        for (_, message) in sent {
            let Some((method, has_id)) = called(&message) else {
                continue;
            };
            let lifecycle = self.revision.lifecycle();
            let Some(id) = message.get("id").filter(|_| has_id) else {
                continue;
            };
            let case = case_of(&method, &message);
            self.report.begin(&case);
            let pending = Pending {
                may_stay_open: [lifecycle.listen, lifecycle.unsubscribe].contains(&Some(&*method)),
                method,
                case,
            };
            self.pending.insert(id.text().to_owned(), pending);
        }
    }

    /// Validates messages of the server.
    fn received(&mut self, json: &[u8]) {
        let received = match messages(json) {
            Ok(received) => received,
            Err(error) => {
                self.report.messages += 1;
                let what = format!("expected a message of JSON, found {:?}: {error}", excerpt(json));
                return self.report.fail(STRAY, &what);
            }
        };
        let is_batch = matches!(received.first(), Some((Some(_), _)));
        if is_batch && !self.revision.facts().batches {
            self.report.fail(STRAY, &"the revision has no batches of messages");
        }
        for (_, message) in received {
            self.report.messages += 1;
            match called(&message) {
                Some((method, has_id)) => self.validate_call(&method, has_id, &message),
                None => self.validate_response(&message),
            }
        }
    }

    fn validate_call(&mut self, method: &str, has_id: bool, message: &RawJson) {
        self.report.begin(method);
        let envelope = if has_id {
            "JSONRPCRequest"
        } else {
            "JSONRPCNotification"
        };
        self.validate_envelope(method, &[envelope], message);
        let declared = self.revision.method(method);
        if declared.is_some_and(|declared| !declared.direction.from_server()) {
            return self.report.fail(method, &"only a client may send it");
        }
        let is_known = |revision: Revision| revision.method(method).is_some();
        if declared.is_none() && Revision::all().any(is_known) {
            return self.report.fail(method, &"the method belongs to another revision");
        }
        if let Some(note) = self.revision.deprecation(method) {
            self.report.warn(method, note.to_owned());
        }
        self.take(method, None, wrong_id(self.revision, message));
        let validated = self.revision.validate_call(message.text().as_bytes());
        let violations = validated.err().into_iter().flat_map(|invalid| invalid.violations);
        self.take(method, None, violations);
    }

    fn validate_response(&mut self, message: &RawJson) {
        if message.get("id").is_some_and(|id| self.given_up.remove(id.text())) {
            return;
        }
        let request = message.get("id").and_then(|id| self.pending.remove(id.text()));
        let case = request.as_ref().map_or(STRAY, |request| &request.case).to_owned();
        let is_error = message.get("error").is_some();
        let envelopes = match is_error {
            true => ["JSONRPCErrorResponse", "JSONRPCError"],
            false => ["JSONRPCResultResponse", "JSONRPCResponse"],
        };
        self.validate_envelope(&case, &envelopes, message);
        let Some(request) = request else {
            // An error without an id responds to a message that the server couldn't read.
            if message.get("id").is_some() || !is_error {
                let response = excerpt(message.text().as_bytes());
                self.report
                    .fail(STRAY, &format!("a response that matches no request: {response:?}"));
            }
            return;
        };
        if let Some(error) = message.get("error") {
            let text = |member: &str| error.get(member).map_or_else(String::new, |it| it.text().to_owned());
            return self.report.note(
                &case,
                format!("answered with error {}: {}", text("code"), one_line(&text("message"))),
            );
        }
        if let Some(result) = message.get("result") {
            let validated = self.revision.validate_result(&request.method, &result);
            let violations = validated.err().into_iter().flat_map(|invalid| invalid.violations);
            self.take(&case, Some("result"), violations);
        }
    }

    /// Validates the envelope of a message against the first of these definitions that the revision has.
    fn validate_envelope(&mut self, case: &str, definitions: &[&str], message: &RawJson) {
        let validated = definitions
            .iter()
            .find_map(|name| self.revision.validate_definition(name, message.text()));
        if let Some(Err(invalid)) = validated {
            self.take(case, None, invalid.violations);
        }
    }

    fn take(&mut self, case: &str, within_member: Option<&str>, violations: impl IntoIterator<Item = Violation>) {
        for violation in violations {
            let member = within_member.map(|member| Segment::Member(member.to_owned()));
            let path = within(member, &violation.path);
            self.report.add(case, finding(self.revision, &path, violation));
        }
    }
}

fn finding(revision: Revision, path: &Path, violation: Violation) -> Finding {
    let message = format!("expected {}, found {}", violation.expected, violation.found);
    let definition = violation.schema.split('/').nth(2).map(definition_name);
    Finding {
        path: Some(path.to_string()),
        specification: definition.map(|definition| revision.facts().link(definition)),
        schema: (!violation.schema.is_empty()).then_some(violation.schema),
        ..Finding::new(message)
    }
}

/// The first characters of a message.
fn excerpt(json: &[u8]) -> String {
    String::from_utf8_lossy(json).chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sent(message: &Value) -> Seen {
        (MessageDirection::Sent, message.to_string().into_bytes())
    }

    fn received(message: &Value) -> Seen {
        (MessageDirection::Received, message.to_string().into_bytes())
    }

    #[test]
    fn one_late_response_to_a_request_before_the_handshake_is_accepted() {
        let revision = Revision::V2025_11_25;
        let info = json!({"name": "x", "version": "1"});
        let begin = json!({"protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": info});
        let begun = json!({"protocolVersion": revision.as_str(), "capabilities": {}, "serverInfo": info});
        let late = received(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "What?"}}));
        let mut messages = vec![
            sent(&json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}})),
            sent(&json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": begin})),
            late.clone(),
            received(&json!({"jsonrpc": "2.0", "id": 2, "result": begun})),
        ];
        assert_eq!(validate(revision, &messages, 0).failed(), 0);
        messages.push(late);
        assert_eq!(validate(revision, &messages, 0).failed(), 1);
    }
}
