//! Replay of the client of a recorded session.

use std::collections::HashSet;
use std::time::Duration;

use mcp_adapters::mcp_wire::{
    self, ErrorObject, ErrorResponse, Map, MessageHeader, RawJson, RequestId, Response, error_code,
};
use mcp_adapters::{PeerTypes, Revision, session_messages};
use mcp_runtime::CallError;
use mcp_runtime::transport::{Incoming, Outgoing, Purpose, Receiver, Sender, Transport, TransportError};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::difference::{Tokens, differences};
use super::script::{Exchanges, Script, Step};
use crate::error::CommandError;
use crate::message::{called, messages};
use crate::pointer::Pointer;
use crate::report::Report;
use crate::transcript::Session;

/// The case of messages that belong to no recorded request.
const STRAY: &str = "messages";
/// The maximum number of messages that wait until the player processes them.
const QUEUE: usize = 1024;
/// The time to wait for a request that the server sends while no request of the client is in flight.
const BY_ITSELF: Duration = Duration::from_secs(5);

type Received = Result<Incoming, TransportError>;

/// Replays the client of a session, and compares the server's messages.
pub async fn play(
    session: &Session,
    transport: impl Transport,
    ignored: &[Pointer],
    patience: Duration,
) -> Result<Report, CommandError> {
    let (sender, receiver) = transport.split();
    let (queue, inbox) = mpsc::channel(QUEUE);
    // Some servers don't read before the client has read from them.
    let reading = tokio::spawn(read(receiver, queue));
    let script = Script::new(session);
    let mut player = Player {
        exchanges: script.exchanges,
        sender: &sender,
        inbox,
        ignored,
        patience,
        report: Report::new(session.revision),
        tokens: Tokens::default(),
        begin: None,
        answered: HashSet::new(),
        in_flight: 0,
        gone: None,
    };
    player.report.session = Some(format!("session {}", session.number));
    let played = player.play(script.steps).await;
    let report = player.report;
    sender.close().await;
    reading.abort();
    played.map(|()| report)
}

async fn read(mut receiver: impl Receiver, queue: mpsc::Sender<Received>) {
    loop {
        let received = receiver.receive().await.and_then(|it| it.ok_or(TransportError::Closed));
        let is_over = received.is_err();
        if queue.send(received).await.is_err() || is_over {
            return;
        }
    }
}

struct Player<'p, S> {
    exchanges: Exchanges,
    sender: &'p S,
    inbox: mpsc::Receiver<Received>,
    ignored: &'p [Pointer],
    patience: Duration,
    report: Report,
    tokens: Tokens,
    /// The id of the request that starts the session.
    begin: Option<String>,
    /// The ids of the client's requests that have a response in this run.
    answered: HashSet<String>,
    /// The number of the client's requests that have no response yet.
    in_flight: usize,
    /// The error with which the connection ended.
    gone: Option<CallError>,
}

