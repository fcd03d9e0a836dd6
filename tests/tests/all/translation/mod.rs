//! How messages and values are translated between revisions.

mod batches;
mod capabilities;
mod content;
mod elicitation;
mod members;
mod messages;
mod methods;
mod names;
mod real_peers;
mod sampling;
mod tasks;

use mcp_adapters::mcp_wire::{Batch, OpenJson};
use mcp_adapters::{
    Loss, Policy,
    Revision::{self, V2024_11_05, V2025_03_26, V2025_06_18},
    Translated, peers, translate,
};
use mcp_tests::same;
use serde_json::Value;

/// From one revision to another.
type Way = (Revision, Revision);
/// Path, kind and rule.
type ExpectedLoss<'l> = [&'l str; 3];

const AUTOMATIC: &str = "automatic";

/// A translated result: JSON and losses, or the code of the error and its path.
type ResultOutcome = Result<(Value, Vec<[String; 3]>), (i64, String)>;

/// What a message is translated to.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// The peer gets this.
    Sent(Value, Vec<[String; 3]>),
    /// The peer gets nothing, and the sender gets this error.
    Refused { id: Value, code: i64, message: String },
    /// The peer gets nothing, and neither does the sender.
    Dropped(Vec<[String; 3]>),
}

/// The losses, sorted, because their order has no meaning.
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

fn parsed(json: &OpenJson) -> Value {
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

/// A value is translated to another that conforms to the target, with these losses.
#[track_caller]
fn becomes(way: Way, definition: &str, before: &Value, after: &Value, losses: &[ExpectedLoss<'_>]) {
    translates(way, Policy::Conform, definition, before, after, losses);
}

/// A value is the same in both revisions, there and back.
#[track_caller]
fn stays((from, to): Way, definition: &str, value: &Value) {
    becomes((from, to), definition, value, value, &[]);
    becomes((to, from), definition, value, value, &[]);
}

/// What the target doesn't declare is kept on the way there and back.
#[track_caller]
fn is_carried((from, to): Way, definition: &str, value: &Value) {
    translates((from, to), Policy::Carry, definition, value, value, &[]);
    translates((to, from), Policy::Carry, definition, value, value, &[]);
}

/// The target can't represent a value; the error has this code and path.
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

/// What a client of revision `peer` gets when a server of the hub sends this.
#[track_caller]
fn to_client(peer: Revision, message: &Value) -> Outcome {
    let read_by_hub = peers::server_message(Revision::HUB, message.to_string().as_bytes(), Policy::Conform).unwrap();
    let Translated::Message { message, .. } = single(read_by_hub) else {
        panic!("the hub refuses its own message")
    };
    outcome(peers::server_message_for(peer, message, Policy::Conform), read)
}

/// What a server of revision `peer` gets when a client of the hub sends this.
#[track_caller]
fn to_server(peer: Revision, message: &Value) -> Outcome {
    let read_by_hub = peers::client_message(Revision::HUB, message.to_string().as_bytes(), Policy::Conform).unwrap();
    let Translated::Message { message, .. } = single(read_by_hub) else {
        panic!("the hub refuses its own message")
    };
    outcome(peers::client_message_for(peer, message, Policy::Conform), read)
}

/// What the hub gets when a client of revision `peer` sends this.
#[track_caller]
fn from_client(peer: Revision, message: &Value) -> Outcome {
    let read = peers::client_message(peer, message.to_string().as_bytes(), Policy::Conform).unwrap();
    outcome(single(read), |message| serde_json::to_value(message).unwrap())
}

/// What the hub gets when a server of revision `peer` sends this.
#[track_caller]
fn from_server(peer: Revision, message: &Value) -> Outcome {
    let read = peers::server_message(peer, message.to_string().as_bytes(), Policy::Conform).unwrap();
    outcome(single(read), |message| serde_json::to_value(message).unwrap())
}

/// What a client of revision `peer` gets when a server of the hub answers `method` with this.
#[track_caller]
fn result_to_client(peer: Revision, method: &str, result: &Value) -> ResultOutcome {
    let read_by_hub = peers::server_result(Revision::HUB, method, &result.into(), Policy::Conform);
    let result = read_by_hub.unwrap().expect("a method of the hub").result;
    let sent = peers::server_result_for(peer, result, Policy::Conform);
    sent.map(|(json, losses)| (parsed(&json), recorded(&losses)))
        .map_err(|error| (error.code(), error.path().to_string()))
}

/// What a server of revision `peer` gets when a client of the hub answers `method` with this.
#[track_caller]
fn result_to_server(peer: Revision, method: &str, result: &Value) -> ResultOutcome {
    let read_by_hub = peers::client_result(Revision::HUB, method, &result.into(), Policy::Conform);
    let result = read_by_hub.unwrap().expect("a method of the hub").result;
    let sent = peers::client_result_for(peer, result, Policy::Conform);
    sent.map(|(json, losses)| (parsed(&json), recorded(&losses)))
        .map_err(|error| (error.code(), error.path().to_string()))
}

fn refusal(id: Value, code: i64, message: &str) -> Outcome {
    Outcome::Refused {
        id,
        code,
        message: message.to_owned(),
    }
}

/// A message that is translated to itself.
fn unchanged(message: &Value) -> Outcome {
    Outcome::Sent(message.clone(), Vec::new())
}

/// The revisions before the hub.
const EARLIER: [Revision; 3] = [V2024_11_05, V2025_03_26, V2025_06_18];
