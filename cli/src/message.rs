//! Whole JSON-RPC messages, which are identified by their method.

use mcp_adapters::mcp_wire::json_schema::{Violation, ViolationKind};
use mcp_adapters::mcp_wire::path::Segment;
use mcp_adapters::mcp_wire::{Batch, Decoded, Invalid, Map, MessageHeader, Path, RawJson, RequestId, from_slice};
use mcp_adapters::{
    Conversion, Loss, PeerTypes, Policy, Revision, TranslateError, Translation, translate, translate_error,
};
use mcp_runtime::transport::MessageDirection;

/// The prefix of the names of JSON-RPC's own messages, in the schema of every revision. Their definitions allow any
/// parameters.
const JSON_RPC: &str = "JSONRPC";

/// The member of an error response that holds the error.
const ERROR: &str = "error";

/// A message as it was on the wire, and its direction as seen by the client.
pub type Seen = (MessageDirection, Vec<u8>);

/// Whether the instances of a definition are whole messages of any method.
pub fn is_message(definition: &str) -> bool {
    definition.starts_with(JSON_RPC)
}

/// The method of a request or notification, and whether it has an id; `None` for responses.
pub fn called(message: &RawJson) -> Option<(String, bool)> {
    let members: Map<RawJson> = message.decode_as().ok()?;
    let method = members.get("method")?.decode_as().ok()?;
    Some((method, members.contains_key("id")))
}

/// Validates each request and notification in a message or batch by the definition of its method. Results aren't
/// validated, because a response doesn't name its method.
pub fn validate(revision: Revision, json: &[u8]) -> Result<(), Invalid> {
    let mut violations = Vec::new();
    for (place, message) in messages(json)? {
        let validated = revision.validate_call(message.text().as_bytes());
        let mut found = validated.err().map_or_else(Vec::new, |invalid| invalid.violations);
        found.extend(wrong_id(revision, &message));
        violations.extend(found.into_iter().map(|violation| Violation {
            path: within(place.clone(), &violation.path),
            ..violation
        }));
    }
    if violations.is_empty() {
        return Ok(());
    }
    Err(Invalid { violations })
}

/// The violation of a request with no id or an id of the wrong type, or of a notification with an id.
pub fn wrong_id(revision: Revision, message: &RawJson) -> Option<Violation> {
    let (method, has_id) = called(message)?;
    let is_request = !revision.method(&method)?.results.is_empty();
    let id = message.get("id");
    let (expected, found) = match (is_request, has_id) {
        (true, false) => ("an id, since the method is a request", "none".to_owned()),
        (false, true) => ("no id, since the method is a notification", "one".to_owned()),
        (true, true) => match id.filter(|id| id.decode_as::<RequestId>().is_err()) {
            Some(id) => ("a string or an integer", id.text().to_owned()),
            None => return None,
        },
        (false, false) => return None,
    };
    let mut path = Path::default();
    path.push_member("id");
    Some(Violation {
        kind: ViolationKind::Refused,
        path,
        expected: expected.to_owned(),
        found,
        schema: String::new(),
    })
}

/// The union of messages that contains a request or notification; `None` for responses, and for methods that no
/// revision declares.
fn union_of(revision: Revision, message: &RawJson) -> Option<&'static str> {
    let (method, has_id) = called(message)?;
    let declared = |revision: Revision| revision.method(&method);
    let method = declared(revision).or_else(|| Revision::all().find_map(declared))?;
    Some(match (has_id, method.direction.from_client()) {
        (true, true) => "ClientRequest",
        (true, false) => "ServerRequest",
        (false, true) => "ClientNotification",
        (false, false) => "ServerNotification",
    })
}

