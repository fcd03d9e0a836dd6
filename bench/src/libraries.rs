//! The libraries that are compared.

use mcp_bench_cases::table::{Make, Row};
use mcp_bench_cases::{Case, Failure, Subject, pair, pair_written_by};
use mcp_types_2025_11_25 as ours;
use mcp_types_2026_07_28 as latest;
use mcp_wire::Decode;
use rmcp::model as sdk;
use rust_mcp_schema::schema_utils as peer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use sonic_rs::OwnedLazyValue;

use crate::handwritten;

/// A library, and a way to represent messages with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// `serde_json::Value`, the reference for the others.
    Value,
    /// Types written by hand, which parse open JSON.
    HandParsed,
    /// Types written by hand, which keep open JSON as text, like ours: an upper bound for our speed.
    Hand,
    /// The same types decoded and encoded by sonic-rs, with open JSON as its `OwnedLazyValue`.
    SonicRs,
    /// Our types, if the receiver knows the type of the message: `Call<CallToolRequest>`, `Response<ListToolsResult>`.
    Typed,
    /// Our types, if the receiver doesn't: `ClientMessage`, and a response whose type is known once its id has been
    /// read.
    Message,
    /// rust-mcp-schema's message types of 2025-11-25. Those of 2026-07-28 can't be built together with them; a separate
    /// crate has them, `mcp-bench-rust-mcp-schema`.
    RustMcpSchema,
    /// rmcp's message types.
    Rmcp,
}

impl Library {
    /// Every library, `Value` first.
    pub const ALL: [Self; 8] = [
        Self::Value,
        Self::HandParsed,
        Self::Hand,
        Self::SonicRs,
        Self::Typed,
        Self::Message,
        Self::RustMcpSchema,
        Self::Rmcp,
    ];

    /// The name by which tables and the command line know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::HandParsed => "hand-parsed",
            Self::Hand => "hand",
            Self::SonicRs => "sonic-rs",
            Self::Typed => "typed",
            Self::Message => "message",
            Self::RustMcpSchema => "rust-mcp-schema",
            Self::Rmcp => "rmcp",
        }
    }

    /// Returns the libraries that support a case. The handwritten types and the rust-mcp-schema types of this crate
    /// don't support 2026-07-28.
    #[must_use]
    pub fn of(case: Case) -> &'static [Self] {
        match case {
            Case::Call | Case::Tools | Case::Blocks => &Self::ALL,
            Case::LatestCall | Case::LatestTools | Case::LatestBlocks => {
                &[Self::Value, Self::Typed, Self::Message, Self::Rmcp]
            }
        }
    }
}

/// Returns every case with all libraries that support it.
#[must_use]
pub fn rows() -> Vec<Row> {
    let made = |case, library: Library| (library.name(), Box::new(move || subject(case, library)) as Make);
    let row = |case| Row {
        case,
        subjects: Library::of(case).iter().map(|library| made(case, *library)).collect(),
    };
    Case::ALL.into_iter().map(row).collect()
}

/// Decodes `case` with `library`.
///
/// # Errors
/// If the library has no types for it, can't decode it, or decodes it as another type.
pub fn subject(case: Case, library: Library) -> Result<Box<dyn Subject>, Failure> {
    let json = case.json();
    match (library, case) {
        (Library::Value, _) => pair(json, by_serde::<Value>),
        (Library::HandParsed, _) => by_hand::<Value>(case, json),
        (Library::Hand, _) => by_hand::<Box<RawValue>>(case, json),
        (Library::SonicRs, _) => by_sonic(case, json),
        (Library::Typed, Case::Call) => own_pair(json, typed::<mcp_wire::Call<ours::CallToolRequest>>),
        (Library::Typed, Case::Tools) => own_pair(json, typed::<mcp_wire::Response<ours::ListToolsResult>>),
        (Library::Typed, Case::Blocks) => own_pair(json, typed::<mcp_wire::Response<ours::CallToolResult>>),
        (Library::Typed, Case::LatestCall) => own_pair(json, typed::<mcp_wire::Call<latest::CallToolRequest>>),
        (Library::Typed, Case::LatestTools) => own_pair(json, typed::<mcp_wire::Response<latest::ListToolsResult>>),
        (Library::Typed, Case::LatestBlocks) => own_pair(json, typed::<mcp_wire::Response<latest::CallToolResult>>),
        (Library::Message, Case::LatestCall) => own_pair(json, typed::<latest::ClientMessage>),
        (Library::Message, Case::LatestTools) => own_pair(json, response::<latest::ListToolsResult>),
        (Library::Message, Case::LatestBlocks) => own_pair(json, response::<latest::CallToolResult>),
        (Library::Message, Case::Call) => own_pair(json, typed::<ours::ClientMessage>),
        (Library::Message, Case::Tools) => own_pair(json, response::<ours::ListToolsResult>),
        (Library::Message, Case::Blocks) => own_pair(json, response::<ours::CallToolResult>),
        (Library::RustMcpSchema, Case::Call) => pair(json, peer_call),
        (Library::RustMcpSchema, Case::Tools) => pair(json, peer_tools),
        (Library::RustMcpSchema, Case::Blocks) => pair(json, peer_blocks),
        (Library::RustMcpSchema, _) => Err("its types of 2026-07-28 are not built here".into()),
        (Library::Rmcp, Case::Call | Case::LatestCall) => pair(json, sdk_call),
        (Library::Rmcp, Case::Tools | Case::LatestTools) => pair(json, sdk_tools),
        (Library::Rmcp, Case::Blocks | Case::LatestBlocks) => pair(json, sdk_blocks),
    }
}

