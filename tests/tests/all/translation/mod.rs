//! Translation of messages and values between revisions.

mod batches;
mod capabilities;
mod content;
mod edits;
mod elicitation;
mod members;
mod messages;
mod methods;
mod names;
mod real_peers;
mod sampling;
mod tasks;

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};
use mcp_adapters::mcp_wire::{Batch, Decoded, RawJson};
use mcp_adapters::{
    Conversion, FromPeer, FromResult, Loss, Policy, Revision, Translated, Unrepresentable, peers, session_messages,
    translate,
};
use mcp_tests::same;
use serde_json::{Value, json};

/// The source and the target revision.
type Way = (Revision, Revision);
/// The path, kind and rule of a loss.
type ExpectedLoss<'l> = [&'l str; 3];

const AUTOMATIC: &str = "automatic";

/// The outcome of translating a result: JSON and losses, or the code and path of the error.
type ResultOutcome = Result<(Value, Vec<[String; 3]>), (i64, String)>;

/// The outcome of translating a message.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// The receiver gets this message, which has these losses.
    Sent(Value, Vec<[String; 3]>),
    /// The receiver gets nothing, and the sender gets this error.
    Refused { id: Value, code: i64, message: String },
    /// Neither the receiver nor the sender gets anything.
    Dropped(Vec<[String; 3]>),
}

/// Returns the losses, sorted because their order has no meaning.
fn recorded(losses: &[Loss]) -> Vec<[String; 3]> {
    let written = losses.iter().map(|loss| {
        let [path, kind] = [loss.path.to_string(), loss.kind.to_string()];
        [path, kind, loss.rule.to_owned()]
    });
    sorted(written)
}

