//! A mock server that responds from a recorded session.

use std::io::{BufRead, Read, Write};

use mcp_adapters::{Lifecycle, PeerTypes};
use mcp_runtime::mcp_wire::error_code;
use mcp_runtime::transport::MessageDirection;
use serde_json::{Value, json};

use crate::args::MockArgs;
use crate::error::{CommandError, Summary};
use crate::message::messages;
use crate::stream::VALUE_BYTES;
use crate::transcript::{self, Session};

/// Serves the client on standard input and output until it ends.
pub fn serve(args: &MockArgs, mut input: impl BufRead, mut output: impl Write) -> Result<Summary, CommandError> {
    let sessions = transcript::read(&args.file)?;
    let is_meant = |session: &&Session| args.session.is_none_or(|number| session.number == number);
    let session = sessions.iter().find(is_meant);
    let session = session.ok_or_else(|| transcript::no_such_session(&args.file, &sessions))?;
    let mut recorded = Recording::new(session);
    let mut line = Vec::new();
    // A line over the limit is refused in parts.
    while input.by_ref().take(VALUE_BYTES as u64).read_until(b'\n', &mut line)? > 0 {
        let answers = match serde_json::from_slice::<Value>(&line) {
            Ok(message) if message["method"].is_string() && message.get("id").is_some() => recorded.answer(&message),
            Ok(_) => Vec::new(),
            Err(_) => vec![refusal(&Value::Null, error_code::PARSE_ERROR, "it isn't JSON")],
        };
        for answer in answers {
            writeln!(output, "{answer}")?;
        }
        output.flush()?;
        line.clear();
    }
    Ok(Summary::AllSucceeded)
}

/// The requests of a recorded client, with the server's messages until each response.
struct Recording {
    lifecycle: &'static Lifecycle,
    exchanges: Vec<Exchange>,
}

struct Exchange {
    method: String,
    params: Value,
    id: Value,
    token: Value,
    /// The notifications and requests of the server, and its response as the last item.
    answers: Vec<Value>,
    is_used: bool,
}

impl Recording {
    fn new(session: &Session) -> Self {
        let lifecycle = session.revision.lifecycle();
        let mut exchanges: Vec<Exchange> = Vec::new();
        for (way, json) in &session.messages {
            let parts = messages(json).into_iter().flatten();
            let parsed = parts.filter_map(|(_, part)| part.parse::<Value>().ok());
            // A peer can also have sent other JSON than messages.
            for message in parsed.filter(Value::is_object) {
                match way {
                    MessageDirection::Sent if message["method"].is_string() && message.get("id").is_some() => {
                        exchanges.push(Exchange::of(&message, lifecycle));
                    }
                    MessageDirection::Sent => {}
                    MessageDirection::Received => received(&mut exchanges, message),
                }
            }
        }
        exchanges.retain(Exchange::is_answered);
        Self { lifecycle, exchanges }
    }

    /// The recorded messages for a request: those of the first equal request that wasn't used yet, or else of the last
    /// one.
    fn answer(&mut self, request: &Value) -> Vec<Value> {
        let (method, params) = (
            request["method"].as_str().unwrap_or_default(),
            compared(request, self.lifecycle),
        );
        let is_same = |exchange: &Exchange| exchange.method == method && exchange.params == params;
        let unused = self
            .exchanges
            .iter()
            .position(|exchange| is_same(exchange) && !exchange.is_used);
        let found = unused.or_else(|| self.exchanges.iter().rposition(is_same));
        let Some(exchange) = found.and_then(|found| self.exchanges.get_mut(found)) else {
            let reason = match self.exchanges.iter().any(|exchange| exchange.method == method) {
                true => format!("{method} wasn't recorded with these parameters"),
                false => format!("{method} wasn't recorded"),
            };
            return vec![refusal(&request["id"], error_code::METHOD_NOT_FOUND, &reason)];
        };
        exchange.is_used = true;
        exchange.answers_to(request, self.lifecycle.progress)
    }
}

/// Assigns a message of the server to a request: a response by its id, and anything else to the last request without a
/// response.
fn received(exchanges: &mut [Exchange], message: Value) {
    let is_response = !message["method"].is_string();
    let mut waiting = exchanges.iter_mut().rev().filter(|exchange| !exchange.is_answered());
    let exchange = waiting.find(|exchange| !is_response || exchange.id == message["id"]);
    if let Some(exchange) = exchange {
        exchange.answers.push(message);
    }
}

impl Exchange {
    fn of(request: &Value, lifecycle: &Lifecycle) -> Self {
        Self {
            method: request["method"].as_str().unwrap_or_default().to_owned(),
            params: compared(request, lifecycle),
            id: request["id"].clone(),
            token: request["params"]["_meta"]["progressToken"].clone(),
            answers: Vec::new(),
            is_used: false,
        }
    }

    fn is_answered(&self) -> bool {
        self.answers.last().is_some_and(|last| !last["method"].is_string())
    }

    /// The recorded messages, with the id and the progress token of this request.
    fn answers_to(&self, request: &Value, progress: Option<&str>) -> Vec<Value> {
        let token = &request["params"]["_meta"]["progressToken"];
        let answers = self.answers.iter().cloned().map(|mut answer| {
            if !answer["method"].is_string() {
                answer["id"] = request["id"].clone();
            } else if !self.token.is_null() && answer["params"]["progressToken"] == self.token {
                answer["params"]["progressToken"] = token.clone();
            }
            answer
        });
        let is_wanted =
            |answer: &Value| !token.is_null() || progress.is_none_or(|progress| answer["method"] != progress);
        answers.filter(is_wanted).collect()
    }
}

/// The parameters that are compared between requests: without metadata, and none for the handshake.
fn compared(request: &Value, lifecycle: &Lifecycle) -> Value {
    let mut params = request["params"].clone();
    if let Some(params) = params.as_object_mut() {
        params.remove("_meta");
    }
    match params {
        _ if request["method"].as_str() == lifecycle.begin => json!({}),
        Value::Null => json!({}),
        params => params,
    }
}

fn refusal(id: &Value, code: i64, reason: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": reason}})
}