/// Makes a subject of our types, which our writer encodes.
fn own_pair<T: mcp_wire::Encode + 'static>(
    json: String,
    decode: fn(&[u8]) -> Result<T, Failure>,
) -> Result<Box<dyn Subject>, Failure> {
    pair_written_by(|value| Ok(mcp_wire::to_vec(value)?), json, decode)
}

fn by_serde<T: DeserializeOwned>(json: &[u8]) -> Result<T, Failure> {
    Ok(serde_json::from_slice(json)?)
}

fn by_hand<J: Serialize + DeserializeOwned + 'static>(case: Case, json: String) -> Result<Box<dyn Subject>, Failure> {
    use handwritten::{Blocks, Call, Response, Tools};
    match case {
        Case::Call => pair(json, by_serde::<Call<J>>),
        Case::Tools => pair(json, by_serde::<Response<Tools<J>>>),
        Case::Blocks => pair(json, by_serde::<Response<Blocks<J>>>),
        _ => Err("there are no handwritten types of 2026-07-28".into()),
    }
}

fn by_sonic(case: Case, json: String) -> Result<Box<dyn Subject>, Failure> {
    use handwritten::{Blocks, Call, Response, Tools};
    fn both<T: Serialize + DeserializeOwned + 'static>(json: String) -> Result<Box<dyn Subject>, Failure> {
        pair_written_by(
            |value: &T| Ok(sonic_rs::to_vec(value)?),
            json,
            |json| Ok(sonic_rs::from_slice(json)?),
        )
    }
    match case {
        Case::Call => both::<Call<OwnedLazyValue>>(json),
        Case::Tools => both::<Response<Tools<OwnedLazyValue>>>(json),
        Case::Blocks => both::<Response<Blocks<OwnedLazyValue>>>(json),
        _ => Err("there are no handwritten types of 2026-07-28".into()),
    }
}

fn typed<T: Decode>(json: &[u8]) -> Result<T, Failure> {
    Ok(mcp_wire::from_slice(json)?)
}

/// Decodes a response like a session, which knows the type from the pending call. A session also converts it.
fn response<T: Decode>(json: &[u8]) -> Result<mcp_wire::Response<T>, Failure> {
    let response = mcp_wire::Response::read_in_place(json, |_, result| result.decode().ok());
    response.ok_or_else(|| "no response".into())
}

/// Defines a function that decodes with serde and checks that the value is the right variant.
macro_rules! by_serde_as {
    ($name:ident, $message:ty, $variant:pat) => {
        fn $name(json: &[u8]) -> Result<$message, Failure> {
            match serde_json::from_slice(json)? {
                message @ $variant => Ok(message),
                _ => Err(concat!("not decoded as ", stringify!($variant)).into()),
            }
        }
    };
}

by_serde_as!(
    peer_call,
    peer::ClientMessage,
    peer::ClientMessage::Request(peer::ClientJsonrpcRequest::CallToolRequest(_))
);
by_serde_as!(
    peer_tools,
    peer::ServerMessage,
    peer::ServerMessage::Response(peer::ServerJsonrpcResponse {
        result: peer::ResultFromServer::ListToolsResult(_),
        ..
    })
);
by_serde_as!(
    peer_blocks,
    peer::ServerMessage,
    peer::ServerMessage::Response(peer::ServerJsonrpcResponse {
        result: peer::ResultFromServer::CallToolResult(_),
        ..
    })
);
by_serde_as!(
    sdk_call,
    sdk::ClientJsonRpcMessage,
    sdk::JsonRpcMessage::Request(sdk::JsonRpcRequest {
        request: sdk::ClientRequest::CallToolRequest(_),
        ..
    })
);
by_serde_as!(
    sdk_tools,
    sdk::ServerJsonRpcMessage,
    sdk::JsonRpcMessage::Response(sdk::JsonRpcResponse {
        result: sdk::ServerResult::ListToolsResult(_),
        ..
    })
);
by_serde_as!(
    sdk_blocks,
    sdk::ServerJsonRpcMessage,
    sdk::JsonRpcMessage::Response(sdk::JsonRpcResponse {
        result: sdk::ServerResult::CallToolResult(_),
        ..
    })
);

#[cfg(test)]
mod tests {
    use super::*;

    /// The library that drops members of the tools' schemas.
    const LOSES: (Library, Case) = (Library::RustMcpSchema, Case::Tools);

    #[test]
    fn every_library_decodes_every_case_and_all_but_one_encode_it_without_loss() {
        for case in Case::ALL {
            let expected: Value = serde_json::from_str(&case.json()).expect("the case is JSON");
            for &library in Library::of(case) {
                let name = format!("{} of {}", library.name(), case.name());
                let subject = subject(case, library).expect(&name);
                let written = subject.encode().expect(&name);
                let written: Value = serde_json::from_slice(&written).expect(&name);
                let lost = written != expected;
                assert_eq!(lost, (library, case) == LOSES, "{name}");
            }
        }
    }
}
