//! Rounds of a request that requires input from the client: the server's input requests in the result, and the client's
//! input responses in the repeated request.
//!
//! A server can't send requests to a stateless client. Instead, a result contains the input requests, the client
//! repeats its request with the responses, and the handler runs again from its start. The earlier input requests and
//! responses are in a state that the client keeps for the server.

mod round;
mod round_requests;
mod sealing;
mod state;
mod used_states;

pub use mcp_adapters::handlers::retry_input;

pub use self::round::{Refusal, Round};
pub use self::round_requests::RoundRequests;
pub use self::sealing::Sealing;
pub use self::state::{Binding, RoundState};
pub use self::used_states::StateStore;

#[cfg(test)]
mod tests {
    use mcp_adapters::mcp_wire::{Direction, from_str};
    use mcp_adapters::{Revision, hub};
    use serde_json::json;

    use super::*;

    #[test]
    fn retry_input_exists_exactly_for_requests_whose_result_can_require_input() {
        let mut asking = 0;
        for method in Revision::HUB.methods() {
            if method.direction != Direction::ClientToServer || method.results.is_empty() {
                continue;
            }
            // The union of the parameters that all repeatable requests require.
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": Revision::HUB.as_str(),
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let params = json!({"_meta": meta, "name": "x", "uri": "x"});
            let request = json!({"method": method.name, "params": params}).to_string();
            let Ok(mut request) = from_str::<hub::ClientRequest>(&request) else {
                continue;
            };
            let asks = method
                .results
                .iter()
                .any(|result| result.ends_with("/InputRequiredResult"));
            assert_eq!(retry_input(&mut request).is_some(), asks, "{}", method.name);
            asking += usize::from(asks);
        }
        assert!(asking > 0);
    }
}