/// Translates a message or batch: its envelope by the definition `name`, each request and notification by its method,
/// and each error by the method that failed, if that is known. Results aren't translated.
pub fn translate_message(
    (from, to): (Revision, Revision),
    name: &str,
    json: &[u8],
    failed: Option<&str>,
    conversion: &Conversion,
) -> Result<Translation, (Path, TranslateError)> {
    let at_root = |error: TranslateError| (error.path(), error);
    let envelope = translate(from, to, name, json, conversion.clone()).map_err(at_root)?;
    let messages = messages(json).map_err(|error| at_root(TranslateError::Invalid(error)))?;
    let (mut values, mut losses) = (Vec::new(), Vec::new());
    let mut supply = envelope.supply;
    for (place, message) in messages {
        let (value, lost) = match union_of(from, &message) {
            Some(union) => {
                let conversion = match supply.take() {
                    Some(supply) => conversion.clone().supplied_with(supply),
                    None => conversion.clone(),
                };
                let translation = translate(from, to, union, message.text().as_bytes(), conversion)
                    .map_err(|error| (within(place.clone(), &error.path()), error))?;
                // The next message of a batch has to agree with what this one has added.
                supply = translation.supply;
                (translation.value, translation.losses)
            }
            None => translate_response((from, to), message, failed, conversion.policy()),
        };
        values.push((place.clone(), value));
        losses.extend(lost.into_iter().map(|loss| Loss {
            path: within(place.clone(), &loss.path),
            ..loss
        }));
    }
    let value = match values.pop() {
        Some((None, message)) => message,
        last => {
            let values: Vec<RawJson> = values.into_iter().chain(last).map(|(_, message)| message).collect();
            RawJson::from_encode(&values).unwrap_or(envelope.value)
        }
    };
    Ok(Translation {
        definition: envelope.definition,
        value,
        losses,
        supply,
    })
}

/// Translates the error of a response, if it has one.
fn translate_response(
    (from, to): (Revision, Revision),
    response: RawJson,
    failed: Option<&str>,
    policy: Policy,
) -> (RawJson, Vec<Loss>) {
    let unchanged = |response| (response, Vec::new());
    let (Ok(mut members), Some(error)) = (response.decode_as::<Map<RawJson>>(), response.get(ERROR)) else {
        return unchanged(response);
    };
    let Ok(error) = error.decode_as() else {
        return unchanged(response);
    };
    let (error, mut losses) = translate_error(from, to, failed, error, policy);
    let translated = RawJson::from_encode(&error).and_then(|error| {
        members.insert(ERROR, error);
        RawJson::from_encode(&members)
    });
    for loss in &mut losses {
        loss.path = within(Some(Segment::Member(ERROR.to_owned())), &loss.path);
    }
    (translated.unwrap_or(response), losses)
}

/// The name of the case of a request: its method, and the name or URI that it calls or reads.
pub fn case_of(method: &str, request: &RawJson) -> String {
    let mirrors = Revision::HUB.facts().mirrors;
    let parameter = mirrors.params.iter().find(|mirrored| mirrored.method == method);
    let params = request.get("params").and_then(|it| it.decode_as::<Map<RawJson>>().ok());
    let subject = parameter.zip(params).and_then(|(parameter, params)| {
        let subject = params.get(parameter.parameter)?;
        subject.parse::<String>().ok()
    });
    subject.map_or_else(|| method.to_owned(), |subject| format!("{method} {subject}"))
}

/// Splits messages before the request that starts the session. Before it, a client may have sent a discovery request to
/// a server with a handshake, in a revision that the server can't know.
pub fn split_at_session(revision: Revision, messages: &[Seen]) -> (&[Seen], &[Seen]) {
    let Some(begin) = revision.lifecycle().begin else {
        return (&[], messages);
    };
    let begins = |(way, json): &Seen| {
        let header = MessageHeader::from_slice(json).ok();
        *way == MessageDirection::Sent && header.and_then(|it| it.method().map(|method| method == begin)) == Some(true)
    };
    let start = messages.iter().position(begins).unwrap_or(0);
    messages.split_at(start)
}

/// The message, or each message of a batch with its index.
pub fn messages(json: &[u8]) -> Decoded<Vec<(Option<Segment>, RawJson)>> {
    Ok(match from_slice(json)? {
        Batch::One(message) => vec![(None, message)],
        Batch::Many(messages) => {
            let indexed = messages.into_iter().enumerate();
            indexed
                .map(|(index, message)| (Some(Segment::Index(index)), message))
                .collect()
        }
    })
}

/// A path within a value, as seen from what contains the value, such as a batch.
pub fn within(place: Option<Segment>, inner: &Path) -> Path {
    let reversed = inner.segments().iter().rev().cloned();
    Path::from_reversed(reversed.chain(place).collect())
}