fn expected(losses: &[ExpectedLoss<'_>]) -> Vec<[String; 3]> {
    sorted(losses.iter().map(|loss| loss.map(str::to_owned)))
}

fn sorted(losses: impl Iterator<Item = [String; 3]>) -> Vec<[String; 3]> {
    let mut losses: Vec<_> = losses.collect();
    losses.sort();
    losses
}

fn parsed(json: &RawJson) -> Value {
    serde_json::from_str(json.text()).unwrap()
}

#[track_caller]
fn assert_same(actual: &Value, expected: &Value) {
    assert!(same(actual, expected), "got\n{actual:#}\nnot\n{expected:#}");
}

#[track_caller]
fn translates(way: Way, policy: Policy, definition: &str, before: &Value, after: &Value, losses: &[ExpectedLoss<'_>]) {
    let translation = translate(way.0, way.1, definition, before.to_string().as_bytes(), policy);
    let translation = translation.unwrap_or_else(|error| panic!("{}: {error}: {before}", error.code()));
    assert_same(&parsed(&translation.value), after);
    assert_eq!(recorded(&translation.losses), expected(losses));
}

/// Asserts that a value is translated to another with these losses, under `Policy::Conform`.
#[track_caller]
fn becomes(way: Way, definition: &str, before: &Value, after: &Value, losses: &[ExpectedLoss<'_>]) {
    translates(way, Policy::Conform, definition, before, after, losses);
}

/// Asserts that a value is translated to itself without a loss, in both directions.
#[track_caller]
fn stays((from, to): Way, definition: &str, value: &Value) {
    becomes((from, to), definition, value, value, &[]);
    becomes((to, from), definition, value, value, &[]);
}

/// Asserts that a value is translated to itself in both directions under `Policy::Carry`, also members that the target
/// doesn't declare.
#[track_caller]
fn is_carried((from, to): Way, definition: &str, value: &Value) {
    translates((from, to), Policy::Carry, definition, value, value, &[]);
    translates((to, from), Policy::Carry, definition, value, value, &[]);
}

/// Asserts that translating a value fails, with an error that has this code and path.
#[track_caller]
fn refuses((from, to): Way, definition: &str, before: &Value, code: i64, path: &str) {
    match translate(from, to, definition, before.to_string().as_bytes(), Policy::Conform) {
        Ok(translation) => panic!("got {}", translation.value.text()),
        Err(error) => assert_eq!((error.code(), &*error.path().to_string()), (code, path), "{error}"),
    }
}

fn outcome<M>(translated: Translated<M>, json: impl FnOnce(M) -> Value) -> Outcome {
    match translated {
        Translated::Message { message, losses } => Outcome::Sent(json(message), recorded(&losses)),
        Translated::Refused(response) => Outcome::Refused {
            id: serde_json::to_value(&response.id).unwrap(),
            code: response.error.code,
            message: response.error.message,
        },
        Translated::Dropped { losses, .. } => Outcome::Dropped(recorded(&losses)),
    }
}

fn read(bytes: Vec<u8>) -> Value {
    serde_json::from_slice(&bytes).unwrap()
}

fn single<M>(batch: Batch<M>) -> M {
    match batch {
        Batch::One(message) => message,
        Batch::Many(_) => panic!("a batch"),
    }
}

/// Returns a conversion that supplies the metadata that the hub requires with each request.
fn supplied() -> Conversion {
    let mut supply = session_messages::supply("2025-11-25", json!({}).into(), None);
    session_messages::supply_elicitation(&mut supply, "e");
    Conversion::new(Policy::Conform).supplied_with(supply)
}

/// Combines the two translations of a message through the hub: `read` is its translation to the hub, and `sent`
/// translates it from there.
fn through_the_hub<M>(read: Decoded<Batch<Translated<M>>>, sent: impl FnOnce(M) -> Outcome) -> Outcome {
    match single(read.unwrap()) {
        Translated::Message { message, losses } => match sent(message) {
            Outcome::Sent(json, more) => Outcome::Sent(json, sorted(recorded(&losses).into_iter().chain(more))),
            other => other,
        },
        refused => outcome(refused, |_| Value::Null),
    }
}

/// Returns the message that a client of revision `to` gets when a server of revision `from` sends this.
#[track_caller]
fn sent_by_server((from, to): Way, message: &Value) -> Outcome {
    let bytes = message.to_string().into_bytes();
    through_the_hub(peers::server_message(from, &bytes, supplied()), |message| {
        outcome(peers::server_message_for(to, &message, supplied()), read)
    })
}

/// Returns the message that a server of revision `to` gets when a client of revision `from` sends this.
#[track_caller]
fn sent_by_client((from, to): Way, message: &Value) -> Outcome {
    let bytes = message.to_string().into_bytes();
    through_the_hub(peers::client_message(from, &bytes, supplied()), |message| {
        outcome(peers::client_message_for(to, &message, supplied()), read)
    })
}

/// Returns the message that a client of revision `peer` gets when a server of 2025-11-25 sends this.
#[track_caller]
fn to_client(peer: Revision, message: &Value) -> Outcome {
    sent_by_server((V2025_11_25, peer), message)
}

/// Returns the message that a server of revision `peer` gets when a client of 2025-11-25 sends this.
#[track_caller]
fn to_server(peer: Revision, message: &Value) -> Outcome {
    sent_by_client((V2025_11_25, peer), message)
}

/// Returns the message that a server of 2025-11-25 gets when a client of revision `peer` sends this.
#[track_caller]
fn from_client(peer: Revision, message: &Value) -> Outcome {
    sent_by_client((peer, V2025_11_25), message)
}

/// Returns the message that a client of 2025-11-25 gets when a server of revision `peer` sends this.
#[track_caller]
fn from_server(peer: Revision, message: &Value) -> Outcome {
    sent_by_server((peer, V2025_11_25), message)
}

/// Returns the result that a client of revision `peer` gets when a server of 2025-11-25 answers `method` with this.
#[track_caller]
fn result_to_client(peer: Revision, method: &str, result: &Value) -> ResultOutcome {
    let read = peers::server_result(V2025_11_25, method, &result.into(), supplied());
    let read = read_result(read)?;
    let sent = peers::server_result_for(peer, &read.result, supplied());
    check_appended(&sent, |json| {
        peers::push_server_result(json, peer, &read.result, supplied())
    });
    sent_result(read.losses, sent)
}

/// Returns the result that a server of revision `peer` gets when a client of 2025-11-25 answers `method` with this.
#[track_caller]
fn result_to_server(peer: Revision, method: &str, result: &Value) -> ResultOutcome {
    let read = peers::client_result(V2025_11_25, method, &result.into(), supplied());
    let read = read_result(read)?;
    let sent = peers::client_result_for(peer, &read.result, supplied());
    check_appended(&sent, |json| {
        peers::push_client_result(json, peer, &read.result, supplied())
    });
    sent_result(read.losses, sent)
}

/// Checks that a result appended to a text equals the result written separately, and that a result that can't be
/// represented leaves the text unchanged.
#[track_caller]
fn check_appended(
    sent: &Result<(RawJson, Vec<Loss>), Unrepresentable>,
    push: impl FnOnce(&mut String) -> Result<Vec<Loss>, Unrepresentable>,
) {
    let mut json = "[\"é\", ".to_owned();
    let losses = push(&mut json);
    let result = json.strip_prefix("[\"é\", ");
    match sent {
        Ok((alone, lost)) => {
            assert_eq!(result, Some(alone.text()));
            assert_eq!(losses.map(|losses| recorded(&losses)), Ok(recorded(lost)));
        }
        Err(_) => assert_eq!((result, losses.is_ok()), (Some(""), false)),
    }
}

fn read_result<T>(read: Result<Option<FromResult<T>>, FromPeer>) -> Result<FromResult<T>, (i64, String)> {
    match read {
        Ok(read) => Ok(read.expect("2025-11-25 has the method")),
        Err(FromPeer::Unrepresentable(error)) => Err((error.code(), error.path().to_string())),
        Err(error) => panic!("{error}"),
    }
}

fn sent_result(mut losses: Vec<Loss>, sent: Result<(RawJson, Vec<Loss>), Unrepresentable>) -> ResultOutcome {
    let (json, more) = sent.map_err(|error| (error.code(), error.path().to_string()))?;
    losses.extend(more);
    Ok((parsed(&json), recorded(&losses)))
}

fn refusal(id: Value, code: i64, message: &str) -> Outcome {
    Outcome::Refused {
        id,
        code,
        message: message.to_owned(),
    }
}

/// The outcome of a message that is translated to itself without a loss.
fn unchanged(message: &Value) -> Outcome {
    Outcome::Sent(message.clone(), Vec::new())
}

/// The revisions before 2025-11-25.
const EARLIER: [Revision; 3] = [V2024_11_05, V2025_03_26, V2025_06_18];
