//! The JSON examples in documents that describe the protocol.

use std::convert::identity;
use std::fmt::Debug;
use std::fs;

use mcp_adapters::mcp_wire::{self, Batch, Decode, Encode, Message, Object, Validate};
use mcp_adapters::{v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25};
use mcp_tests::workspace;
use serde::Serialize;
use serde_json::Value;

/// Returns the JSON code blocks of a document.
fn shown(document: &str) -> Vec<String> {
    let path = workspace("../shared/spec").join(document);
    let text = fs::read_to_string(&path).unwrap();
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in text.lines() {
        match (&mut block, line.trim_end()) {
            (None, fence) if fence.split(' ').next() == Some("```json") => block = Some(String::new()),
            (Some(_), "```") => blocks.extend(block.take()),
            (Some(block), line) => {
                // Some have comments, which JSON doesn't allow.
                block.push_str(line.split(" // ").next().unwrap_or_default());
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    assert!(!blocks.is_empty(), "{} shows no JSON", path.display());
    blocks
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// Asserts that JSON survives decoding and encoding, and that our writer and serde encode it alike.
fn survives<T: Decode + Encode + Serialize + Debug>(json: &str) -> T {
    let decoded: T = mcp_wire::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(serde_json::to_value(&decoded).unwrap(), value(json), "{decoded:?}");
    assert_eq!(
        mcp_wire::to_string(&decoded).unwrap(),
        serde_json::to_string(&decoded).unwrap()
    );
    decoded
}

fn is_valid(value: &impl Validate, json: &str) {
    value.validate().unwrap_or_else(|error| panic!("{error}: {json}"));
}

fn survives_validly<T: Decode + Serialize + Validate + Debug>(json: &str) {
    is_valid(&survives::<T>(json), json);
}

/// Asserts that a request or notification is valid.
fn is_valid_message<Q: Validate + Object + Debug, N: Validate + Object + Debug>(message: Message<Q, N>, json: &str) {
    match message {
        Message::Request(call) => is_valid(&call, json),
        Message::Notification(notice) => is_valid(&notice, json),
        other => panic!("{other:?}"),
    }
}

/// Returns the message of a revision with batches that isn't a batch.
fn not_a_batch<M: Debug>(batch: Batch<M>) -> M {
    match batch {
        Batch::One(message) => message,
        Batch::Many(_) => panic!("{batch:?}"),
    }
}

/// Asserts that a request or notification survives as a message of each side that can send it.
macro_rules! survives_as_message {
    ($revision:ident, $message:path, $json:expr) => {{
        let value = value($json);
        let method = $revision::METHODS.iter().find(|method| value["method"] == method.name);
        let direction = method.unwrap_or_else(|| panic!("no such method: {value}")).direction;
        if direction.from_client() {
            is_valid_message($message(survives::<$revision::ClientMessage>($json)), $json);
        }
        if direction.from_server() {
            is_valid_message($message(survives::<$revision::ServerMessage>($json)), $json);
        }
    }};
}

#[test]
#[ignore = "reads ../shared"]
fn the_example_messages_of_the_building_block_survive_in_every_revision() {
    let context = |json: &String| value(json).get("@context").is_some();
    let messages: Vec<String> = shown("003_7b0eb83a3874b59f.txt")
        .into_iter()
        .filter(|json| !context(json))
        .collect();
    for json in &messages {
        survives_as_message!(v2024_11_05, identity, json);
        survives_as_message!(v2025_03_26, not_a_batch, json);
        survives_as_message!(v2025_06_18, identity, json);
        survives_as_message!(v2025_11_25, identity, json);
    }
    assert_eq!(messages.len(), 20);
}

#[test]
#[ignore = "reads ../shared"]
fn the_examples_of_server_features_survive_decoding_and_encoding() {
    let mut asked: Option<Value> = None;
    for json in shown("002_909af65ede69e0a0.txt") {
        let shown = value(&json);
        let has = |member: &str| shown.get(member).is_some();
        if has("method") {
            survives_as_message!(v2025_06_18, identity, &json);
            // A response belongs to the last request above it; there can be notifications in between.
            asked = if has("id") { Some(shown) } else { asked };
        } else if has("jsonrpc") {
            match survives::<v2025_06_18::ServerMessage>(&json) {
                Message::Error(_) => assert!(has("error"), "{json}"),
                Message::Response(response) => {
                    let method = asked.as_ref().and_then(|asked| asked["method"].as_str()).unwrap();
                    let result = v2025_06_18::ServerResult::decode(method, &response.result);
                    let result = result.unwrap_or_else(|error| panic!("{error}: {json}"));
                    assert_eq!(serde_json::to_value(result.unwrap()).unwrap(), shown["result"]);
                }
                other => panic!("{other:?}"),
            }
        } else if let Some(capabilities) = shown.get("capabilities") {
            survives_validly::<v2025_06_18::ServerCapabilities>(&capabilities.to_string());
        } else if has("type") {
            survives_validly::<v2025_06_18::ContentBlock>(&json);
        } else if has("inputSchema") {
            survives_validly::<v2025_06_18::Tool>(&json);
        } else {
            survives_validly::<v2025_06_18::AnyResourceContents>(&json);
        }
    }
}
