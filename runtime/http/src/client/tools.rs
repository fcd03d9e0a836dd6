//! The headers that repeat arguments of tools, as the server's lists of tools declare them.

use std::collections::HashMap;

use http::header::{HeaderName, HeaderValue};
use mcp_adapters::MirroredArguments;
use mcp_adapters::mcp_wire::{MessageHeader, RawJson};
use mcp_runtime_core::mirrors::{ArgumentHeader, argument_headers, encode};
use serde_json::Value;

/// The maximum bytes of the declarations that are kept. Calls of tools beyond this limit have no such headers.
const MAX_BYTES: usize = 4 << 20;

/// The headers that repeat arguments, by the name of the tool.
#[derive(Debug, Default)]
pub(super) struct KnownTools {
    headers: HashMap<String, Vec<ArgumentHeader>>,
    bytes: usize,
}

impl KnownTools {
    /// Learns the declared headers from the response to a request for a list, and removes the tools with invalid
    /// declarations from it.
    pub(super) fn take(&mut self, rule: &MirroredArguments, response: Vec<u8>) -> Vec<u8> {
        self.filtered(rule, &response).unwrap_or(response)
    }

    /// The response without the tools with invalid declarations; `None` if there are none, or if it isn't a list.
    fn filtered(&mut self, rule: &MirroredArguments, response: &[u8]) -> Option<Vec<u8>> {
        let header = MessageHeader::from_slice(response).ok()?;
        let items = header.result()?.get(&[rule.list.items]).ok()??;
        let tools: Vec<RawJson> = items.decode_as().ok()?;
        let all = tools.len();
        let right: Vec<String> = tools
            .iter()
            .filter(|tool| self.learn(rule, tool))
            .map(|tool| tool.text().to_owned())
            .collect();
        if right.len() == all {
            return None;
        }
        let mut text = header.message().text().to_owned();
        let place = items.offset()..items.offset() + items.text().len();
        text.replace_range(place, &format!("[{}]", right.join(",")));
        Some(text.into_bytes())
    }

    /// Learns the declared headers of one tool; `false` if the declaration is invalid.
    fn learn(&mut self, rule: &MirroredArguments, tool: &RawJson) -> bool {
        let name: Option<String> = tool.get(rule.list.name).and_then(|name| name.parse().ok());
        let schema = tool.get(rule.list.schema);
        let (Some(name), Some(schema)) = (name, schema) else {
            // The session reports the invalid tool.
            return true;
        };
        if let Some(earlier) = self.headers.remove(&name) {
            self.bytes -= bytes(&name, &earlier);
        }
        if !schema.text().contains(rule.keyword) {
            return true;
        }
        let schema: Value = schema.parse().unwrap_or_default();
        match argument_headers(rule, &schema) {
            Ok(headers) if headers.is_empty() => true,
            Ok(headers) => {
                self.remember(name, headers);
                true
            }
            Err(why) => {
                tracing::warn!(tool = name, why, "a tool with invalid headers is removed from the list");
                false
            }
        }
    }

    fn remember(&mut self, name: String, headers: Vec<ArgumentHeader>) {
        let more = bytes(&name, &headers);
        if self.bytes + more > MAX_BYTES {
            tracing::warn!(
                tool = name,
                "the server has too many tools whose arguments are repeated in headers"
            );
            return;
        }
        self.bytes += more;
        self.headers.insert(name, headers);
    }

    /// The headers that repeat the arguments of a call.
    pub(super) fn headers(&self, rule: &MirroredArguments, call: &MessageHeader<'_>) -> Vec<(HeaderName, HeaderValue)> {
        let found = || {
            let param = |name| call.param(&[name]).ok().flatten();
            let is_call = call.method().is_some_and(|method| method == rule.call.method);
            let name = param(rule.call.name).filter(|_| is_call)?.string().ok()?;
            let headers = self.headers.get(name.as_ref())?;
            let arguments: Value = param(rule.call.arguments)?.decode_as::<RawJson>().ok()?.parse().ok()?;
            let headers = headers.iter().filter_map(|header| {
                let text = header.text(&arguments)?;
                Some((header.name().clone(), encode(&text)))
            });
            Some(headers.collect())
        };
        found().unwrap_or_default()
    }
}

/// The approximate memory of a tool's headers, in bytes.
fn bytes(name: &str, headers: &[ArgumentHeader]) -> usize {
    name.len() + 64 + headers.iter().map(ArgumentHeader::bytes).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use mcp_adapters::Revision;
    use serde_json::json;

    use super::*;

    fn rule() -> MirroredArguments {
        let mut rules = Revision::all().filter_map(|revision| revision.facts().mirrors.arguments);
        rules.next_back().expect("a revision has one")
    }

    fn list(tools: &Value) -> Vec<u8> {
        let response = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "nextCursor": "1.50"}});
        response.to_string().into_bytes()
    }

    fn tool(name: &str, ty: &str) -> Value {
        json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": {"type": ty, "x-mcp-header": "A"}}}})
    }

    #[test]
    fn tools_with_invalid_headers_are_removed_and_the_others_unchanged() {
        let mut known = KnownTools::default();
        let right = list(&json!([tool("right", "string")]));
        assert_eq!(known.take(&rule(), right.clone()), right);
        let all = list(&json!([tool("wrong", "number"), tool("right", "string")]));
        assert_eq!(known.take(&rule(), all), right);
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "right", "arguments": {"a": "ü"}}});
        let call = call.to_string();
        let call = MessageHeader::from_slice(call.as_bytes()).expect("a call");
        let headers = known.headers(&rule(), &call);
        assert_eq!(headers.len(), 1);
        assert_eq!(headers[0].1, "=?base64?w7w=?=");
        known.take(&rule(), list(&json!([{"name": "right", "inputSchema": {}}])));
        assert!(known.headers(&rule(), &call).is_empty(), "the latest list counts");
        assert_eq!(known.bytes, 0);
    }

    #[test]
    fn the_memory_for_declared_headers_is_bounded() {
        let mut known = KnownTools::default();
        for round in 0..6 {
            let name = format!("{round}{}", "x".repeat(1 << 20));
            known.take(&rule(), list(&json!([tool(&name, "string")])));
        }
        assert!(
            known.bytes <= MAX_BYTES && known.headers.len() == 3,
            "{}",
            known.headers.len()
        );
    }
}
