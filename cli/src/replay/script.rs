//! The actions of the client of a recorded session, and the messages of its server.

use std::collections::HashMap;

use mcp_adapters::PeerTypes;
use mcp_adapters::mcp_wire::{self, RawJson};
use mcp_runtime::transport::MessageDirection;

use crate::message::{called, case_of, messages, split_at_session};
use crate::transcript::Session;

/// The actions of the client of a session, and the requests of both sides.
#[derive(Default)]
pub struct Script {
    pub steps: Vec<Step>,
    pub exchanges: Exchanges,
}

/// The requests of both sides, with their responses.
#[derive(Default)]
pub struct Exchanges {
    /// The requests of the client, by the JSON text of their ids.
    pub requests: HashMap<String, Request>,
    pub server_requests: Vec<ServerRequest>,
}

/// An action of the client.
pub enum Step {
    /// The client sent this message.
    Send(Vec<u8>),
    /// The client received the response to the request with this id.
    Response(String),
    /// The client responded to this request of the server.
    Answer(usize),
}

/// A request of the client.
pub struct Request {
    /// The name of the case in reports.
    pub case: String,
    pub response: Option<RawJson>,
    /// Whether the request stays open until the session ends.
    lasts: bool,
}

/// A request of the server.
pub struct ServerRequest {
    pub method: String,
    pub message: RawJson,
    /// The response of the client.
    pub answer: Option<RawJson>,
    /// Whether the server has sent it again in this run.
    pub is_asked: bool,
}

impl Script {
    pub fn new(session: &Session) -> Self {
        let mut script = Self::default();
        let listen = session.revision.lifecycle().listen;
        for (way, json) in split_at_session(session.revision, &session.messages).1 {
            // Every line of a transcript is JSON, but not necessarily a message.
            let parts = messages(json).into_iter().flatten().map(|(_, part)| part);
            match way {
                MessageDirection::Sent => script.sent(json, parts, listen),
                MessageDirection::Received => parts.for_each(|part| script.received(part)),
            }
        }
        script
    }

    fn sent(&mut self, json: &[u8], parts: impl Iterator<Item = RawJson>, listen: Option<&str>) {
        let (mut calls, mut answered) = (Vec::new(), false);
        for part in parts {
            match (called(&part), part.get("id")) {
                (Some((method, true)), Some(id)) => {
                    let request = Request {
                        case: format!("{} (id {})", case_of(&method, &part), id.text()),
                        response: None,
                        lasts: listen == Some(&*method),
                    };
                    self.exchanges.requests.insert(id.text().to_owned(), request);
                    calls.push(part);
                }
                (Some(_), _) => calls.push(part),
                (None, Some(id)) => {
                    answered = true;
                    self.answered(&id, part);
                }
                (None, None) => {}
            }
        }
        match answered {
            false => self.steps.push(Step::Send(json.to_vec())),
            // A batch is sent without its responses.
            true if !calls.is_empty() => {
                self.steps.extend(mcp_wire::to_vec(&calls).map(Step::Send));
            }
            true => {}
        }
    }

    fn answered(&mut self, id: &RawJson, answer: RawJson) {
        let is_it = |server_request: &ServerRequest| {
            server_request.answer.is_none()
                && server_request
                    .message
                    .get("id")
                    .is_some_and(|known| known.text() == id.text())
        };
        if let Some(index) = self.exchanges.server_requests.iter().position(is_it) {
            self.exchanges.server_requests[index].answer = Some(answer);
            self.steps.push(Step::Answer(index));
        }
    }

    fn received(&mut self, part: RawJson) {
        match (called(&part), part.get("id")) {
            (Some((method, true)), _) => self.exchanges.server_requests.push(ServerRequest {
                method,
                message: part,
                answer: None,
                is_asked: false,
            }),
            (None, Some(id)) => {
                let request = self.exchanges.requests.get_mut(id.text());
                if let Some(request) = request.filter(|request| request.response.is_none() && !request.lasts) {
                    request.response = Some(part);
                    self.steps.push(Step::Response(id.text().to_owned()));
                }
            }
            _ => {}
        }
    }
}
