//! Rounds: what a server asks of a client in the result of a request, and what the request brings when it is repeated.
//!
//! A client whose requests are stateless isn't called by its server. A result asks the questions, the client repeats the request
//! with the answers, and the handler runs again from its start. What it asked before, and what was answered, is in a state that
//! the client keeps for the server.

mod questions;
mod round;
mod sealing;
mod state;
mod used_states;

pub use mcp_adapters::handlers::retry_input;

pub use self::questions::Questions;
pub use self::round::{Refusal, Round};
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
    fn the_requests_that_bring_something_are_those_whose_results_may_ask() {
        let mut asking = 0;
        for method in Revision::HUB.methods() {
            if method.direction != Direction::ClientToServer || method.results.is_empty() {
                continue;
            }
            // What the requests that may be repeated require, all at once.
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
