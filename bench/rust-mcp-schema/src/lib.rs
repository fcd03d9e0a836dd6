//! rust-mcp-schema's message types of 2026-07-28, compared with `serde_json::Value`.

use mcp_bench_cases::table::{Make, Row};
use mcp_bench_cases::{Case, Failure, Subject, pair};
use rust_mcp_schema::schema_utils::{ClientJsonrpcRequest, ClientMessage, ServerMessage};
use rust_mcp_schema::{ClientRequest, ServerResult};
use serde_json::Value;

/// Returns the cases of 2026-07-28, as `Value` and as this library's types.
#[must_use]
pub fn rows() -> Vec<Row> {
    let row = |case: Case, own: fn(String) -> Result<Box<dyn Subject>, Failure>| {
        let value: Make = Box::new(move || pair(case.json(), |json| Ok(serde_json::from_slice::<Value>(json)?)));
        let own: Make = Box::new(move || own(case.json()));
        Row {
            case,
            subjects: vec![("value", value), ("rust-mcp-schema", own)],
        }
    };
    vec![
        row(Case::LatestCall, |json| pair(json, call)),
        row(Case::LatestTools, |json| pair(json, tools)),
        row(Case::LatestBlocks, |json| pair(json, blocks)),
    ]
}

fn call(json: &[u8]) -> Result<ClientMessage, Failure> {
    match serde_json::from_slice(json)? {
        message @ ClientMessage::Request(ClientJsonrpcRequest::Standard(ClientRequest::CallToolRequest(_))) => {
            Ok(message)
        }
        _ => Err("not decoded as a tool call".into()),
    }
}

fn tools(json: &[u8]) -> Result<ServerMessage, Failure> {
    response(json, |result| matches!(result, ServerResult::ListToolsResult(_)))
}

fn blocks(json: &[u8]) -> Result<ServerMessage, Failure> {
    response(json, |result| matches!(result, ServerResult::CallToolResult(_)))
}

/// Decodes a response, and checks that its result has the expected type.
fn response(json: &[u8], is_it: impl Fn(&ServerResult) -> bool) -> Result<ServerMessage, Failure> {
    match serde_json::from_slice(json)? {
        ServerMessage::Response(response) if is_it(&response.result) => Ok(ServerMessage::Response(response)),
        _ => Err("not decoded as the expected type of result".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_survives_decoding_and_encoding() {
        for row in rows() {
            let expected: Value = serde_json::from_str(&row.case.json()).expect("the case is JSON");
            for (library, make) in &row.subjects {
                let subject = make().expect("the case can be decoded");
                let written = subject.encode().expect("a decoded value can be encoded");
                let written: Value = serde_json::from_slice(&written).expect("it is JSON");
                assert!(written == expected, "{library} of {}", row.case.name());
            }
        }
    }
}