impl<S: Sender> Player<'_, S> {
    async fn play(&mut self, steps: Vec<Step>) -> Result<(), CommandError> {
        for step in steps {
            match step {
                Step::Send(json) => self.send(&json).await?,
                Step::Response(id) => {
                    let reason = self.wait(self.patience, |player| player.answered.contains(&id)).await?;
                    if let (Some(reason), Some(request)) = (reason, self.exchanges.requests.get(&id)) {
                        self.report.fail(&request.case, &reason);
                    }
                }
                Step::Answer(index) => {
                    if let Some(reason) = self.wait_for_question(index).await? {
                        let case = asked(&self.exchanges.server_requests[index].method);
                        self.report.fail(&case, &reason);
                    }
                }
            }
        }
        Ok(())
    }

    async fn send(&mut self, json: &[u8]) -> Result<(), CommandError> {
        let parts = messages(json).unwrap_or_default();
        let calls = parts.iter().filter_map(|(_, part)| called(part));
        self.in_flight += calls.filter(|(_, has_id)| *has_id).count();
        let header = MessageHeader::from_slice(json).ok();
        if let Some(header) = header.filter(|header| session_messages::requested_version::<Revision>(header).is_some())
        {
            self.begin = header.id().map(|id| text_of(&id));
        }
        let json = self.tokens.replace(json);
        let purpose = Purpose::Unsolicited;
        let sent = self.sender.send(Outgoing { json, purpose }).await;
        sent.or_else(|error| self.lose(error.into()))
    }

    /// Processes the server's messages until a condition is met. Returns the reason if it isn't met.
    async fn wait(
        &mut self,
        patience: Duration,
        happened: impl Fn(&Self) -> bool,
    ) -> Result<Option<String>, CommandError> {
        let mut timeout = std::pin::pin!(sleep(patience));
        while !happened(self) {
            if let Some(error) = &self.gone {
                return Ok(Some(format!("recorded, but now: {error}")));
            }
            let received = tokio::select! {
                biased;
                received = self.inbox.recv() => received,
                () = &mut timeout => return Ok(Some(format!("recorded, but not received within {patience:?}"))),
            };
            match received {
                Some(Ok(incoming)) => self.take(incoming).await?,
                Some(Err(error)) => self.lose(error.into())?,
                None => self.lose(CallError::Closed)?,
            }
        }
        Ok(None)
    }

    /// Waits for a recorded request of the server, which it rarely sends while no request of the client is in flight.
    async fn wait_for_question(&mut self, index: usize) -> Result<Option<String>, CommandError> {
        let is_asked = move |player: &Self| player.exchanges.server_requests[index].is_asked;
        let patience = self.patience;
        match self
            .wait(patience, move |player| is_asked(player) || player.in_flight == 0)
            .await?
        {
            None => self.wait(patience.min(BY_ITSELF), is_asked).await,
            reason => Ok(reason),
        }
    }

    /// Records the end of the connection. This is an error if the server has never sent anything, since there is
    /// nothing to compare.
    fn lose(&mut self, error: CallError) -> Result<(), CommandError> {
        if self.report.messages == 0 {
            return Err(error.into());
        }
        self.gone.get_or_insert(error);
        Ok(())
    }

    async fn take(&mut self, incoming: Incoming) -> Result<(), CommandError> {
        match incoming {
            Incoming::Message { json, .. } => self.take_message(&json).await,
            Incoming::Failed { id, error } => match error {
                CallError::Http(failure) if failure.response.is_some() => {
                    if let Ok(response) = mcp_wire::to_vec(&failure.response) {
                        self.take_message(&response).await;
                    }
                }
                error if self.report.messages == 0 => return Err(error.into()),
                error => {
                    let id = text_of(&id);
                    if let Some(request) = self.exchanges.requests.get(&id).filter(|it| it.response.is_some()) {
                        self.report.fail(&request.case, &error);
                    }
                    self.answered.insert(id);
                    self.in_flight = self.in_flight.saturating_sub(1);
                }
            },
            Incoming::Refused { error, .. } => self.report.fail(STRAY, &error.message),
            Incoming::Renewed => self.report.fail(STRAY, &"the server has lost the session"),
            Incoming::Closing => {}
        }
        Ok(())
    }

    async fn take_message(&mut self, json: &[u8]) {
        let parts = match messages(json) {
            Ok(parts) => parts,
            Err(error) => return self.report.fail(STRAY, &error),
        };
        for (_, message) in parts {
            self.report.messages += 1;
            match (called(&message), message.get("id")) {
                (Some((method, true)), Some(id)) => self.answer(&method, &id, &message).await,
                (Some(_), _) => {}
                (None, id) => self.compare_response(id.as_ref().map_or("null", RawJson::text), &message),
            }
        }
    }

    fn compare_response(&mut self, id: &str, response: &RawJson) {
        let Some(request) = self.exchanges.requests.get(id) else {
            return self
                .report
                .fail(STRAY, &format!("a response that matches no request, with the id {id}"));
        };
        if !self.answered.insert(id.to_owned()) {
            return self.report.fail(&request.case, &"a second response");
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.begin.as_deref() == Some(id)
            && let Some(result) = response.get("result")
            && let Some(agreed) = session_messages::negotiated_version(&result)
        {
            self.sender.negotiated(agreed);
        }
        // A request without a recorded response was cancelled, or stayed open until the end of the session.
        if let Some(recorded) = &request.response {
            let (case, recorded, now) = (request.case.clone(), outcome(recorded), outcome(response));
            self.compare(&case, &recorded, &now);
        }
    }

    fn compare(&mut self, case: &str, recorded: &Value, now: &Value) {
        self.report.begin(case);
        for finding in differences(recorded, now, self.ignored, &mut self.tokens) {
            self.report.add(case, finding);
        }
    }

    /// Responds to a request of the server as the recorded client did.
    async fn answer(&mut self, method: &str, id: &RawJson, request: &RawJson) {
        let now = outcome(request);
        let server_requests = self.exchanges.server_requests.iter().enumerate();
        let open: Vec<usize> = server_requests
            .filter(|(_, server_request)| server_request.method == method && !server_request.is_asked)
            .map(|(index, _)| index)
            .collect();
        let same = open
            .iter()
            .find(|index| outcome(&self.exchanges.server_requests[**index].message) == now);
        let answer = match same.or(open.first()) {
            Some(&index) => {
                let server_request = &mut self.exchanges.server_requests[index];
                server_request.is_asked = true;
                let (recorded, answer) = (outcome(&server_request.message), server_request.answer.clone());
                self.compare(&asked(method), &recorded, &now);
                answer.and_then(|answer| with_id(&answer, id))
            }
            None => self.answer_unrecorded(method, id),
        };
        let Some((answer, id)) = answer.zip(id.decode_as::<RequestId>().ok()) else {
            return;
        };
        let sent = self.sender.send(Outgoing {
            json: answer.text().as_bytes().to_vec(),
            purpose: Purpose::Response(vec![id]),
        });
        if let Err(error) = sent.await {
            self.report.fail(&asked(method), &error);
        }
    }

    /// The response to a request that the server didn't send in the recording.
    fn answer_unrecorded(&mut self, method: &str, id: &RawJson) -> Option<RawJson> {
        let id: RequestId = id.decode_as().ok()?;
        let revision = self.report.revision;
        if revision.lifecycle().ping == Some(method) {
            return RawJson::from_encode(&Response::new(id, session_messages::empty_result(revision, method))).ok();
        }
        let case = asked(method);
        self.report.fail(&case, &"the server didn't send this in the recording");
        let error = ErrorObject::new(error_code::METHOD_NOT_FOUND, "the recorded client got no such request");
        RawJson::from_encode(&ErrorResponse::new(Some(id), error)).ok()
    }
}

/// The case of requests of the server.
fn asked(method: &str) -> String {
    format!("{method}, from the server")
}

/// The part of a message that is compared: everything but its envelope.
fn outcome(message: &RawJson) -> Value {
    let mut value = serde_json::from_str(message.text()).unwrap_or_else(|_| Value::from(message.text()));
    if let Value::Object(members) = &mut value {
        members.remove("jsonrpc");
        members.remove("id");
    }
    value
}

/// A response with the id of another request.
fn with_id(response: &RawJson, id: &RawJson) -> Option<RawJson> {
    let mut members: Map<RawJson> = response.decode_as().ok()?;
    members.insert("id", id.clone());
    RawJson::from_encode(&members).ok()
}

fn text_of(id: &RequestId) -> String {
    serde_json::to_string(id).unwrap_or_default()
}
